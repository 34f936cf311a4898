"""Restore a workspace to another state, as a step. Rollback, undo, redo and merges use this.

Before the first file is changed, the present state is in a snapshot, the intent is on disk and the
contents to write are staged.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.git.errors import SnapshotDamaged, SnapshotFailed
from siding.ground.git.paths import is_selected, quote_path
from siding.ground.ids import Sha, step_id
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import Paused
from siding.record.acts.skeleton import Act, Done, Ended, Result, Work
from siding.record.files.displaced import DISPLACED, KEPT, KeptFile, keep_unrecorded, names_of
from siding.record.files.index_entries import expect, let_go
from siding.record.files.obstacles import CannotMove, changed_since
from siding.record.files.plan import Why, not_as_planned
from siding.record.files.restore import restore
from siding.record.files.staging import staged
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.kinds import ALL_PARTS
from siding.record.ledger.move_details import LeftAlone, RollbackDetail
from siding.record.ledger.step import Step
from siding.record.moving.model import UNCHANGED
from siding.record.place.project import Project
from siding.record.place.trash import fresh_trash
from siding.record.recording.recorder import Recorder
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.restoring.survey import (
    ASIDE,
    Destination,
    Here,
    RestoreRequest,
    Survey,
    cannot_move,
    leave_out,
    place_of,
    plan_git,
    refuse,
    refuse_changing,
    state_at,
    survey,
)
from siding.record.snapshots.expected_tree import ExpectedTree
from siding.record.snapshots.git_state import GitState
from siding.record.snapshots.mode_changes import TreeState, link_changes, mode_changes, state_of
from siding.record.snapshots.patches import diff_trees
from siding.record.snapshots.store import remove_tree
from siding.record.unfinished.displaced_files import spare_room

if TYPE_CHECKING:
    from siding.record.restoring.git_plan import GitRestoration

_LARGEST_DOCUMENT = 16 << 20  # bytes


class Going(NamedTuple):
    """The state to restore, how to restore it, and the detail of the step that records it.

    With `even_incomplete` an incomplete snapshot needs no consent: the paths that it lacks were
    left alone when the workspace went away from that state, and are left alone again.
    """

    destination: Destination
    request: RestoreRequest
    detail: RollbackDetail
    even_incomplete: bool = False


class RestorePlan(NamedTuple):
    """What a restoration will do, and the detail of its step.

    `place` is a new place in the project's trash, relative to the project.
    """

    survey: Survey
    detail: RollbackDetail
    place: str


class MovedFiles(NamedTuple):
    """The paths moved back from the trash, and those that stay because their place is taken.

    `kept` are versions that others wrote during the restoration.
    """

    came_back: tuple[bytes, ...]
    stays: tuple[bytes, ...]
    kept: tuple[KeptFile, ...]


class Restored(NamedTuple):
    """The result of a restoration."""

    step: Step
    survey: Survey
    trash: Path | None  # where ignored files and obstacles went
    missed: tuple[bytes, ...]  # paths that differ from the plan: another process wrote meanwhile
    came_back: tuple[bytes, ...]
    stays: tuple[bytes, ...]  # in the trash, because its old place is taken
    kept: tuple[KeptFile, ...]  # versions that another process wrote meanwhile
    kept_in: Path
    paused: Paused = Paused()  # the runs that were paused meanwhile


def written_meanwhile(count: int) -> str:
    """Return the beginning of a sentence about files that others wrote; it ends with a path."""
    files, versions = (
        ("1 file", "its version is") if count == 1 else (f"{count} files", "their versions are")
    )
    return f"{files} written during this by another program: {versions} in"


class RestoreAct(Act[RestorePlan, MovedFiles, Result]):
    """Restore the workspace to another state. A subclass says which one, in `going`."""

    unchanged = (*UNCHANGED, Refusal, SnapshotDamaged, SnapshotFailed)

    @abstractmethod
    def going(self, work: Work) -> Going:
        """Return the state to restore. Raise an error to refuse."""

    @abstractmethod
    def restored(self, work: Work, restored: Restored) -> Result:
        """Return the result for the caller of `perform`."""

    def git_part(self, work: Work, now: GitState, snapshot: Sha) -> "GitRestoration | None":
        """Return what else than files has to change; None if nothing has to."""
        return plan_git(work.project, work.recorder.workspace, now, snapshot)

    def plan(self, work: Work) -> RestorePlan:
        """Return what will be done. Raises Refusal."""
        going = self.going(work)
        recorder = work.recorder
        if going.request.takes_all:
            refuse_git_of_its_own(work)
        seen, snapshots = recorder.seen, recorder.snapshots
        here = Here(snapshots.store, snapshots.root, seen.tree, seen.coverage, seen.modes)
        found = survey(work.project, work.task.id, here, going.destination, going.request)
        refuse(found, even_incomplete=going.even_incomplete)
        object_format = snapshots.store.repository.object_format
        refuse_changing(changed_since(snapshots.root, found.plan, object_format, work.since_ns))
        if going.request.takes_all:
            now = state_at(work.project, recorder.workspace, seen.snapshot)
            git = self.git_part(work, now, going.destination.snapshot)
            if found.off:
                from siding.record.restoring.git_plan import stay

                git = git or stay(snapshots.store, recorder.workspace.branch, now)
                git = git._replace(off=tuple(change.path for change in found.off))
            found = found._replace(git=git)
        place = fresh_trash(work.project.app, work.task.id)
        detail = going.detail._replace(
            restored=going.destination.snapshot,
            paths=tuple(quote_path(path) for path in going.request.paths),
            trash=place if found.aside or found.blocked else None,
            displaced=place if found.plan.writes or found.plan.deletes else "",
            brought_back=going.request.bring_back,
            left=tuple(LeftAlone(quote_path(e.path), e.why.value) for e in found.plan.left),
            parts=ALL_PARTS if going.request.takes_all else "",
            at_work=work.pause.paused.unquiet,
        )
        return RestorePlan(found, detail, place)

    def draft(self, work: Work, plan: RestorePlan) -> Draft | None:
        return Draft(plan.detail)

    def carry_out(self, work: Work, plan: RestorePlan, intent: Intent) -> Ended[MovedFiles]:
        """Restore all parts. All contents are staged before the first file is changed."""
        project, task_id = work.project, work.task.id
        snapshots, found = work.recorder.snapshots, plan.survey
        store, root, changes = snapshots.store, snapshots.root, found.plan
        home, place = project.layout.root, project.layout.root / plan.place
        remove_tree(home / "restoring" / task_id)  # contents staged by an earlier version
        expect(store, task_id, (*changes.writes, *found.off), keep_fds=snapshots.keep_fds)
        with (
            staged(store, root, changes, place / DISPLACED) as contents,
            sandbox_following(work, found.git),
            restoring_state(work, found.git, token=intent.act, reason=self.what),
        ):
            if going := sorted({*found.aside, *found.blocked}):
                from siding.record.files.aside import move_out

                move_out(root, going, place / ASIDE)
            try:
                restore(root, changes, contents, takes_back=True)
            except CannotMove as error:
                from siding.record.files.aside import move_in

                move_in(root, place / ASIDE)
                raise cannot_move([error.stuck]) from error
        ignored = [left.path for left in changes.left if left.why is Why.IGNORED]
        leave_out(project, store, task_id, found.off, snapshots.keep_fds)
        let_go(store, task_id, ignored, keep_fds=snapshots.keep_fds)
        came: list[bytes] = []
        stays: list[bytes] = []
        for before in found.request.bring_back:
            from siding.record.files.aside import move_in

            moved, left = move_in(root, home / before / ASIDE)
            came += moved
            stays += left
        kept = keep_unrecorded(place / DISPLACED, store.repository.object_format)
        spare_room(project, place / DISPLACED)
        if not found.off:  # all that is new there was read when it was staged
            there = store.read_commit(found.destination.snapshot).tree
            snapshots.expected = ExpectedTree(work.recorder.seen.tree, there, found.differ)
        draft = _told(intent.draft.completed(), plan, place, kept)
        return Ended(intent, draft, MovedFiles(tuple(came), tuple(stays), tuple(kept)))

    def result(self, work: Work, plan: RestorePlan, done: Done[MovedFiles] | None) -> Result:
        assert done is not None
        home, moved = work.project.layout.root, done.outcome
        return self.restored(
            work,
            Restored(
                step=done.step,
                survey=plan.survey,
                trash=None if plan.detail.trash is None else home / plan.place,
                missed=_missed(work.recorder, plan.survey),
                came_back=moved.came_back,
                stays=moved.stays,
                kept=moved.kept,
                kept_in=home / plan.place / DISPLACED / KEPT,
                paused=work.pause.paused,
            ),
        )


def _told(draft: Draft, plan: RestorePlan, place: Path, kept: Sequence[KeptFile]) -> Draft:
    """Return the draft of the step, now that it is known what was displaced."""
    detail = draft.as_rollback
    if detail is None:  # the first step of a task from another's state
        return draft
    displaced = plan.place if (place / DISPLACED).is_dir() else ""
    return draft._replace(
        detail=detail._replace(displaced=displaced, kept=names_of(kept, plan.place))
    )


def _missed(recorder: Recorder, found: Survey) -> tuple[bytes, ...]:
    """Return the paths that differ from the plan because another process wrote meanwhile."""
    store, seen = recorder.snapshots.store, recorder.seen
    wanted = state_of(store, found.destination.snapshot)
    differ: set[bytes] = set()
    if seen.tree != store.read_commit(wanted.tree).tree:
        differ = {change.path for change in diff_trees(store, seen.tree, wanted.tree)}
    here = TreeState(tree=seen.tree, modes=seen.modes)
    differ |= {change.path for change in mode_changes(store, here, wanted)}
    differ |= link_changes(here.modes, wanted.modes).keys()
    differ |= not_as_planned(recorder.snapshots.root, found.plan)
    left = {each.path for each in found.plan.left}
    return tuple(sorted(p for p in differ - left if is_selected(p, found.request.paths)))


def rollback_to(message: str, *, step: int | None, hard: bool = False) -> RollbackDetail:
    """Return the detail of a rollback to the state after `step`; None is the base."""
    return RollbackDetail(
        target="base" if step is None else "step",
        target_step=None if step is None else step_id(step),
        message=message,
        hard=hard,
    )


def refuse_git_of_its_own(work: Work) -> None:
    """Refuse to go anywhere while the run's git directory is not as the recorded state has it."""
    recorder = work.recorder
    if not recorder.layout.sandbox_lock.exists():
        return
    from siding.record.unfinished.sandbox_commits import locks_of_living

    locks = locks_of_living(recorder.layout)
    why = [*recorder.not_handed_over, *(f"git holds {lock}" for lock in locks)]
    if why:
        raise Refusal(Reason.GIT_OF_ITS_OWN, task=work.task.id, why="; ".join(why))


