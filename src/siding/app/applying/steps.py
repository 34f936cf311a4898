"""An apply as a step: the recorder it uses, and the move under its intent."""

from collections.abc import Sequence
from pathlib import Path

from siding.app.applying.content import Sources
from siding.app.place.locking import Hold
from siding.app.place.project import Project
from siding.app.place.task_workspace import NoWorkspace
from siding.app.recording.recorder import Recorder, open_recorder
from siding.git.applying.bench import Bench
from siding.git.applying.move import UNCHANGED, Move, carry_out, take_back
from siding.git.snapshots.capture import Capture
from siding.git.snapshots.coverage import Coverage
from siding.git.snapshots.patches import Change
from siding.git.snapshots.store import APPLIES
from siding.ids import Sha
from siding.ledger.details.apply import ApplyDetail
from siding.ledger.draft import Draft
from siding.ledger.step import Step
from siding.tasks.task import Task


class Settled(Recorder):
    """A recorder of a task whose lock is held, right after the workspace was recorded.

    An apply does not touch the workspace, so the step that it makes ends with that snapshot.
    """

    def __init__(self, project: Project, task: Task, hold: Hold) -> None:
        self._frozen: Capture | None = None
        self._last: Capture | None = None
        self.settled: list[Step] = []
        try:
            opened = open_recorder(project, task, hold)
        except NoWorkspace:
            self._without_workspace(project, task, hold)
            return
        super().__init__(project, task, opened.workspace, hold)
        self.settled = self.settle()
        self._frozen = self._as_settled()

    def _as_settled(self) -> Capture:
        """Return the snapshot that `settle` took, as one in which nothing changes any more."""
        assert self._last is not None
        return self._last._replace(parent=self._last.snapshot, changes=(), heads=())

    def _without_workspace(self, project: Project, task: Task, hold: Hold) -> None:
        """The task was closed: its last snapshot is the state it is in."""
        workspace = project.registry.of_task(task.id)
        last = project.ledger(task.id).last()
        snapshot = (last and last.snapshot) or (workspace and workspace.base_snapshot)
        if workspace is None or not snapshot:
            raise NoWorkspace(
                f"task {task.name!r} has no workspace, and no snapshot of it is left",
                hint="`siding doctor` says what is lost",
            )
        super().__init__(project, task, workspace, hold)
        at = Sha(snapshot)
        self._frozen = Capture(
            snapshot=at,
            parent=at,
            tree=self.snapshots.store.read_commit(at).tree,
            changes=(),
            heads=(),
            coverage=Coverage(),
            modes=None,
        )
        self.settled = self.settle_interrupted()

    @property
    def seen(self) -> Capture:
        """The workspace as it was recorded a moment ago."""
        assert self._frozen is not None
        return self._frozen

    @property
    def bench_root(self) -> Path:
        return self.project.snapshots.root / APPLIES / self.task.id

    def capture(self, number: int, kind: str) -> Capture:
        if self._frozen is not None:
            return self._frozen
        self._last = super().capture(number, kind)
        return self._last

    def sources(self, bench: Bench) -> Sources:
        """Return where the states of this task come from."""
        return Sources(self.project, self.task, self.workspace, bench, self.seen.coverage)


def new_token(project: Project) -> str:
    """Return a name for one move that no other has."""
    return project.app.random_bytes(8).hex()


def record_move(
    recorder: Recorder,
    move: Move,
    changes: Sequence[Change],
    detail: ApplyDetail,
    *,
    hooks: tuple[str, ...] = (),
    files_back: bool = False,
) -> Step:
    """Move the branch and its checkout, as the step that `detail` describes."""
    project = recorder.project
    reflog = f"siding {'undo' if detail.reversal.undoes else 'apply'}: {recorder.task.name}"
    told = detail._replace(move=move.as_record(), reflog=reflog)
    intent = recorder.begin(Draft(told))
    act = take_back if files_back else carry_out
    try:
        act(
            project.repository,
            project.user_settings,
            move,
            changes,
            reason=reflog,
            hooks=hooks,
            keep_fds=recorder.snapshots.keep_fds,
        )
    except UNCHANGED:
        recorder.abandon(intent)
        raise
    except BaseException:
        recorder.settle_interrupted()
        raise
    intent = recorder.ended(intent, intent.draft.completed())
    return recorder.finish(intent, intent.draft)
