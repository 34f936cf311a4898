"""Undo and redo rollbacks, applies, closed tasks and removed workspaces.

The ledger says what comes next (`record/ledger/history.py`); a closed task can be opened again. An
undo is a rollback to the state before the act, and is recorded as a step. A redo is a rollback to
the state before the undo. So neither loses anything. Files changed since the act would be restored
with it; that needs the person's consent.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from siding.ground.errors import NoActiveTask, NotFound
from siding.ground.git.paths import is_selected, quote_path, unquote_path
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns, Paused
from siding.record.acts.skeleton import Work, complete, working
from siding.record.ledger.history import PastAct, Position, is_decided, position, returns_to
from siding.record.ledger.kinds import ALL_PARTS, Reversal
from siding.record.ledger.step import Step
from siding.record.ledger.store import Ledger
from siding.record.place.locks import Hold, holding_task
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.terminal_task import ended_here
from siding.record.recording.freed import refuse_freed
from siding.record.restoring.act import Going, RestoreAct, Restored, rollback_to
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.restoring.survey import Destination, RestoreRequest, plan_git, state_at
from siding.record.snapshots.mode_changes import (
    TreeState,
    bare_changes,
    link_changes,
    mode_changes,
    state_of,
)
from siding.record.snapshots.patches import diff_trees
from siding.record.tasks.task import CLOSED_AFTER, REOPENED, Task, TaskState, WorkspaceState

if TYPE_CHECKING:
    from siding.tasks.reopen import Reopened

__all__ = [
    "Restored",
    "UndoRequest",
    "Undone",
    "choose",
    "named_act",
    "recent_position",
    "redo",
    "trashes_of",
    "undo",
]

_NAMED = 3
_LONGEST_TITLE = 40  # characters


class UndoRequest(NamedTuple):
    """The options of one ``siding undo`` or ``siding redo``."""

    task: str | None = None
    force: bool = False
    wait: bool = False
    runs_rest: bool = False  # those of the task: `wait` is not for their ends
    beside: BesideRuns = BesideRuns()


class Undone(NamedTuple):
    """The result of an undo or redo. One of `restored`, `reopened` and `applied` may be set."""

    task: Task
    what: str
    settled: tuple[Step, ...] = ()
    restored: Restored | None = None
    reopened: "Reopened | None" = None
    applied: Step | None = None
    passed: tuple[Step, ...] = ()  # runs after the act that changed nothing
    paused: Paused = Paused()  # the runs that were paused meanwhile


def undo(project: Project, request: UndoRequest) -> Undone:
    """Take back the newest act that was not taken back yet.

    Raises Refusal, and the errors of moving a branch back. After any of these nothing was changed.
    """
    task_id, away = choose(project, request.task, "undo")
    if away:
        from siding.tasks.reopen import reopen  # closing and opening: 30 modules

        opened = reopen(project, task_id, by_undo=True, wait=request.wait)
        return Undone(
            task=opened.task, what=f"opened task {opened.task.name} again", reopened=opened
        )
    with (
        holding_task(
            project,
            task_id,
            "undo",
            wait=request.wait,
            pauses_runs=True,
            runs_rest=request.runs_rest,
        ) as hold,
        working(project, task_id, hold, pauses_runs=request.beside) as work,
    ):
        steps, found = recent_position(work.task, work.recorder.ledger, "undo")
        if not found.undoable:
            raise Refusal(Reason.NOTHING_TO_UNDO, task=work.task.name)
        undone = _reverse(work, hold, steps, found, found.undoable[-1], request, word="undo")
        return undone._replace(passed=found.passed, paused=work.pause.paused)


def redo(project: Project, request: UndoRequest) -> Undone:
    """Repeat what the newest undo took back. Raises the errors of `undo`."""
    task_id, away = choose(project, request.task, "redo")
    if away:
        raise Refusal(Reason.TASK_IS_CLOSED, task=task_id)
    if project.workspaces.of_task(task_id) is None:  # planned: nothing was done in it
        task = project.tasks.load(task_id)
        raise _nothing_to_redo(task, recent_position(task, project.ledger(task_id), "redo")[1])
    with (
        holding_task(
            project,
            task_id,
            "redo",
            wait=request.wait,
            pauses_runs=True,
            runs_rest=request.runs_rest,
        ) as hold,
        working(project, task_id, hold, pauses_runs=request.beside) as work,
    ):
        steps, found = recent_position(work.task, work.recorder.ledger, "redo")
        if not found.redoable:
            raise _nothing_to_redo(work.task, found)
        act = found.redoable[-1]
        if act.step is not None:
            done = _reverse(work, hold, steps, found, act, request, word="redo")
            return done._replace(paused=work.pause.paused)
    return _close_again(project, work.task)._replace(settled=work.settled)


def _reverse(
    work: Work,
    hold: Hold,
    steps: Sequence[Step],
    found: Position,
    act: PastAct,
    request: UndoRequest,
    *,
    word: str,
) -> Undone:
    """Take the act back or repeat it, by restoring the workspace or by moving a branch."""
    assert act.step is not None
    step = act.step
    reversal = Reversal(undoes=step.id) if word == "undo" else Reversal(redoes=step.id)
    if step.as_apply is None:
        return complete(work, hold, ReverseAct(steps, found, act, reversal, request))
    from siding.applying.reversal import ReverseApply  # git's side of an apply: 10 ms

    applied = complete(work, hold, ReverseApply(step, reversal))
    done = f"undid step {step.id}" if word == "undo" else f"did step {step.id} again"
    return Undone(
        task=work.task,
        what=f"{done}{_where(applied)}",
        settled=work.settled,
        applied=applied,
    )


def _where(applied: Step) -> str:
    """Return the end of the message that says where an apply's branch is now."""
    where = applied.as_apply
    branch = where.target_branch if where is not None else ""
    return f" · {branch} is at {where.commit_sha[:10]}" if where and branch else " · files only"


