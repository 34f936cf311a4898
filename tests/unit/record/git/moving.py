"""A branch that is to move with its checkout, beside what a person has not committed."""

import os
from typing import NamedTuple

from siding.applying.branch_move import carry_out
from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.record.moving.model import Move
from siding.record.moving.move import changed_paths, checkout_of
from siding.record.snapshots.patches import Change

from .world import Tree, World, on_disk, write

TOKEN = "0123456789abcdef"


class Ready(NamedTuple):
    """Two commits of Ada's; her branch is at the old one, and she has work of her own."""

    world: World
    move: Move
    changes: list[Change]
    mine: Tree

    def now(self) -> tuple[Sha, Tree]:
        """Return where the branch is, and the files without Ada's own."""
        found = on_disk(self.world.root)
        assert {path: found.pop(path) for path in self.mine} == self.mine
        status = self.world.user("status", "--porcelain", "-z").split(b"\0")[:-1]
        assert status == [b" M kept.txt", b"?? unknown"], status
        return self.world.repository.branch("main") or Sha(""), found

    def is_at(self, side: Sha) -> bool:
        """Tell whether branch and files are at a commit; nothing of ours is left in git's."""
        left = [name for name in os.listdir(self.world.root / ".git") if "lock" in name]
        left += [name for name in os.listdir(self.world.root / ".git") if "siding" in name]
        assert left == []
        at, files = self.now()
        expected = tree_of(self.world, side)
        expected.pop(b"kept.txt")
        return at == side and files == expected


def tree_of(world: World, commit: Sha) -> Tree:
    found: Tree = {}
    for line in world.user("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _kind, sha = about.decode().split(" ")
        found[path] = (mode, world.user("cat-file", "blob", sha))
    return found


def ready_in(world: World) -> Ready:
    """Return Ada's repository with a branch that is to move."""
    world.commit({"kept.txt": "committed\n", "gone": "gone\n", "tool": "#!/bin/sh\n"})
    old = world.head()
    (world.root / "gone").unlink()
    (world.root / "tool").chmod(0o755)
    new = world.commit({"a.txt": "new\n", "odd \n\u00e9/x": b"\0\r\n", "src/b.txt": "new\n"})
    world.user("reset", "-q", "--hard", old)
    write(world.root / "kept.txt", "not committed\n")
    write(world.root / "unknown", "unknown\n")
    place = checkout_of(world.repository, "main")
    assert place is not None
    aside = world.directory / "aside"
    move = Move(branch="main", old=old, new=new, checkout=place, token=TOKEN, aside=aside)
    changes = changed_paths(world.repository, Place(git_dir=world.paths.common_dir), old, new)
    mine = {b"kept.txt": ("100644", b"not committed\n"), b"unknown": ("100644", b"unknown\n")}
    return Ready(world, move, changes, mine)


def go(ready: Ready, move: Move | None = None) -> None:
    world = ready.world
    carry_out(world.repository, world.settings, move or ready.move, ready.changes, reason="test")
