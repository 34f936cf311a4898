"""Bring the change of a fork back onto the task that it was made from, as a step of that task."""

from siding.applying.content import bench_for
from siding.applying.history import effective_steps
from siding.applying.steps import bench_root, sources_of
from siding.forks.children import Parentage, with_parentage
from siding.forks.merging import Sides, merged_state
from siding.ground.errors import UsageError
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns
from siding.record.acts.skeleton import Done, Work, perform
from siding.record.ledger.draft import Draft
from siding.record.ledger.move_details import ConflictedPath, MergedBranch, RollbackDetail
from siding.record.ledger.step import Step, StepStatus
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.recording.opening import open_anywhere
from siding.record.restoring.act import Going, MovedFiles, RestoreAct, Restored, RestorePlan
from siding.record.restoring.survey import Destination, RestoreRequest
from siding.record.tasks.task import Task
from siding.record.traps.marks import mark_of, mark_sandboxed


class BroughtBack(NamedTuple):
    """The fork's change is in the task's workspace, uncommitted.

    `step` is None if the task had all of it already. `left` are paths that were not touched, such
    as those of submodules, with the reason; `missed` were written by somebody else meanwhile.
    `kept` are the files that hold what others wrote while files were moved: absolute paths.
    """

    step: Step | None
    left: tuple[tuple[str, str], ...] = ()
    missed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class Conflict(NamedTuple):
    """The fork and the task disagree about these paths. Nothing was changed."""

    paths: tuple[ConflictedPath, ...]


class _Disagree(Exception):
    """Carries the conflicts out of the act, before it begins."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__("the fork and the task disagree")
        self.conflict = conflict


def bring_back(project: Project, fork: Task) -> BroughtBack | Conflict:
    """Bring what the fork has changed onto the present state of its parent.

    It comes uncommitted: HEAD and the index of the parent stay. Runs of the parent that live are
    paused meanwhile. Brought back again, only what is new since then comes. Raises TaskBusy if a
    run lives in the fork, or if this is called from a run of the parent, and the errors of a
    rollback; then nothing was changed.
    """
    parentage = Parentage.of(fork)
    if parentage is None:
        raise UsageError(f"task {fork.name!r} is no fork", hint="`siding apply` applies a task")
    parent = project.tasks.load(parentage.parent)
    with holding_task(project, fork.id, f"bringing back {fork.id}") as hold:
        recorder = open_anywhere(project, fork, hold)
        recorder.settle()
        ended = recorder.seen.snapshot
        began = _brought_last(project, parent.id, fork) or Sha(parentage.base)
        act = BringBackAct(fork, began, ended)
        try:
            done = perform(project, parent.id, act)
        except _Disagree as found:
            return found.conflict
        _note_applied(project, fork, ended)
        return done


def _brought_last(project: Project, parent: TaskId, fork: Task) -> Sha | None:
    """Return the fork's state that the parent has of it; None if it has none, or went back."""
    for step in effective_steps(project, parent):
        merged = None if step is None else step.merged
        if step is not None and merged is not None and merged.branch == fork.id:
            return Sha(merged.commit) if step.status == StepStatus.COMPLETED else None
    return None


def _note_applied(project: Project, fork: Task, ended: Sha) -> None:
    current = project.tasks.load(fork.id)
    parentage = Parentage.of(current)
    assert parentage is not None
    project.tasks.save(with_parentage(current, parentage._replace(applied=ended)))


class BringBackAct(RestoreAct[BroughtBack]):
    """Go to the state that merging the fork's change leads to."""

    # The lock is waited for, since many forks come back at once, and runs that live are paused.
    beside_runs = True
    pauses_runs = BesideRuns()

    def __init__(self, fork: Task, began: Sha, ended: Sha) -> None:
        self.what = f"bringing back {fork.id}"
        self._fork = fork
        self._began = began
        self._ended = ended
        self._nothing = False

    def going(self, work: Work) -> Going:
        project, recorder = work.project, work.recorder
        present = recorder.seen.snapshot
        if mark_of(project, self._fork.id) is not None:
            mark_sandboxed(project, work.task.id)
        with bench_for(project, project.snapshots, bench_root(project, work.task.id)) as bench:
            sides = Sides(self._began, self._ended, present)
            found = merged_state(sources_of(recorder, bench), sides)
        if found.conflicts:
            paths = tuple(ConflictedPath(quote_path(c.path), c.kind) for c in found.conflicts)
            raise _Disagree(Conflict(paths))
        self._nothing = found.snapshot is None
        return Going(
            Destination(found.snapshot or present, f"the state with {self._fork.id}", None),
            RestoreRequest(files_only=True),
            RollbackDetail(
                target="merge",
                message=f"{self._fork.name} brought back",
                merged=MergedBranch(branch=self._fork.id, commit=self._ended),
            ),
            even_incomplete=True,
        )

    def draft(self, work: Work, plan: RestorePlan) -> Draft | None:
        return None if self._nothing else super().draft(work, plan)

    def result(self, work: Work, plan: RestorePlan, done: Done[MovedFiles] | None) -> BroughtBack:
        return BroughtBack(None) if done is None else super().result(work, plan, done)

    def restored(self, work: Work, restored: Restored) -> BroughtBack:
        left = tuple((quote_path(e.path), e.why.value) for e in restored.survey.plan.left)
        missed = tuple(quote_path(path) for path in restored.missed)
        moved = restored.step.as_rollback
        home = work.project.layout.root
        kept = tuple(str(home / path) for path in (moved.kept if moved else ()))
        return BroughtBack(restored.step, left, missed, kept)
