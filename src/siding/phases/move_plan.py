"""Plan a move between phases and carry it out. The caller holds the lock of the task's phases.

The order makes a move safe to interrupt: store the commit's objects (flushed), write the intent
(flushed), move the branch by compare-and-swap (flushed), write the status, remove the intent. The
branch decides: a move has happened if and only if its commit is on the branch. After an
interruption the next command that reads the phases finds the intent and finishes or drops it.
"""

from pathlib import Path

from siding.applying.content import LeftOut, Sources, bench_for, state_at, with_commits
from siding.applying.git.commits import NewCommit, RawCommit, person_who_commits, write_commit
from siding.applying.rolled_back_commits import described, gone_back
from siding.ground.errors import SidingError
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.errors import DamagedFile
from siding.phases.gates import GateClosed
from siding.record.ledger.left_behind import newest_clean
from siding.record.moving.model import UNCHANGED, CheckoutPlace, Move
from siding.record.moving.move import refuse_busy
from siding.record.moving.worktree_commits import advance, agree_index
from siding.record.phases.states import (
    PhaseMove,
    PhasePosition,
    Standing,
    move_phase,
    standing,
)
from siding.record.phases.store import (
    FlowStatus,
    HistoryEntry,
    PassedGate,
    PhaseIntent,
    PhaseStore,
    commit_message,
    moved,
    started,
)
from siding.record.place.phase_plan import Configured, configured
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.line_base import no_base
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.store import APPLIES, SnapshotStore
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task
from siding.record.unfinished.phases import REFLOG


class WrongBranch(SidingError):
    """The workspace has another branch or commit checked out than the task's branch."""

    code = "wrong_branch"


class PhaseRequest(NamedTuple):
    """The options of one move. `target` is a phase. `again` lets a start end the present pass."""

    move: PhaseMove
    summary: str
    target: str | None = None
    task: str | None = None
    again: bool = False
    wait: bool = False


class Crossing(NamedTuple):
    """Where the task is, where a move leads, and the phases of the pass that it is a move of."""

    there: FlowStatus | None
    plan: Configured
    names: tuple[str, ...]
    position: PhasePosition


class SeenFiles(NamedTuple):
    """The content of the workspace that the move commits; `store` holds its objects."""

    store: SnapshotStore
    tree: Sha
    coverage: Coverage


class PlannedMove(NamedTuple):
    """A move that is ready to be made: its commit is stored, and no ref names it yet.

    `left_out` are paths that no snapshot holds; the commit lacks them. `gone_back` are commits that
    the branch will no longer have, because a rollback went back from them.
    """

    intent: PhaseIntent
    step: Move
    left_out: tuple[LeftOut, ...]
    gone_back: tuple[RawCommit, ...]

    @property
    def entry(self) -> HistoryEntry:
        return self.intent.after.history[-1]


class MadeMove(NamedTuple):
    """A move that was made.

    `index_agrees`: the workspace's index was set to the new commit. `kept_by` is the error that
    kept that from being done, "" for none; the next command tries again.
    """

    index_agrees: bool
    kept_by: str


def crossing(project: Project, store: PhaseStore, request: PhaseRequest) -> Crossing:
    """Work out where a move leads; raises IllegalTransition."""
    there = _there(store, request)
    plan = configured(project)
    begins = request.move is PhaseMove.START
    at = None if there is None or (begins and request.again) else there.position
    names = plan.plan.names
    if there is not None and at is not None:
        own = plan.plan.names_from(at.phase, there.phases)
        if begins and standing(own, at) is Standing.LAST:
            at = None  # the new pass goes through the phases of the settings
        else:
            names = own
    return Crossing(there, plan, names, move_phase(names, at, request.move, request.target))


def _there(store: PhaseStore, request: PhaseRequest) -> FlowStatus | None:
    """Return the present pass. If it cannot be read and a new one starts, set the file aside."""
    try:
        return store.load()
    except DamagedFile:
        if not (request.again and request.move is PhaseMove.START):
            raise
        store.keep_damaged()
        return None


def entry_of(
    project: Project,
    request: PhaseRequest,
    to: PhasePosition,
    gates: tuple[PassedGate, ...],
    inside: str,
) -> HistoryEntry:
    """Return the history entry of a move; `inside` is the id of the step that makes it, or ""."""
    return HistoryEntry(
        timestamp=project.app.clock.now().astimezone().isoformat(timespec="seconds"),
        action=request.move.value,
        phase=to.phase,
        step=to.step,
        summary=request.summary,
        gates=gates,
        inside_step=inside,
    )


def workspace_of(project: Project, task: Task) -> Workspace:
    """Return the workspace, whose state is committed; raises NoWorkspace, BaseUnknown."""
    workspace = require_workspace(project, task)
    if not workspace.git_dir or not workspace.base_snapshot:
        raise no_base(task)
    return workspace


