"""Take a workspace to another tree, as a step: what rollback, undo and redo have in common.

`survey` says exactly what would happen; nothing is changed. `carry_out` does it, with the present
state in a snapshot and the intent on disk first. What no snapshot holds is never deleted: it stays,
or is moved into the project's trash when that was asked for.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from siding.app.place.locking import Hold
from siding.app.place.project import Project
from siding.app.place.trash import fresh_trash
from siding.app.recording.recorder import Recorder, open_recorder
from siding.errors import SidingError
from siding.git.paths import is_selected, is_under, quote_path
from siding.git.restoring.expecting import expect, ignored_now, ignored_there, let_go
from siding.git.restoring.obstacles import changed_since, obstacles, of_others
from siding.git.restoring.restore import (
    Left,
    Restoration,
    Why,
    listed,
    move_in,
    move_out,
    plan_restoration,
    restore,
)
from siding.git.restoring.staging import staged
from siding.git.roots import WorktreeRoot
from siding.git.snapshots.capture import Capture
from siding.git.snapshots.coverage import Coverage
from siding.git.snapshots.modes import Modes, State, mode_changes, modes_of, state_of
from siding.git.snapshots.patches import diff_trees
from siding.git.snapshots.room import place_for
from siding.git.snapshots.store import PEEKS, SnapshotStore
from siding.ids import Sha, TaskId
from siding.ledger.details.rollback import LeftAlone, RollbackDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.step import Step
from siding.tasks.task import Task

_NAMED = 5  # paths named in a message; lists show the others
_SECOND_NS = 1_000_000_000
ASIDE = "aside"  # the directory in a place in the trash that holds what was moved out of the way


class NeedsConsent(SidingError):
    """It can be done, but somebody has to say that it is meant: ``--force``, or yes to a question.

    `concerns` are the reasons, one sentence each.
    """

    code = "needs_consent"

    def __init__(self, concerns: Sequence[str], *, hint: str | None = None) -> None:
        self.concerns = tuple(concerns)
        super().__init__(
            "; ".join(concerns),
            hint=hint or "--force goes on all the same; --dry-run shows what it does",
        )


class InTheWay(SidingError):
    """Something that no snapshot holds stands where a file has to be written."""

    code = "in_the_way"


class Moving(SidingError):
    """Somebody changes the workspace while it is being restored."""

    code = "moving"


class Destination(NamedTuple):
    """Where to go, and how it is called. `coverage` is the report of that snapshot; None when
    there is none."""

    snapshot: Sha
    name: str
    coverage: Coverage | None


class Wish(NamedTuple):
    """How to go there."""

    paths: tuple[bytes, ...] = ()  # below the workspace's root; empty: everything
    hard: bool = False  # ignored files go into the trash
    force: bool = False  # incomplete snapshots are used, obstacles go into the trash
    bring_back: tuple[str, ...] = ()  # places in the trash whose files return


class Survey(NamedTuple):
    """What going there comes to."""

    destination: Destination
    wish: Wish
    plan: Restoration
    aside: tuple[bytes, ...]  # ignored files and directories that go into the trash
    blocked: tuple[bytes, ...]  # what stands in the way, and is in no snapshot
    concerns: tuple[str, ...]

    @property
    def nothing_to_do(self) -> bool:
        plan = self.plan
        return not (plan.writes or plan.deletes or plan.chmods or self.aside)


class Restored(NamedTuple):
    """What was done."""

    step: Step
    survey: Survey
    trash: Path | None  # where ignored files and obstacles went
    missed: tuple[bytes, ...]  # paths that are not as planned: somebody else wrote meanwhile
    came_back: tuple[bytes, ...]
    stays: tuple[bytes, ...]  # in the trash, because its old place is taken


class Restorer:
    """A recorder of a task whose lock is held, and the state that it saw last."""

    def __init__(self, project: Project, task: Task, hold: Hold) -> None:
        now = project.app.clock.now()
        self.since_ns = int(now.timestamp() * _SECOND_NS)
        self.project = project
        self.recorder = _Remembering.of(open_recorder(project, task, hold), hold)
        self.settled = self.recorder.settle()

    @property
    def seen(self) -> Capture:
        """The newest snapshot: the workspace as it was a moment ago."""
        assert self.recorder.seen is not None
        return self.recorder.seen

    def survey(self, destination: Destination, wish: Wish) -> Survey:
        """Return what going there comes to; `carry_out` does exactly that."""
        snapshots = self.recorder.snapshots
        seen = self.seen
        here = Here(snapshots.store, snapshots.root, seen.tree, seen.coverage, seen.modes)
        return survey(self.project, self.recorder.task.id, here, destination, wish)

    def carry_out(
        self, survey: Survey, told: RollbackDetail, *, even_incomplete: bool = False
    ) -> Restored:
        """Do it, as the step that `told` begins to describe.

        Raises NeedsConsent, InTheWay and Moving before anything is changed.
        """
        self._refuse(survey, even_incomplete=even_incomplete)
        trash = self._trash(survey)
        told = told._replace(
            restored=survey.destination.snapshot,
            paths=tuple(quote_path(path) for path in survey.wish.paths),
            trash=trash,
            brought_back=survey.wish.bring_back,
            left=tuple(LeftAlone(quote_path(e.path), e.why.value) for e in survey.plan.left),
        )
        intent = self.recorder.begin(Draft(told))
        came, stays = self._act(survey, trash)
        return self._finish(intent, survey, trash, (came, stays))

    def _refuse(self, survey: Survey, *, even_incomplete: bool) -> None:
        if survey.concerns and not (survey.wish.force or even_incomplete):
            raise NeedsConsent(survey.concerns)
        if survey.blocked and not survey.wish.force:
            raise InTheWay(
                f"{len(survey.blocked)} paths that are in no snapshot stand in the way: "
                + _some(survey.blocked),
                hint="--force moves them into the trash first; or move them elsewhere yourself",
            )
        snapshots = self.recorder.snapshots
        object_format = snapshots.store.repository.object_format
        changed = changed_since(snapshots.root, survey.plan, object_format, self.since_ns)
        if changed:
            raise Moving(
                f"the workspace is being changed by somebody else: {_some(changed)}",
                hint="nothing was done; end what works in there, then try again",
            )

    def _trash(self, survey: Survey) -> str | None:
        if survey.aside or survey.blocked:
            return fresh_trash(self.project, self.recorder.task.id)
        return None

    def _act(self, survey: Survey, trash: str | None) -> tuple[list[bytes], list[bytes]]:
        """Change the workspace. The contents are staged before the first change."""
        snapshots, task_id = self.recorder.snapshots, self.recorder.task.id
        store, root, plan = snapshots.store, snapshots.root, survey.plan
        layout = self.project.layout
        expect(store, task_id, plan.writes, keep_fds=snapshots.keep_fds)
        staging = staging_directory(self.project, task_id)
        with staged(store, root, plan.writes, staging, plan.modes) as contents:
            if trash is not None:
                going = sorted({*survey.aside, *survey.blocked})
                move_out(root, going, layout.root / trash / ASIDE)
            restore(root, plan, contents)
        ignored = [left.path for left in plan.left if left.why is Why.IGNORED]
        let_go(store, task_id, ignored, keep_fds=snapshots.keep_fds)
        came: list[bytes] = []
        stays: list[bytes] = []
        for place in survey.wish.bring_back:
            moved, left = move_in(root, layout.root / place / ASIDE)
            came += moved
            stays += left
        return came, stays

    def _finish(
        self,
        intent: Intent,
        survey: Survey,
        trash: str | None,
        back: tuple[list[bytes], list[bytes]],
    ) -> Restored:
        store = self.recorder.snapshots.store
        step = self.recorder.finish(intent, intent.draft.completed())
        wanted = state_of(store, survey.destination.snapshot)
        differ: set[bytes] = set()
        if self.seen.tree != store.read_commit(wanted.tree).tree:
            differ = {change.path for change in diff_trees(store, self.seen.tree, wanted.tree)}
        here = State(tree=self.seen.tree, modes=self.seen.modes)
        differ |= {change.path for change in mode_changes(store, here, wanted)}
        left = {each.path for each in survey.plan.left}
        missed = sorted(p for p in differ - left if is_selected(p, survey.wish.paths))
        return Restored(
            step=step,
            survey=survey,
            trash=None if trash is None else self.project.layout.root / trash,
            missed=tuple(missed),
            came_back=tuple(back[0]),
            stays=tuple(back[1]),
        )


class Here(NamedTuple):
    """Where the workspace is now: a tree that `store` can read, and what that does not hold."""

    store: SnapshotStore
    root: WorktreeRoot
    tree: Sha
    coverage: Coverage
    modes: Modes | None


def survey(
    project: Project, task_id: TaskId, here: Here, destination: Destination, wish: Wish
) -> Survey:
    """Return what going from here to the destination comes to; changes nothing."""
    store = here.store
    changes = diff_trees(store, here.tree, destination.snapshot)
    ignored: set[bytes] = set()
    if not wish.hard:  # else what is recorded here and ignored there goes: the snapshot has it
        own = place_for(store, PEEKS, project.app.random_bytes(8).hex())
        ignored = ignored_there(store, task_id, here.root, destination.snapshot, changes, place=own)
    for place in wish.bring_back:  # what returns takes its place
        ignored -= set(listed(project.layout.root / place / ASIDE))
    there = destination.coverage or Coverage()
    modes = modes_of(store, destination.snapshot)
    plan = plan_restoration(
        changes,
        unknown={skipped.path for skipped in (*here.coverage.skipped, *there.skipped)},
        ignored=ignored,
        paths=wish.paths,
        directories=there.empty_dirs,
        mode_changes=mode_changes(
            store,
            State(tree=here.tree, modes=here.modes),
            State(tree=destination.snapshot, modes=modes),
            changes=changes,
            empty_before=here.coverage.empty_dirs,
            empty_after=there.empty_dirs,
        ),
        modes=modes,
    )
    plan = _without_others(here.root, plan)
    aside: list[bytes] = []
    if wish.hard:
        written = {change.path for change in plan.writes}
        found = ignored_now(store, task_id, here.root)
        aside = [p for p in _limited(found, wish.paths) if p not in written]
    blocked = obstacles(here.root, plan, store.repository.object_format, leaving=aside)
    return Survey(
        destination=destination,
        wish=wish,
        plan=plan,
        aside=tuple(aside),
        blocked=tuple(blocked),
        concerns=tuple(_concerns(destination)),
    )


def _without_others(root: WorktreeRoot, plan: Restoration) -> Restoration:
    """Leave alone what only another user can change the permissions of."""
    theirs = set(of_others(root, plan))
    if not theirs:
        return plan
    left = (*plan.left, *(Left(path=path, why=Why.FOREIGN) for path in theirs))
    return plan._replace(
        left=tuple(sorted(left)),
        chmods=tuple(change for change in plan.chmods if change.path not in theirs),
    )


def staging_directory(project: Project, task_id: TaskId) -> Path:
    """Return where contents wait to be renamed into the workspace: on its file system."""
    return project.layout.root / "restoring" / task_id


class _Remembering(Recorder):
    """A recorder that keeps the last snapshot it took."""

    seen: Capture | None = None

    @classmethod
    def of(cls, recorder: Recorder, hold: Hold) -> "_Remembering":
        return cls(recorder.project, recorder.task, recorder.workspace, hold)

    def capture(self, number: int, kind: str) -> Capture:
        self.seen = super().capture(number, kind)
        return self.seen


def _concerns(destination: Destination) -> list[str]:
    """Return what is to be said about a snapshot that does not hold everything."""
    report = destination.coverage
    if report is None or report.complete:
        return []
    parts = []
    if skipped := report.skipped:
        named = ", ".join(f"{quote_path(s.path)} ({s.reason})" for s in skipped[:_NAMED])
        parts.append(f"it lacks {named}" + _and_more(skipped))
    if report.nested:
        named = ", ".join(quote_path(path) for path in report.nested[:_NAMED])
        parts.append(f"of the repositories in {named} only the files")
    if report.unstable:
        parts.append(f"{_some(report.unstable)} changed while it was taken")
    if report.foreign:
        parts.append(f"the owner of {_some(report.foreign)}, who is another user")
    if report.lacks_more:
        parts.append("its record does not say in what")
    return [f"the snapshot of {destination.name} is incomplete: " + "; ".join(parts)]


def _and_more(items: Sequence[object]) -> str:
    return f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""


def _limited(found: Sequence[bytes], paths: Sequence[bytes]) -> list[bytes]:
    """Return what of `found` lies at or below `paths`; of a whole directory, only the part."""
    if not paths:
        return list(found)
    limited = {path for path in found if is_selected(path, paths)}
    limited |= {wanted for wanted in paths if any(is_under(wanted, path) for path in found)}
    return sorted(limited)


def _some(paths: Sequence[bytes]) -> str:
    shown = ", ".join(quote_path(path) for path in paths[:_NAMED])
    return shown + _and_more(paths)