class ReverseAct(RestoreAct[Undone]):
    """Restore the state before the step that did the act (undo) or took it back (redo)."""

    def __init__(
        self,
        steps: Sequence[Step],
        found: Position,
        act: PastAct,
        reversal: Reversal,
        request: UndoRequest,
    ) -> None:
        assert act.step is not None
        assert act.by is not None
        self._steps = steps  # of the ledger, which may be long: it is read once
        self._step, self._by = act.step, act.by
        self._act = act
        self._reversal = reversal
        self._force = request.force
        self.pauses_runs = request.beside
        self._word = "undo" if reversal.undoes else "redo"
        self.what = self._word
        attempt = found.attempt
        same = attempt is not None and attempt.reversal == reversal
        self._attempt = attempt if same else None  # an attempt that was cut off: this continues it

    def going(self, work: Work) -> Going:
        attempt, recorder = self._attempt, work.recorder
        request = request_for(self._act, self._word)._replace(force=self._force)
        if not self._force:
            _require_nothing_newer(work, self._steps, attempt or self._by, request)
        destination, number = _destination(self._steps, self._by)
        detail = rollback_to(f"{self._word} of step {self._step.id}", step=number)._replace(
            hard=request.hard,
            reversal=self._reversal,
            returns=recorder.seen.snapshot if attempt is None else returns_to(attempt),
            # An attempt that was cut off may have moved files into the trash. This step owns them.
            trash_before=() if attempt is None else trashes_of(attempt),
        )
        # The act left the paths that the snapshot lacks alone, and so does taking it back.
        return Going(destination, request, detail, even_incomplete=True)

    def restored(self, work: Work, restored: Restored) -> Undone:
        named = named_act(self._steps, self._step)
        done = f"undid {named}" if self._word == "undo" else f"did {named} again"
        return Undone(task=work.task, what=done, settled=work.settled, restored=restored)


def named_act(steps: Sequence[Step], act: Step) -> str:
    """Name an act by its step; a turn, which may have several, by that with its prompts."""
    if act.as_rollback:
        return f"step {act.id}"
    of_turn = [each for each in steps if act.turn and _turn_of(each) == _turn_of(act)]
    for each in of_turn:
        turn = each.as_checkpoint
        if turn is not None and turn.prompts:
            from siding.record.runs.reported import title_of

            most = _LONGEST_TITLE * min(len(turn.prompts), 4)
            return f"step {each.id} ({title_of(turn.prompts, most)})"
    return f"step {act.id} ({_shortened(act.title)})"


