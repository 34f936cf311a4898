"""Copies of a case directory, such that the product takes them for the original."""

import json
import os
import shutil
import sys
from pathlib import Path


def copy_tree(source: Path, target: Path) -> None:
    """A copy with modes, times and links; shares blocks where the file system can."""
    reflink = ["--reflink=auto"] if sys.platform == "linux" else []
    argv = ["cp", "-a", *reflink, "--", str(source), str(target)]
    pid = os.posix_spawnp("cp", argv, os.environ)
    if os.waitpid(pid, 0)[1]:
        raise OSError(f"cannot copy {str(source)!r} to {str(target)!r}")


def remove_tree(path: Path) -> None:
    """Removes what tests made, however it was left (no permissions, fifos, a file)."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            for folder, _, _ in os.walk(path):
                os.chmod(folder, 0o700)
            shutil.rmtree(path)


def adopt(case: Path, home: str = "home") -> None:
    """Writes the device and inode numbers of the copied workspaces into their registries.

    The product keeps a workspace's identity, so as not to work in another directory of that name.
    A registry that cannot be read is part of the case and stays.
    """
    for registry in case.glob(f"{home}/projects/*/worktrees.json"):
        try:
            before = registry.read_bytes()
            data = json.loads(before)
            for row in data["worktrees"]:
                moved = registry.parent / "workspaces" / Path(row["path"]).name  # by the project's
                path = row["path"] if os.path.isdir(row["path"]) else moved
                if row.get("inode") and os.path.isdir(path):
                    found = os.lstat(path)
                    row.update(device=found.st_dev, inode=found.st_ino)
        except (OSError, ValueError, LookupError, TypeError):
            continue
        after = json.dumps(data, indent=2, ensure_ascii=False).encode() + b"\n"
        if after != before:
            registry.write_bytes(after)
    _adopt_pools(case, home)


def _adopt_pools(case: Path, home: str) -> None:
    """Does the same for the worktrees of forks: each has a document, and its fork another one."""
    for forks in case.glob(f"{home}/projects/*/forks"):
        documents = [*forks.glob("free/*.json"), *forks.glob("used/*.json")]
        for path in (*documents, *forks.glob("tasks/*/workspace.json")):
            data = json.loads(path.read_bytes())
            root = data.get("path") or forks / "workspaces" / data["name"]
            if os.path.isdir(root):
                found = os.lstat(root)
                data.update(device=found.st_dev, inode=found.st_ino)
                path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