@contextmanager
def sandbox_following(work: Work, plan: "GitRestoration | None") -> Iterator[None]:
    """After the block, bring the run's git directory to where the workspace's is."""
    layout = work.recorder.layout
    if plan is None or not layout.sandbox_lock.exists():
        yield
        return
    from siding.record.files.small_files import plan_small_files
    from siding.record.quarantine.living import follow, will_follow
    from siding.record.unfinished.sandbox_commits import living_quarantine

    if living_quarantine(layout) is None:
        yield
        return
    present, wanted = plan.present.files_in_sandbox, plan.wanted.files_in_sandbox
    files = plan_small_files(work.project.snapshots, present, wanted)
    head = plan.then.head or "" if plan.branch is None else f"ref: refs/heads/{plan.branch}"
    root = layout.sandbox_dir
    will_follow(root, work.project.repository, head, files.written, files.removed)
    try:
        yield
    except BaseException:
        follow(root, small_files=False)
        raise
    follow(root)


@contextmanager
def restoring_state(
    work: Work, plan: "GitRestoration | None", *, token: str, reason: str
) -> Iterator[None]:
    """Move HEAD and the task's branch, then let the block restore the files, then do the rest.

    An error in `RestoreAct.unchanged` is raised before anything was changed.
    """
    if plan is None:
        yield
        return
    from siding.record.restoring.git_restore import GitWork, restoring_git

    project, snapshots = work.project, work.recorder.snapshots
    documents = _documents(project, plan)
    carrying = GitWork(
        repository=project.repository,
        store=project.snapshots,
        place=place_of(work.recorder.workspace),
        token=token,
        reason=f"siding: {reason}",
        keep_fds=snapshots.keep_fds,
    )
    with ExitStack() as stack:
        if documents is not None:
            from siding.record.unfinished.phases import phase_lock

            stack.enter_context(phase_lock(project, work.task, reason))
        with restoring_git(carrying, plan, lambda: snapshots.is_in_state(plan.now)):
            yield
            if documents is not None:
                from siding.record.phases.documents import put_documents

                put_documents(work.recorder.layout.root, documents)


def _documents(project: Project, plan: "GitRestoration") -> dict[str, bytes] | None:
    """Return the documents to write; None if they stay as they are."""
    if plan.present.documents == plan.wanted.documents:
        return None
    found: dict[str, bytes] = {}
    for name, sha in plan.wanted.documents.items():
        data = project.snapshots.read_blob(sha, _LARGEST_DOCUMENT)
        if data is None:
            raise SnapshotDamaged(f"{name} of that state is lost")
        found[name] = data
    return found
