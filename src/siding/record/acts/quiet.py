"""Whether processes that are paused were stopped at a moment at which files may be moved.

They were not if one is in the middle of writing a file of the workspace (a pause may fall between
the emptying of a file and the writing), if git has a lock or is about to move a branch, or if one
holds a lock of Siding's that an act needs.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from siding.ground.git.paths import quote_path
from siding.ground.git.refs import read_head
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.identity import name_of
from siding.ground.process.procfs_details import OpenFile, command_line, directory_of, open_files
from siding.record.files.index_entries import ignored_among
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace

# The locks of a project that an act may wait for. Others are held for as long as a program lives.
_NEEDED = ("locks/project", "locks/git", "locks/snapshots", "events.jsonl.lock")
# What git does in several steps, some of them without a lock: while a hook or an editor runs.
_MOVING = frozenset(
    "add am apply bisect checkout cherry-pick commit merge mv pull read-tree rebase reset restore "
    "revert rm stash switch update-index update-ref".split()
)


class Unquiet(NamedTuple):
    """What a paused process was in the middle of."""

    process: str
    doing: str

    @property
    def sentence(self) -> str:
        return f"{self.process} {self.doing}"


def unquiet(project: Project, workspace: Workspace, pids: Iterable[int]) -> list[Unquiet]:
    """Return what the processes were in the middle of; nothing if files may be moved now."""
    pids = list(pids)
    root = os.path.realpath(workspace.path)
    home = os.path.realpath(project.layout.root)
    git_dir = os.path.realpath(workspace.git_dir) if workspace.git_dir else root
    below = (f"{root}/", f"{git_dir}/", f"{home}/locks/", f"{home}/events.jsonl.lock")
    opened = [(pid, each) for pid in pids for each in open_files(pid, below)]
    found = [*_git_locks(project, workspace, pids), *_git_at_work(root, pids)]
    found += [
        Unquiet(name_of(pid), f"holds {each.path}")
        for pid, each in opened
        if each.is_locked and each.path.removeprefix(f"{home}/") in _NEEDED
    ]
    found += _written(project, workspace, root, opened)
    found += [
        Unquiet(name_of(pid), f"has {each.path} open for writing")
        for pid, each in opened
        if each.is_written and each.path.startswith(f"{git_dir}/") and git_dir != root
    ]
    return found


def _written(
    project: Project, workspace: Workspace, root: str, opened: Iterable[tuple[int, OpenFile]]
) -> Iterator[Unquiet]:
    """Yield the files of the workspace that are open for writing, without those git ignores: they
    are in no state, and nothing moves them."""
    written = [
        (pid, os.fsencode(each.path[len(root) + 1 :]))
        for pid, each in opened
        if each.is_written and each.path.startswith(f"{root}/")
    ]
    paths = sorted({path for _pid, path in written})
    if not paths:
        return
    ignored = ignored_among(project.snapshots, workspace.task_id, Path(workspace.path), paths)
    for pid, path in written:
        if path not in ignored:
            yield Unquiet(name_of(pid), f"has {quote_path(path)} open for writing")


def _git_at_work(root: str, pids: list[int]) -> Iterator[Unquiet]:
    """Yield the git commands in the workspace that move what is checked out."""
    for pid in pids:
        verb = _git_verb(command_line(pid))
        if verb in _MOVING and f"{directory_of(pid)}/".startswith(f"{root}/"):
            yield Unquiet(f"`git {verb}` (process {pid})", "is at work")


def _git_verb(words: list[str]) -> str:
    """Return what a command line has git do: ``commit`` for ``git -c a=b commit``."""
    if not words or os.path.basename(words[0]) != "git":
        return ""
    rest = iter(words[1:])
    for word in rest:
        if word in ("-c", "-C"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _git_locks(project: Project, workspace: Workspace, pids: list[int]) -> Iterator[Unquiet]:
    if not workspace.git_dir:
        return
    git_dir, common = Path(workspace.git_dir), project.paths.common_dir
    head = read_head(git_dir, common)
    branches = {workspace.branch, "" if head is None else head.branch or ""} - {""}
    locks = [
        *sorted(git_dir.glob("*.lock")),
        *(common / "refs" / "heads" / f"{branch}.lock" for branch in sorted(branches)),
        common / "packed-refs.lock",
    ]
    layout = project.task_layout(workspace.task_id)
    if layout.sandbox_lock.exists():
        from siding.record.unfinished.sandbox_commits import locks_of_living

        locks += locks_of_living(layout)
    gits = [name for name in map(name_of, pids) if name.startswith("git ")]
    for lock in locks:
        if os.path.lexists(lock):
            yield Unquiet(gits[0] if gits else "git", f"holds {lock}")