def _turn_of(step: Step) -> tuple[str, str]:
    return step.turn_of, step.turn


def _shortened(title: str) -> str:
    line = title.partition("\n")[0]
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"


def _require_nothing_newer(
    work: Work, steps: Sequence[Step], by: Step, request: RestoreRequest
) -> None:
    """Raise Refusal if changes made after the step `by` would be taken back with it."""
    recorder, paths = work.recorder, request.paths
    if by.snapshot is None or by.snapshot == recorder.seen.snapshot:
        return
    refuse_freed(work.project, f"the state after step {by.id}", by.snapshot)
    store, seen = recorder.snapshots.store, recorder.seen
    changes = diff_trees(store, Sha(by.snapshot), seen.tree)
    then, now = state_of(store, Sha(by.snapshot)), TreeState(tree=seen.tree, modes=seen.modes)
    differ = {change.path for change in changes}
    differ |= {each.path for each in mode_changes(store, then, now, changes=changes)}
    differ |= link_changes(then.modes, now.modes).keys()
    differ |= bare_changes(then.modes, now.modes)
    newer = [quote_path(path) for path in sorted(differ) if is_selected(path, paths)]
    if request.takes_all:
        newer += _parts_newer(work, Sha(by.snapshot))
    if newer:
        named = ", ".join(newer[:_NAMED])
        more = f" and {len(newer) - _NAMED} more" if len(newer) > _NAMED else ""
        made_by = _made_by(work, steps, by)
        raise Refusal(Reason.CHANGED_SINCE, step=by.id, made_by=made_by, paths=f"{named}{more}")


def _made_by(work: Work, steps: Sequence[Step], by: Step) -> str:
    """Return the runs that live and most likely made the changes after a step, as a phrase."""
    since = [step for step in steps if step.number > by.number]
    beside = {run for step in since if _is_of_runs(step) for run in step.beside}
    named = [
        f"{each.id} `{each.title[:60]}`" for each in work.pause.paused.runs if each.id in beside
    ]
    return f" while {', '.join(named)} {'lives' if len(named) == 1 else 'live'}" if named else ""


def _is_of_runs(step: Step) -> bool:
    made = step.as_checkpoint
    return made is not None and made.origin == "running"


def _parts_newer(work: Work, snapshot: Sha) -> list[str]:
    """Return what is not as in the snapshot besides files."""
    project, workspace = work.project, work.recorder.workspace
    now = state_at(project, workspace, work.recorder.seen.snapshot)
    plan = plan_git(project, workspace, now, snapshot)
    if plan is None:
        return []
    from siding.record.restoring.git_plan import PARTS, git_lines

    return list(dict.fromkeys(PARTS[part] for part, _text in git_lines(plan)))


def _destination(steps: Iterable[Step], by: Step) -> tuple[Destination, int | None]:
    """Return the state before `by`, and the number of the step that left it, None for the base."""
    snapshot = returns_to(by)
    if snapshot is None:
        raise Refusal(Reason.NOTHING_BEFORE, step=by.id)
    coverage, number = None, None
    for step in steps:
        if step.number >= by.number:
            break
        if step.snapshot == snapshot:
            number = step.number
            coverage = step.coverage
    return Destination(Sha(snapshot), f"the state before step {by.id}", coverage), number


def _close_again(project: Project, task: Task) -> Undone:
    """Close, or remove the workspace of, a task that an undo opened again."""
    mark = task.rest.get(REOPENED)
    assert isinstance(mark, dict)
    from siding.tasks.close import Fate, close_task, remove_workspace

    fate = Fate(str(mark.get("fate")))
    keep = bool(mark.get("keep_branch"))
    if mark.get("closed"):
        after = mark.get(CLOSED_AFTER)
        closed = close_task(
            project,
            task,
            fate=fate,
            force=True,
            keep_branch=keep,
            after=after if isinstance(after, int) else None,
        )
        return Undone(task=closed.task, what=f"closed task {task.id} · {task.name} again")
    _workspace, task = remove_workspace(project, task, force=True, complete=False, keep_branch=keep)
    return Undone(task=task, what=f"removed the workspace of {task.name} again")


