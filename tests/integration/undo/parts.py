"""Every part of a workspace's state, byte for byte, as git and the disk show it."""

import os
from pathlib import Path
from typing import NamedTuple

from .desk import Desk, Tree

UNFINISHED = ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD")
UNFINISHED_DIRS = ("rebase-merge", "rebase-apply", "sequencer", "refs/bisect")


class Parts(NamedTuple):
    """The state of a workspace.

    `head` is what HEAD is on, None if it is detached; `commit` and `tip` are "" if there is none.
    `staged` has mode, id, stage and path of each entry of the index; `flags` the letters of
    `git ls-files -v` and `-t` for those that are not as usual.
    """

    files: Tree
    head: str | None
    commit: str
    tip: str
    staged: tuple[str, ...]
    flags: tuple[str, ...]
    unfinished: dict[str, bytes]
    documents: dict[str, bytes]

    def differs(self, other: "Parts") -> list[tuple[str, object, object]]:
        """Return the parts that are not the same, each with its name and both values."""
        fields = zip(self._fields, self, other, strict=True)
        return [(name, one, two) for name, one, two in fields if one != two]


def parts_of(desk: Desk) -> Parts:
    """Look at everything; git's own commands say what git knows."""
    git_dir = Path(desk.git("rev-parse", "--absolute-git-dir"))
    head = (git_dir / "HEAD").read_text().strip()
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else None
    return Parts(
        files=desk.tree(),
        head=branch,
        commit=head if branch is None else tip_of(desk, branch),
        tip=tip_of(desk, desk.branch),
        staged=tuple(desk.git("ls-files", "--stage", "-z").split("\0")),
        flags=_flags(desk),
        unfinished=_unfinished(git_dir),
        documents={
            path.name: path.read_bytes()
            for path in desk.project.task_layout(desk.task.id).root.glob("flow-status*.json")
        },
    )


def tip_of(desk: Desk, branch: str) -> str:
    """Return where a branch is; "" if there is none."""
    return desk.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")


def _flags(desk: Desk) -> tuple[str, ...]:
    assumed = [line for line in desk.git("ls-files", "-v", "-z").split("\0") if line[:1].islower()]
    status = desk.git("ls-files", "-t", "-z").split("\0")
    intended = desk.git("diff-files", "--name-only", "--diff-filter=A", "-z").split("\0")
    return (*assumed, *(line for line in status if line.startswith("S")), *intended)


def _unfinished(git_dir: Path) -> dict[str, bytes]:
    found = {n: (git_dir / n).read_bytes() for n in UNFINISHED if (git_dir / n).is_file()}
    for top in UNFINISHED_DIRS:
        for directory, _, names in os.walk(git_dir / top):
            for name in names:
                path = Path(directory, name)
                found[str(path.relative_to(git_dir))] = path.read_bytes()
    return found
