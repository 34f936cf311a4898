"""Patches between two trees as git writes them, with the options that Siding has."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from siding.looks.hunks import Patch, patch_of
from siding.record.snapshots.patches import _PATCH

Tree = Mapping[str, bytes | tuple[bytes, int] | None]  # a file's content and mode


class Trees:
    """A repository in which trees are compared."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._git("init", "-q")

    def _git(self, *words: str) -> bytes:
        return subprocess.run(
            ["git", "-c", "core.autocrlf=false", *words],
            cwd=self._root,
            check=True,
            capture_output=True,
        ).stdout

    def _tree(self, files: Tree) -> str:
        for path in sorted(self._root.rglob("*"), reverse=True):
            if ".git" not in path.relative_to(self._root).parts:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for name, what in files.items():
            content, mode = what if isinstance(what, tuple) else (what or b"", 0o644)
            path = self._root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode)
        self._git("add", "-A")
        return self._git("write-tree").decode().strip()

    def raw(self, before: Tree, after: Tree) -> bytes:
        return self._git(*_PATCH, self._tree(before), self._tree(after))

    def patch(self, before: Tree, after: Tree, *, base: str = "base") -> Patch:
        return patch_of(base, self.raw(before, after).splitlines(keepends=True))
