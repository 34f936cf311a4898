"""Move a branch and its checkout together, as a step. An apply and its undo both do this.

git stages the new files, the branch moves, the files are exchanged. If anything fails before the
branch moves, nothing was changed. If the exchange fails, what it did is reversed, which needs
neither git nor room.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic

from siding.applying.content import Sources
from siding.ground.git.errors import CommandFailed, said_by
from siding.ground.git.paths import quote_path
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns
from siding.record.acts.skeleton import Act, Done, Ended, Result, Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.move_details import ApplyDetail
from siding.record.ledger.step import Step
from siding.record.moving import checkout as checkouts
from siding.record.moving.bench import Bench
from siding.record.moving.checkout import CheckoutGit
from siding.record.moving.model import UNCHANGED, CheckoutPlace, Move, Overlaps, RefusedMove, Trees
from siding.record.moving.move import overlaps, refuse_busy, refuse_overlaps, swap
from siding.record.moving.staged_checkout import discard, exchange, identities, stage
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


def carry_out(
    repository: Repository,
    user: UserSettings,
    move: Move,
    changes: Sequence[Change],
    *,
    reason: str,
    hooks: Sequence[str] = (),
    keep_fds: Sequence[int] = (),
) -> None:
    """Move the branch and its checkout from `old` to `new`, or leave both as they are.

    `hooks` are git settings that let the person's hooks run (`core.hooksPath=...`). If an exception
    in `UNCHANGED` is raised, nothing was changed. After any other one, and after a crash, call
    `recover`.
    """
    if move.checkout is None:
        swap(repository, move, reason=reason, hooks=hooks, keep_fds=keep_fds)
        return
    where = CheckoutGit(repository, user, move.checkout)
    _refuse_off(where, move, changes)
    lock = checkouts.take_lock(move.checkout, move.token)
    try:
        before = identities(move.checkout, changes)
        private = _ready(repository, user, move, move.checkout, changes)
        _stage(where, move, changes, private, before, keep_fds)
        if move.branch:
            swap(repository, move, reason=reason, hooks=hooks, keep_fds=keep_fds)
        _exchange(where, move, changes, reason=reason)
    except UNCHANGED:
        discard(move.displaced)
        checkouts.discard_index(move.checkout, move.token)
        lock.release()
        raise
    # Any other exception leaves the lock in place, as a crash does. `recover` removes it.
    if move.branch:
        checkouts.refresh_entries(where, private, changes)
        checkouts.put_in_place(move.checkout, private)
    checkouts.discard_index(move.checkout, move.token)
    lock.release()


def take_back(
    repository: Repository,
    user: UserSettings,
    move: Move,
    changes: Sequence[Change],
) -> None:
    """Restore files that a move without a branch wrote.

    Raises Overlapping if one of them was changed, staged or committed since.
    """
    from siding.record.moving.move_recovery import set_entries, unstaged_at

    assert move.checkout is not None
    where = CheckoutGit(repository, user, move.checkout)
    _refuse_off(where, move, changes)
    lock = checkouts.take_lock(move.checkout, move.token)
    try:
        refuse_busy(repository, move.checkout)
        before = identities(move.checkout, changes)
        kept = unstaged_at(where, move.token, changes)
        others = tuple(c.path for c in changes if c.path not in kept)
        refuse_overlaps(Overlaps(changed=others, unknown=()), move.checkout)
        private = checkouts.copy_index(move.checkout, move.token)
        set_entries(where, private, {c.path: (c.old_mode, c.old_sha) for c in changes})
        _stage(where, move, changes, private, before, ())
        _exchange(where, move, changes, reason="")
    except UNCHANGED:
        discard(move.displaced)
        checkouts.discard_index(move.checkout, move.token)
        lock.release()
        raise
    checkouts.discard_index(move.checkout, move.token)
    lock.release()


def _refuse_off(where: CheckoutGit, move: Move, changes: Sequence[Change]) -> None:
    """Raise DriverOff if git would write a file of the checkout without the filter it needs.

    The plan of an apply has asked already. An undo comes here without one.
    """
    if where.user.off_filters:
        from siding.applying.git.own_filters import changed_files, refuse_off

        refuse_off(
            where.repository.git,
            where.at(None),
            where.user,
            (move.old, move.new),
            changed_files(changes),
            scratch=checkouts.private_index(where.place, f"{move.token}-attributes"),
        )


def _ready(
    repository: Repository,
    user: UserSettings,
    move: Move,
    place: CheckoutPlace,
    changes: Sequence[Change],
) -> Path:
    """Return a copy of the index to work on. Raises an error of `UNCHANGED` if something is in the
    way.

    The caller holds the lock, so no other git command can start to change the checkout.
    """
    refuse_busy(repository, place)
    private = checkouts.copy_index(place, move.token)
    try:
        refuse_overlaps(overlaps(repository, user, place, changes, index=private), place)
    except CommandFailed as error:
        raise _refused(place, "could not be compared", error) from error
    return private


def _stage(
    where: CheckoutGit,
    move: Move,
    changes: Sequence[Change],
    private: Path,
    before: Mapping[bytes, str],
    keep_fds: Sequence[int],
) -> None:
    trees = Trees(old=move.old, new=move.new)
    try:
        stage(
            where,
            trees,
            changes,
            move.displaced,
            index=private,
            before=before,
            keep_fds=keep_fds,
        )
    except CommandFailed as error:
        raise _refused(where.place, "could not be changed", error) from error


def _exchange(where: CheckoutGit, move: Move, changes: Sequence[Change], *, reason: str) -> None:
    """Exchange the files. If that fails, reverse it, move the branch back and raise RefusedMove."""
    try:
        exchange(where.place, move.displaced, changes)
    except OSError as error:
        from siding.record.moving.move_recovery import reverse

        stays = reverse(where, move, reason=reason)
        but = f", but for {', '.join(map(quote_path, stays))}, saved meanwhile" if stays else ""
        raise RefusedMove(
            f"the files in {str(where.place.root)!r} could not be changed: {error}",
            hint=f"nothing was changed: the branch and the files are as they were{but}",
        ) from error


def _refused(place: CheckoutPlace, what: str, error: CommandFailed) -> RefusedMove:
    said = "; ".join(said_by(error.stderr)) or "git did not say why"
    return RefusedMove(
        f"the files in {str(place.root)!r} {what}: {said}",
        hint="nothing was changed: the branch and the files are as they were",
    )
