"""Move a branch and its checkout together, as a step. An apply and its undo both do this."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Generic

from siding.applying.content import Sources
from siding.applying.git.carry_out import carry_out, take_back
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns
from siding.record.acts.skeleton import Act, Done, Ended, Result, Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.move_details import ApplyDetail
from siding.record.ledger.step import Step
from siding.record.moving.bench import Bench
from siding.record.moving.model import UNCHANGED, Move
from siding.record.place.project import Project
from siding.record.recording.recorder import Recorder
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import APPLIES
from siding.record.unfinished.displaced_files import told, with_aside


class MovePlan(NamedTuple):
    """The move to make and the detail of the step that records it.

    `hooks` are git settings (see `record.moving.move.carry_out`). `files_back`: the move takes back
    files that were written without a commit.
    """

    move: Move
    changes: Sequence[Change]
    detail: ApplyDetail
    hooks: tuple[str, ...] = ()
    files_back: bool = False


class MoveAct(Act[MovePlan | None, None, Result], Generic[Result]):
    """Move a branch and its checkout. The task's workspace is not touched and may be gone."""

    needs_workspace = False
    unchanged = UNCHANGED
    recovers_at_once = True  # the person's own checkout must not stay between two states

    @abstractmethod
    def move_plan(self, work: Work) -> MovePlan | None:
        """Return what to move, None if there is nothing to move."""

    @abstractmethod
    def moved(self, work: Work, step: Step | None) -> Result:
        """Return the result for the caller of `perform`. `step` is None if nothing was moved."""

    def plan(self, work: Work) -> MovePlan | None:
        work.recorder.freeze()
        work.pause.go_on()  # the workspace is not looked at any more
        found = self.move_plan(work)
        if found is None:
            return None
        return found._replace(move=with_aside(work.project, work.task.id, found.move))

    def draft(self, work: Work, plan: MovePlan | None) -> Draft | None:
        if plan is None:
            return None
        word = "undo" if plan.detail.reversal.undoes else "apply"
        reflog = f"siding {word}: {work.task.name}"
        return Draft(plan.detail._replace(move=plan.move.as_record(), reflog=reflog))

    def carry_out(self, work: Work, plan: MovePlan | None, intent: Intent) -> Ended[None]:
        assert plan is not None
        detail = intent.draft.detail
        assert isinstance(detail, ApplyDetail)
        project, recorder = work.project, work.recorder
        repository, user = project.repository, project.user_settings
        if plan.files_back:
            take_back(repository, user, plan.move, plan.changes)
        else:
            carry_out(
                repository,
                user,
                plan.move,
                plan.changes,
                reason=detail.reflog,
                hooks=plan.hooks,
                keep_fds=recorder.snapshots.keep_fds,
            )
        draft = intent.draft._replace(detail=told(project, plan.move, detail))
        intent = recorder.ended(intent, draft.completed())
        return Ended(intent, intent.draft, None)

    def result(self, work: Work, plan: MovePlan | None, done: Done[None] | None) -> Result:
        return self.moved(work, None if done is None else done.step)


def beside_of(*, now: bool) -> BesideRuns:
    """Return how a change is taken from a workspace in which runs live.

    `now`: as it is, at a moment at which they are at rest; else as the newest step left it.
    """
    return BesideRuns(takes_last=not now, way_out="`siding stop --all` ends the runs")


def bench_root(project: Project, task_id: TaskId) -> Path:
    """Return the directory of a task's bench. The lock of the task guards it."""
    return project.snapshots.root / APPLIES / task_id


def sources_of(recorder: Recorder, bench: Bench) -> Sources:
    """Return the sources of a task that was settled just now."""
    seen = recorder.seen.coverage
    return Sources(
        recorder.project, recorder.task, recorder.workspace, bench, seen, recorder.last_state
    )


def new_token(project: Project) -> str:
    """Return a new unique name for one move: 16 hex digits."""
    return project.app.random_bytes(8).hex()
