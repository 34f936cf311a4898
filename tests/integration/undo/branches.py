"""The person's side in memory: a branch, the index and the files of the checkout that has it."""

import os
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from sandbox import Sandbox

from .desk import Tree, on_disk

_KINDS = {b"100644": "file", b"100755": "executable", b"120000": "link"}
HERS = b"person/"  # no agent writes here: whatever is applied, this is as she left it


class Applied(NamedTuple):
    """An apply that stands, or stood: the branch and its tree before and after it.

    Without a commit (`files_only`) the names are those of the branch, which did not move.
    """

    old: Tree
    new: Tree
    old_name: str
    new_name: str
    files_only: bool

    @property
    def back(self) -> "Applied":
        return Applied(
            old=self.new,
            new=self.old,
            old_name=self.new_name,
            new_name=self.old_name,
            files_only=self.files_only,
        )


class Side:
    """What the branch `main`, the index and the disk should hold."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.tip: Tree = self.tree_of("main")
        self.index: Tree = dict(self.tip)
        self.disk: Tree = dict(self.tip)
        self.name = box.git("rev-parse", "main")

    # What she does.

    def edit(self, path: bytes, content: bytes | None, *, stage: bool) -> None:
        """Write a file of hers, or remove it (None); stage it if she likes."""
        full = os.path.join(os.fsencode(self.box.repo), path)
        if os.path.lexists(full):
            os.unlink(full)
        self.disk.pop(path, None)
        if content is not None:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(content)
            os.chmod(full, 0o644)
            self.disk[path] = ("file", content)
        if stage:
            staging = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            self._git(*staging, stdin=path + b"\0")
            self.index.pop(path, None)
            if content is not None:
                for there in [each for each in self.index if touches([path], [each])]:
                    del self.index[there]
                self.index[path] = self.disk[path]

    def commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "hers")
        self.tip, self.index = dict(self.disk), dict(self.disk)
        self.name = self.box.git("rev-parse", "main")

    # What an apply may do.

    def allows(self, move: Applied) -> bool:
        """Tell whether nothing of hers is where the move has to go."""
        changed = changed_paths(move.old, move.new)
        if move.files_only and any(self.index.get(p) != move.old.get(p) for p in changed):
            return False
        return not touches(changed, self.dirty())

    def allows_back(self, move: Applied) -> bool:
        """Tell whether an apply can be taken back; `move` is the one that was made."""
        if not move.files_only:
            return self.allows(move.back)
        return all(
            self.disk.get(path) == move.new.get(path) and self.index.get(path) == move.old.get(path)
            for path in changed_paths(move.old, move.new)
        )

    def follow(self, move: Applied) -> None:
        """Do to the model what the move did to the branch, the index and the files."""
        for path in changed_paths(move.old, move.new):
            for tree in (self.disk,) if move.files_only else (self.disk, self.index):
                tree.pop(path, None)
                if path in move.new:
                    tree[path] = move.new[path]
        if not move.files_only:
            self.tip, self.name = dict(move.new), move.new_name

    def dirty(self) -> set[bytes]:
        return changed_paths(self.tip, self.disk) | changed_paths(self.tip, self.index)

    def check(self) -> None:
        """What git and the disk say is what the model says; her stash is empty as ever."""
        assert self.box.git("rev-parse", "HEAD", "main").split() == [self.name] * 2
        assert self.tree_of("main") == self.tip
        assert self._staged() == self.index
        assert on_disk(self.box.repo) == self.disk
        left = [name for name in os.listdir(self.box.repo / ".git") if "lock" in name]
        left += [name for name in os.listdir(self.box.repo / ".git") if "siding-" in name]
        assert left == []
        assert not (self.box.repo / ".git/refs/stash").exists()

    def tree_of(self, revision: str) -> Tree:
        lines = self._git("ls-tree", "-r", "-z", revision).split(b"\0")[:-1]
        return self._read([line.replace(b" blob ", b" ", 1) for line in lines])

    def _staged(self) -> Tree:
        lines = self._git("ls-files", "-s", "-z").split(b"\0")[:-1]
        return self._read([line.replace(b" 0\t", b"\t", 1) for line in lines])

    def _read(self, lines: list[bytes]) -> Tree:
        """Return the files that ``mode id<TAB>path`` name."""
        split = [
            (*line.partition(b"\t")[0].split(b" "), line.partition(b"\t")[2]) for line in lines
        ]
        asked = b"".join(sha + b"\n" for _, sha, _ in split)
        output = self._git("cat-file", "--batch", stdin=asked)
        found: Tree = {}
        for mode, _sha, path in split:
            header, _, output = output.partition(b"\n")
            size = int(header.split(b" ")[2])
            found[path] = (_KINDS[mode], output[:size])
            output = output[size + 1 :]
        return found

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.box.repo,
            env=self.box.env,
            input=stdin,
            stdout=subprocess.PIPE,
            check=True,
            timeout=60,
        ).stdout


def changed_paths(one: Tree, other: Tree) -> set[bytes]:
    return {path for path in {*one, *other} if one.get(path) != other.get(path)}


def touches(changed: Iterable[bytes], dirty: Iterable[bytes]) -> bool:
    """Tell whether a path of one is, or lies above or below, a path of the other."""
    places = list(dirty)
    return any(
        path == place or path.startswith(place + b"/") or place.startswith(path + b"/")
        for path in changed
        for place in places
    )


def merge(base: Tree, ours: Tree, theirs: Tree) -> Tree | None:
    """Return the three-way merge file by file; None where both sides changed one: git decides."""
    merged: Tree = {}
    for path in {*base, *ours, *theirs}:
        was, one, other = base.get(path), ours.get(path), theirs.get(path)
        if one not in (was, other) and other != was:
            return None
        chosen = one if other == was else other
        if chosen is not None:
            merged[path] = chosen
    if any(path.startswith(above + b"/") for path in merged for above in merged):
        return None
    return merged


def hers(tree: Tree) -> Tree:
    return {path: entry for path, entry in tree.items() if path.startswith(HERS)}
