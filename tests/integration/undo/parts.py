"""Every part of a workspace's state, byte for byte, as git and the disk show it."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from .desk import Desk, Tree

UNFINISHED = ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD")
UNFINISHED_DIRS = ("rebase-merge", "rebase-apply", "sequencer", "refs/bisect")
# Assume unchanged, intent to add, skip the worktree, as git's in-memory flags have them.
KEPT_FLAGS = 0x8000 | 0x2000_0000 | 0x4000_0000
ENTRY = re.compile(
    r"(\d+ [0-9a-f]+ \d\t([^\0]+))\0  ctime: .*\n(?:  .*\n)*?  size: .*\tflags: ([0-9a-f]+)\n"
)


class Parts(NamedTuple):
    """The state of a workspace. `files` has the empty directories, too.

    `head` is what HEAD is on, None if it is detached; `commit` and `tip` are "" if there is none.
    `staged` has mode, id, stage and path of each entry of the index; `flags` the path and the
    `KEPT_FLAGS` of those that have any.
    """

    files: Tree
    head: str | None
    commit: str
    tip: str
    staged: tuple[str, ...]
    flags: tuple[tuple[str, int], ...]
    unfinished: dict[str, bytes]
    documents: dict[str, bytes]

    def differs(self, other: "Parts") -> list[tuple[str, object, object]]:
        """Return the parts that are not the same, each with its name and both values."""
        fields = zip(self._fields, self, other, strict=True)
        return [(name, one, two) for name, one, two in fields if one != two]


def parts_of(desk: Desk) -> Parts:
    """Look at everything; git's own commands say what git knows."""
    head = (desk.git_dir / "HEAD").read_text().strip()
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else None
    tips = _tips_of(desk, desk.branch, branch or desk.branch)
    staged, flags = _index(desk)
    return Parts(
        files=desk.tree() | _empty_directories(desk),
        head=branch,
        commit=head if branch is None else tips.get(branch, ""),
        tip=tips.get(desk.branch, ""),
        staged=staged,
        flags=flags,
        unfinished=_unfinished(desk.git_dir),
        documents={
            path.name: path.read_bytes()
            for path in desk.project.task_layout(desk.task.id).root.glob("flow-status*.json")
        },
    )


def _empty_directories(desk: Desk) -> Tree:
    top = os.fsencode(desk.root)
    return {
        os.path.relpath(place, top): ("empty directory", b"")
        for place, directories, files in os.walk(top)
        if place != top and not directories and not files
    }


def _tips_of(desk: Desk, *branches: str) -> dict[str, str]:
    """Return where these branches are, without those that are not there."""
    refs = [f"refs/heads/{branch}" for branch in branches]
    listed = desk.git("for-each-ref", "--format=%(objectname) %(refname)", *refs)
    found = (line.split(" ", 1) for line in listed.splitlines())
    return {ref.removeprefix("refs/heads/"): commit for commit, ref in found}


def _index(desk: Desk) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """Return what is staged, and the flags of those that have any.

    Of the index alone: `diff-files` would say nothing of an intent whose file is gone.
    """
    said = desk.git("ls-files", "--stage", "--debug", "-z") + "\n"
    entries = ENTRY.findall(said)
    assert len(entries) == said.count("\0")
    flags = [(path, int(value, 16) & KEPT_FLAGS) for _, path, value in entries]
    return tuple(entry for entry, _, _ in entries), tuple(each for each in flags if each[1])


def _unfinished(git_dir: Path) -> dict[str, bytes]:
    found = {n: (git_dir / n).read_bytes() for n in UNFINISHED if (git_dir / n).is_file()}
    for top in UNFINISHED_DIRS:
        for directory, _, names in os.walk(git_dir / top):
            for name in names:
                path = Path(directory, name)
                found[str(path.relative_to(git_dir))] = path.read_bytes()
    return found
