"""Pause the runs of a task while an act moves the files under them.

Files may not be moved if a process that is paused is in the middle of writing a file of the
workspace (a pause may fall between the emptying of a file and the writing), if git has a lock or is
about to move a branch, or if one holds a lock of Siding's that an act needs.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.git.paths import quote_path
from siding.ground.git.refs import read_head
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.identity import boot_id, name_of, started_of
from siding.ground.process.pauser import (
    CannotPause,
    Mark,
    Pauser,
    Trees,
    going_on_if_told_to_end,
    is_possible,
)
from siding.ground.process.procfs_details import OpenFile, command_line, directory_of, open_files
from siding.record.acts.pause import BesideRuns, Pause, Paused, PausedRun
from siding.record.files.index_entries import ignored_among
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.recording.last_state import last_state
from siding.record.recording.recorder import Recorder
from siding.record.runs.paused import PausedFile
from siding.record.runs.run import ProcessMark, Run
from siding.record.runs.store import Runs
from siding.record.snapshots.capture import Capture
from siding.record.tasks.registry import Workspace
from siding.record.unfinished.left_running import live_runs, to_pause

PATIENCE_S = 5.0
_AGAIN_S = (0.005, 0.007, 0.011, 0.013, 0.017, 0.02)  # not in step with what is done regularly
_NAMED = 3
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


class NeverQuiet(SidingError):
    """Whenever the runs were paused, one of their processes was in the middle of something."""

    code = "never_quiet"

    def __init__(self, found: list[Unquiet], way_out: str) -> None:
        named = "; ".join(dict.fromkeys(each.sentence for each in found[:_NAMED]))
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        super().__init__(
            f"what runs was never at rest for {PATIENCE_S:.0f} s: {named}{more}",
            hint=f"nothing was changed, and everything goes on. {way_out}",
        )


def settle_beside(
    resources: ExitStack,
    recorder: Recorder,
    settle: Callable[[Recorder], list[Step]],
    how: BesideRuns,
) -> tuple[list[Step], Pause]:
    """Record what is not recorded yet while runs live; return these steps, and the pause of the
    runs, which lasts as long as the `resources`. The caller settles once more."""
    if how.takes_last:
        made = recorder.settle_interrupted()
        _freeze_at_last(recorder)
        return made, Pause()
    made = settle(recorder)  # so that little is left to record while they are paused
    pause = resources.enter_context(pausing(recorder.project, recorder.workspace, how))
    return made, pause


def _freeze_at_last(recorder: Recorder) -> None:
    """Let the workspace count as in the newest recorded state, from now on."""
    state = last_state(recorder.project, recorder.workspace)
    recorder.last_state = state
    recorder.freeze(
        Capture(
            snapshot=state.snapshot,
            parent=state.snapshot,
            tree=recorder.snapshots.store.read_commit(state.snapshot).tree,
            changes=(),
            heads=(),
            coverage=state.coverage,
            modes=None,
        )
    )


@contextmanager
def pausing(project: Project, workspace: Workspace, how: BesideRuns) -> Iterator[Pause]:
    """Yield with the runs of the task paused, at a moment at which files may be moved.

    The caller holds the task's lock. Raises NeverQuiet and CannotPause; then all goes on.
    """
    if not is_possible():
        raise CannotPause(
            "this system does not let runs be paused", hint="`siding stop --all` ends them"
        )
    layout = project.task_layout(workspace.task_id)
    runs, file = Runs(layout), PausedFile(layout)
    stopping = _Stopping(file)
    with going_on_if_told_to_end(stopping.go_on):
        try:
            found = _at_rest(project, workspace, runs, stopping, how)
            left = to_pause(project, workspace.task_id)
            paused = Paused(
                runs=(
                    *(PausedRun(run.id, run.title) for run in runs.live()),
                    *(PausedRun(each.run.id, each.run.title, has_ended=True) for each in left),
                ),
                unquiet=tuple(dict.fromkeys(each.sentence for each in found)),
            )
            yield Pause(paused, stopping.go_on)
        finally:
            stopping.go_on()


class _Stopping:
    """The processes that are stopped now, if any, and the file that names them."""

    def __init__(self, file: PausedFile) -> None:
        self._file = file
        self._pauser: Pauser | None = None

    def stop(self, trees: Trees) -> list[int]:
        """Stop the processes of the trees; return them."""
        self._file.begin(boot_id())
        self._pauser = Pauser(trees, note=lambda mark: self._file.note(*mark))
        self._pauser.pause()
        return [mark.pid for mark in self._pauser.stopped]

    def go_on(self) -> None:
        if self._pauser is not None:
            self._pauser.go_on()
            self._pauser = None
        self._file.remove()


def _at_rest(
    project: Project, workspace: Workspace, runs: Runs, stopping: _Stopping, how: BesideRuns
) -> list[Unquiet]:
    """Pause the runs until none of them is in the middle of something; return what one still is,
    if that is not waited for."""
    give_up_at = time.monotonic() + PATIENCE_S
    tries = 0
    while True:
        live = runs.live()
        # A command that was not started yet would begin in the middle of the act.
        found = [
            Unquiet(run.id, f"`{run.title[:60]}` is about to start")
            for run in live
            if not run.command.pid
        ]
        if not found or how.now:
            pids = stopping.stop(_with_left(project, workspace, trees_of(live)))
            found += unquiet(project, workspace, pids)
            if not found or how.now:
                return found
            stopping.go_on()
        if time.monotonic() > give_up_at:
            raise NeverQuiet(found, how.way_out)
        time.sleep(_AGAIN_S[tries % len(_AGAIN_S)])
        tries += 1


def trees_of(live: list[Run]) -> Trees:
    """Return what has to be stopped of runs: never their hosts, nor their keepers."""
    boot = boot_id()
    live = [run for run in live if run.boot == boot]
    spared = [mark for run in live for mark in (run.host, run.keeper) if mark.pid]
    return Trees(
        spared=tuple(Mark(*mark) for mark in spared),
        above=tuple(Mark(*_top_of(run)) for run in live),
        commands=tuple(Mark(*run.command) for run in live if run.command.pid),
        tokens=tuple(run.token for run in live if run.token),
    )


def _with_left(project: Project, workspace: Workspace, trees: Trees) -> Trees:
    """Return trees with what runs of the task that have ended left running."""
    left = to_pause(project, workspace.task_id)
    if not left:
        return trees
    # It may have started runs of other tasks since. Their hosts may hold what the act waits for.
    tops = [mark for run in live_runs(project) for mark in (run.host, run.keeper) if mark.pid]
    processes = [each for found in left for each in found.processes]
    return trees._replace(
        spared=(*trees.spared, *(Mark(*mark) for mark in tops)),
        commands=(*trees.commands, *(Mark(each.pid, each.started) for each in processes)),
        tokens=(*trees.tokens, *(each.run.token for each in left if each.run.token)),
    )


def _top_of(run: Run) -> ProcessMark:
    """Return the process below which the run is: its keeper, or its host if it has none any more.

    A host may be a program that hosts runs of other tasks as well.
    """
    keeper = run.keeper
    return keeper if keeper.pid and started_of(keeper.pid) == keeper.started else run.host


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