def plan_move(
    project: Project,
    task: Task,
    workspace: Workspace,
    crossed: Crossing,
    entry: HistoryEntry,
    seen: SeenFiles,
) -> PlannedMove:
    """Make the commit of a move, and return what is to be moved.

    Raises WrongBranch, CheckoutBusy, and the errors of making a commit.
    """
    place = CheckoutPlace(root=Path(workspace.path), git_dir=Path(workspace.git_dir))
    refuse_busy(project.repository, place)  # resetting the index would end an unfinished merge
    head = _head(project, task, workspace)
    made = _commit(project, task, workspace, entry, head, seen)
    step = Move(
        branch=task.branch,
        old=head,
        new=made.commit,
        checkout=place,
        token=project.app.random_bytes(8).hex(),
    )
    store = PhaseStore(project.task_layout(task.id).root)
    after = _after(project, store, crossed, entry._replace(git_commit=made.commit), task)
    there = crossed.there
    ends = there if there is not None and after.task_id != there.task_id else None
    intent = PhaseIntent(after, ends, step.branch, step.old, step.new, step.token)
    return PlannedMove(intent, step, made.left_out, made.gone_back)


def make_move(
    project: Project, store: PhaseStore, planned: PlannedMove, *, keep_fds: tuple[int, ...]
) -> MadeMove:
    """Move the branch, then record the move and set the workspace's index to the new commit.

    If an error of `git.applying.move.UNCHANGED` is raised, nothing was changed. After any other one
    the next command finishes the move or drops it.
    """
    store.begin(planned.intent)
    try:
        advance(
            project.repository,
            planned.step,
            reason=f"{REFLOG}: {planned.entry.action}",
            keep_fds=keep_fds,
        )
    except UNCHANGED:
        store.give_up()
        raise
    assert planned.step.checkout is not None
    try:
        agrees = agree_index(
            project.repository,
            project.user_settings,
            planned.step.checkout,
            planned.step,
            keep_fds=keep_fds,
        )
    except (SidingError, OSError) as error:
        store.record(planned.intent)  # the next command tries again
        return MadeMove(index_agrees=False, kept_by=str(error))
    store.finish(planned.intent)
    return MadeMove(index_agrees=agrees, kept_by="")


class _Commit(NamedTuple):
    commit: Sha
    left_out: tuple[LeftOut, ...]
    gone_back: tuple[RawCommit, ...]


def _commit(
    project: Project,
    task: Task,
    workspace: Workspace,
    entry: HistoryEntry,
    head: Sha,
    seen: SeenFiles,
) -> _Commit:
    """Commit the workspace as it was seen and store the objects.

    The parent is HEAD. If a rollback went back from commits in HEAD's history, the parent is the
    newest commit before them; otherwise pushing the branch would publish them.
    """
    person = person_who_commits(project.git, project.repository)
    applies = project.snapshots.root / APPLIES / project.app.random_bytes(8).hex()
    with bench_for(project, seen.store, applies) as bench:
        sources = Sources(project, task, workspace, bench, seen.coverage)
        found = gone_back(sources, [head])
        behind = found.behind(head)
        parent = Sha(newest_clean(found.graph, head, behind, workspace.base_commit))
        side = with_commits(sources, state_at(sources, seen.tree), head, gone_back=behind)
        new = NewCommit(tree=side.tree, parents=(parent,), message=commit_message(entry))
        commit = write_commit(bench, new, person, sign=False)
        bench.keep(commit, without=(head,))
        return _Commit(commit, side.left_out, described(bench, found, behind))


def _head(project: Project, task: Task, workspace: Workspace) -> Sha:
    head = project.repository.head(Path(workspace.git_dir))
    if head.branch != task.branch or head.sha is None:
        there = head.branch or (head.sha or "nothing")[:12]
        raise WrongBranch(
            f"the workspace has {there!r} checked out, and the task's branch is {task.branch!r}",
            hint=f"git switch {task.branch} in the workspace; nothing was changed",
        )
    return head.sha


def _after(
    project: Project, store: PhaseStore, crossed: Crossing, entry: HistoryEntry, task: Task
) -> FlowStatus:
    """Return the status after a move: a new pass if it starts one."""
    there, names = crossed.there, crossed.names
    if there is not None and entry.action != PhaseMove.START:
        return moved(there, entry, phases=names)
    pass_id = _new_pass_id(project, store, there)
    return started(entry, pass_id=pass_id, task=task.id, phases=names)


def _new_pass_id(project: Project, store: PhaseStore, there: FlowStatus | None) -> str:
    """Return a new id for a pass: the local time, ``2026-11-22T14-08-31``, with ``-2`` and so on
    appended if an earlier pass has it."""
    moment = project.app.clock.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    taken = store.earlier_ids() | ({there.task_id} if there else set())
    name, number = moment, 2
    while name in taken:
        name, number = f"{moment}-{number}", number + 1
    return name


def require_same(checked_tree: Sha | None, seen: SeenFiles) -> None:
    """Raise GateClosed if the workspace is no longer what the commands of its gates saw."""
    if checked_tree not in (None, seen.tree):
        raise GateClosed("the workspace changed after its gates ran", hint="try again")