def recent_position(task: Task, ledger: Ledger, word: str) -> tuple[list[Step], Position]:
    """Return what `word` ("undo" or "redo") would do next, and the steps from which that is known.

    Only the newest act of the position is sure: older ones may be missing.
    """
    mark = task.rest.get(REOPENED)
    named = mark.get("after") if isinstance(mark, dict) else None
    after = named if isinstance(named, int) else None
    for steps, is_all in ledger.growing_tails():
        found = position(steps, reopened_after=after)
        acts = found.undoable if word == "undo" else found.redoable
        top = acts[-1] if acts else None
        if is_all or is_decided(found, steps, top, reopened_after=after):
            return steps, found
    raise AssertionError("the last tail is all of it")


def _nothing_to_redo(task: Task, found: Position) -> Refusal:
    if found.since is None:
        return Refusal(Reason.NOTHING_TO_REDO, task=task.name)
    return Refusal(Reason.WENT_ON_SINCE, step=found.since.id, title=found.since.title)


def choose(project: Project, named: str | None, word: str) -> tuple[TaskId, bool]:
    """Return the task that is meant, and whether its closing comes next, or its removal.

    A task that was closed and kept its workspace may have later acts: these come before.

    With no name and no active task, it is the task that this terminal was about, if that has ended,
    else the one that was closed or removed last.
    """
    try:
        task = select(project, None) if named is None else resolve(project, named)
    except (NoActiveTask, NotFound):
        from siding.tasks.reopen import deleted_tasks

        gone = {each.id: each for each in deleted_tasks(project)}
        if named is not None:
            if not any(named in (each.id, each.name) for each in gone.values()):
                raise
            return next(each.id for each in gone.values() if named in (each.id, each.name)), True
        newest = ended_here(project) or _closed_last(project, set(gone))
        if newest is None:
            raise
        return newest, True
    return task.id, _is_away(project, task, word)


def _is_away(project: Project, task: Task, word: str) -> bool:
    workspace = project.workspaces.of_task(task.id)
    if task.status is TaskState.CLOSED:
        kept = workspace is not None and workspace.status is WorkspaceState.KEPT
        return not kept or not _has_later_act(task, project.ledger(task.id), word)
    return (
        workspace is not None
        and workspace.status is WorkspaceState.REMOVED
        and workspace.intent is None
    )


def _has_later_act(task: Task, ledger: Ledger, word: str) -> bool:
    """Tell whether the act that comes next was done after the task was closed."""
    after = task.rest.get(CLOSED_AFTER)
    last = ledger.last()
    if not isinstance(after, int) or last is None or last.number <= after:
        return False
    _steps, found = recent_position(task, ledger, word)
    acts = found.undoable if word == "undo" else found.redoable
    step = acts[-1].step if acts else None
    return step is not None and step.number > after


def _closed_last(project: Project, gone: set[TaskId]) -> TaskId | None:
    moments = {
        workspace.task_id: workspace.removed_at or ""
        for workspace in project.registry.all()
        if workspace.status is WorkspaceState.REMOVED
    }
    moments = {
        task_id: at
        for task_id, at in moments.items()
        if task_id in gone or task_id in project.tasks.ids()
    }
    for task in project.tasks.readable():
        if task.status is TaskState.CLOSED:
            moments[task.id] = max(task.closed_at or "", moments.get(task.id, ""))
    return max(moments, key=lambda task_id: moments[task_id], default=None)


def trashes_of(step: Step) -> tuple[str, ...]:
    """Return the places in the trash into which a step, or attempts at it, moved files."""
    back = step.as_rollback
    if back is None:
        return ()
    return (*([back.trash] if back.trash else []), *back.trash_before)


def request_for(act: PastAct, word: str) -> RestoreRequest:
    """Return the options with which `ReverseAct` restores the state.

    An act that restored files alone is taken back with files alone.
    """
    assert act.step is not None
    assert act.by is not None
    done = act.step.as_rollback
    bring_back = trashes_of(act.by)
    if done is None:  # a run or a phase move
        return RestoreRequest(bring_back=bring_back)
    return RestoreRequest(
        paths=tuple(unquote_path(path) for path in done.paths),
        hard=word == "redo" and done.hard,
        bring_back=bring_back,
        files_only=done.parts != ALL_PARTS,
    )
