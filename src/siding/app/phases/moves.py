"""Move a task through its phases. Each move is a commit on the task's branch.

The order makes a move safe to interrupt: check the gates, store the commit's objects (flushed),
write the intent (flushed), move the branch by compare-and-swap (flushed), write the status, remove
the intent. The branch decides: a move has happened if and only if its commit is on the branch.
After an interruption the next command that reads the phases finds the intent and finishes or drops
it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from siding.app.applying.content import LeftOut, Sources, bench_for, state_at, with_commits
from siding.app.applying.rolled_back_commits import described, gone_back
from siding.app.life.recovery import recover_cut_off
from siding.app.phases.gates import GateClosed, Leaving, as_step, pass_gates, within_step
from siding.app.place.events import PhaseMoved
from siding.app.place.locking import Hold, holding_task
from siding.app.place.phase_plan import Configured, configured
from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.app.place.task_workspace import require_workspace
from siding.app.recording.calling_step import calling_steps
from siding.app.recording.difference import no_base
from siding.app.recording.opening import open_recorder
from siding.app.recording.snapshots import TaskSnapshots
from siding.app.unfinished.phases import REFLOG, finish_cut_off, phase_lock, settle_cut_off
from siding.errors import SidingError, UsageError
from siding.git.applying.checkout import CheckoutPlace
from siding.git.applying.commits import (
    NewCommit,
    Person,
    RawCommit,
    person_who_commits,
    write_commit,
)
from siding.git.applying.move import Move, refuse_busy
from siding.git.applying.worktree_commits import advance, agree_index
from siding.git.paths import quote_path
from siding.git.snapshots.store import APPLIES
from siding.ids import Sha
from siding.ledger.intents import Intents
from siding.ledger.left_behind import newest_clean
from siding.phases.states import PhaseMove, PhasePosition, move_phase
from siding.phases.status import (
    FlowStatus,
    HistoryEntry,
    PassedGate,
    commit_message,
    moved,
    started,
)
from siding.phases.store import PhaseIntent, PhaseStore
from siding.storage.errors import DamagedFile
from siding.storage.locks import FileLock
from siding.tasks.registry import Workspace
from siding.tasks.states import TaskState
from siding.tasks.task import Task

LONGEST_SUMMARY = 4000  # characters


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


class MovedPhase(NamedTuple):
    """The result of a move. `left_out` are paths that no snapshot holds; the commit lacks them.

    `index_agrees`: the workspace's index was set to the new commit. It is False if another git held
    the index or an error occurred.
    """

    task: Task
    status: FlowStatus
    entry: HistoryEntry
    left_out: tuple[str, ...]
    index_agrees: bool
    complete: bool = True  # False: the step or the index failed; the next command completes them
    gone_back: tuple[RawCommit, ...] = ()  # commits that the branch no longer has: gone back from


def move(project: Project, request: PhaseRequest) -> MovedPhase:
    """Move the task: check the gates, make the commit, record it.

    Raises IllegalTransition, GateClosed, and the errors of making a commit. After these the task is
    in the phase it was in.
    """
    summary = _checked(request.summary)
    recover_cut_off(project)
    task = select(project, request.task)
    if task.status is TaskState.CLOSED:
        raise UsageError(f"task {task.name!r} is closed", hint="`siding task reopen` opens it")
    inside = _calling_step(project, task)
    if inside and request.move is PhaseMove.START:
        _refuse_start_behind_gate(project, request.target)
    checked = _gates_before(project, task, request)
    with _holding(project, task, f"phase {request.move.value}", wait=request.wait) as held:
        store = PhaseStore(project.task_layout(task.id).root)
        settle_cut_off(project, task, store)
        there, plan, position = _planned(project, store, request)
        workspace = _workspace(project, task)
        if checked is not None and checked.there != there:
            raise GateClosed("the task was moved while its gates ran", hint="try again")
        gates = () if checked is None else checked.gates
        if there is not None and request.move is PhaseMove.NEXT_PART and held.task is None:
            leaving = Leaving(project, task, workspace, there)
            gates = pass_gates(leaving, plan, within_step(leaving))
        entry = HistoryEntry(
            timestamp=_now(project),
            action=request.move.value,
            phase=position.phase,
            step=position.step,
            summary=summary,
            gates=gates,
            inside_step=inside,
        )
        wanted = _Wanted(entry, there, plan.plan.names, checked.tree if checked else None)
        done = _commit(project, task, workspace, store, wanted, held)
        _emit(project, done)
        if held.task is not None:  # inside a step, the step records it
            complete = _record(project, task, held.task, entry) and done.complete
            return done._replace(complete=complete)
    return done


def _record(project: Project, task: Task, hold: Hold, entry: HistoryEntry) -> bool:
    """Record the phase commit as a step. On failure return False; the next command's `settle`
    records it."""
    try:
        open_recorder(project, task, hold).settle(commit_message(entry).partition("\n")[0])
    except (SidingError, OSError):
        return False
    return True


class _Checked(NamedTuple):
    """Gates that held. They are checked before any lock is taken: their commands are steps, which
    take the task's lock themselves.

    `tree` is the workspace's tree after the last command, None if no gate was a command.
    """

    there: FlowStatus
    gates: tuple[PassedGate, ...]
    tree: Sha | None


def _gates_before(project: Project, task: Task, request: PhaseRequest) -> _Checked | None:
    if request.move is not PhaseMove.NEXT_PART or _inside_its_step(project, task):
        return None
    finish_cut_off(project, task)
    store = PhaseStore(project.task_layout(task.id).root)
    there, plan, _position = _planned(project, store, request)
    if there is None:
        return None
    leaving = Leaving(project, task, _workspace(project, task), there)
    gates = pass_gates(leaving, plan, as_step(leaving))
    last = project.ledger(task.id).last() if any(each.step_id for each in gates) else None
    tree = None
    if last is not None and last.snapshot:
        tree = project.snapshots.read_commit(Sha(last.snapshot)).tree
    return _Checked(there=there, gates=gates, tree=tree)


def _planned(
    project: Project, store: PhaseStore, request: PhaseRequest
) -> tuple[FlowStatus | None, Configured, PhasePosition]:
    """Return where the task is, the plan, and where the move leads; raises IllegalTransition."""
    there = _there(store, request)
    plan = configured(project)
    at = None if there is None or request.again else there.position
    return there, plan, move_phase(plan.plan.names, at, request.move, request.target)


def _there(store: PhaseStore, request: PhaseRequest) -> FlowStatus | None:
    """Return the present pass. If it cannot be read and a new one starts, set the file aside."""
    try:
        return store.load()
    except DamagedFile:
        if not (request.again and request.move is PhaseMove.START):
            raise
        store.keep_damaged()
        return None


class _Wanted(NamedTuple):
    entry: HistoryEntry
    there: FlowStatus | None
    phases: tuple[str, ...]
    tree: Sha | None  # what the gates saw of the workspace

    def after(self, commit: Sha, pass_id: str, task: str) -> FlowStatus:
        entry = self.entry._replace(git_commit=commit)
        if self.there is None or entry.action == PhaseMove.START:
            return started(entry, pass_id=pass_id, task=task, phases=self.phases)
        return moved(self.there, entry, phases=self.phases)


class _Held(NamedTuple):
    phases: FileLock
    task: Hold | None  # None inside the task's own step, which holds the task's lock


def _commit(
    project: Project,
    task: Task,
    workspace: Workspace,
    store: PhaseStore,
    wanted: _Wanted,
    held: _Held,
) -> MovedPhase:
    place = CheckoutPlace(root=Path(workspace.path), git_dir=Path(workspace.git_dir))
    refuse_busy(project.repository, place)  # resetting the index would end an unfinished merge
    head = _head(project, task, workspace)
    person = person_who_commits(project.git, project.repository)
    made = _made(project, task, workspace, wanted, head, person)
    if made.gone_back and held.task is not None:
        # The branch leaves its old tip. Settling copies it into the snapshot store, for an undo.
        open_recorder(project, task, held.task).settle()
    step = Move(
        branch=task.branch,
        old=head,
        new=made.commit,
        checkout=place,
        token=project.app.random_bytes(8).hex(),
    )
    after = wanted.after(made.commit, _pass_id(project, store, wanted), task.id)
    ends = wanted.there if after.task_id != (wanted.there and wanted.there.task_id) else None
    intent = PhaseIntent(after, ends, step.branch, step.old, step.new, step.token)
    store.begin(intent)
    try:
        advance(
            project.repository,
            step,
            reason=f"{REFLOG}: {wanted.entry.action}",
            keep_fds=(held.phases.fd,),
        )
    except SidingError:
        store.give_up()
        raise
    complete = True
    try:
        agrees = agree_index(
            project.repository, project.user_settings, place, step, keep_fds=(held.phases.fd,)
        )
    except (SidingError, OSError):
        agrees, complete = False, False
        store.record(intent)  # the next command tries again
    else:
        store.finish(intent)
    return MovedPhase(
        task=task,
        status=after,
        entry=after.history[-1],
        left_out=tuple(f"{quote_path(each.path)}: {each.why}" for each in made.left_out),
        index_agrees=agrees,
        complete=complete,
        gone_back=made.gone_back,
    )


class _Made(NamedTuple):
    commit: Sha
    left_out: tuple[LeftOut, ...]
    gone_back: tuple[RawCommit, ...]


def _made(
    project: Project, task: Task, workspace: Workspace, wanted: _Wanted, head: Sha, person: Person
) -> _Made:
    """Commit the workspace as it is now and store the objects. No ref names the commit yet.

    Its parent is HEAD. If a rollback went back from commits in HEAD's history, the parent is the
    newest commit before them; otherwise pushing the branch would publish them.
    """
    applies = project.snapshots.root / APPLIES / project.app.random_bytes(8).hex()
    with (
        TaskSnapshots(project, workspace).look() as seen,
        bench_for(project, seen.store, applies) as bench,
    ):
        if wanted.tree not in (None, seen.tree):
            raise GateClosed("the workspace changed after its gates ran", hint="try again")
        sources = Sources(project, task, workspace, bench, seen.coverage)
        found = gone_back(sources, [head])
        behind = found.behind(head)
        parent = Sha(newest_clean(found.graph, head, behind, workspace.base_commit))
        side = with_commits(sources, state_at(sources, seen.tree), head, gone_back=behind)
        new = NewCommit(tree=side.tree, parents=(parent,), message=commit_message(wanted.entry))
        commit = write_commit(bench, new, person, sign=False)
        bench.keep(commit, without=(head,))
        return _Made(commit, side.left_out, described(bench, found, behind))


def _head(project: Project, task: Task, workspace: Workspace) -> Sha:
    head = project.repository.head(Path(workspace.git_dir))
    if head.branch != task.branch or head.sha is None:
        there = head.branch or (head.sha or "nothing")[:12]
        raise WrongBranch(
            f"the workspace has {there!r} checked out, and the task's branch is {task.branch!r}",
            hint=f"git switch {task.branch} in the workspace; nothing was changed",
        )
    return head.sha


def _workspace(project: Project, task: Task) -> Workspace:
    workspace = require_workspace(project, task)
    if not workspace.git_dir or not workspace.base_snapshot:
        raise no_base(task)
    return workspace


@contextmanager
def _holding(project: Project, task: Task, what: str, *, wait: bool) -> Iterator[_Held]:
    """Hold the lock of the task's phases, and the task's lock unless the running step has it."""
    if _inside_its_step(project, task):
        with phase_lock(project, task, what) as lock:
            yield _Held(lock, None)
        return
    with (
        holding_task(project, task.id, what, wait=wait) as task_hold,
        phase_lock(project, task, what) as lock,
    ):
        yield _Held(lock, task_hold)


def _inside_its_step(project: Project, task: Task) -> bool:
    """Tell whether a running step of the task started this command. It holds the task's lock."""
    tokens = project.app.env.get("SIDING_STEP_TOKEN", "").split(":")  # a step in a step has two
    begun = Intents(project.task_layout(task.id)).all()
    return any(bool(intent.token) and intent.token in tokens for intent in begun)


def _calling_step(project: Project, task: Task) -> str:
    """Return the id of the step that started this command, with its task if that is another one."""
    found = calling_steps(project)
    own = [each.step_id for each in found if each.task_id == task.id]
    return own[0] if own else str(found[0]) if found else ""


def _refuse_start_behind_gate(project: Project, target: str | None) -> None:
    """Raise GateClosed if phases before `target` have gates, which a new pass would skip."""
    plan = configured(project).plan
    if target not in plan.names:
        return  # the move itself says so
    before = plan.names[: plan.names.index(target)]
    gated = next((phase for phase in before if plan.gates.get(phase)), None)
    if gated is not None:
        raise GateClosed(
            f"inside a step a pass cannot begin in {target!r}: phase {gated!r} before it has gates",
            hint=f"begin in {gated!r} or before it, or let a person begin",
        )


def _pass_id(project: Project, store: PhaseStore, wanted: _Wanted) -> str:
    """Return a new id for a pass: the local time, ``2026-11-22T14-08-31``, with ``-2`` and so on
    appended if an earlier pass has it."""
    moment = project.app.clock.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    taken = store.earlier_ids()
    taken |= {wanted.there.task_id} if wanted.there else set()
    name, number = moment, 2
    while name in taken:
        name, number = f"{moment}-{number}", number + 1
    return name


def _checked(summary: str) -> str:
    text = summary.strip().replace("\r\n", "\n")
    if not text:
        raise UsageError("the summary is blank", hint="say in a few words what was done, or why")
    if len(text) > LONGEST_SUMMARY or "\0" in text:
        raise UsageError(
            f"the summary has {len(text)} characters", hint=f"{LONGEST_SUMMARY} is the most"
        )
    return text


def _emit(project: Project, done: MovedPhase) -> None:
    entry = done.entry
    project.events.emit(
        PhaseMoved(done.task, entry.action, entry.phase, entry.step, entry.git_commit)
    )


def _now(project: Project) -> str:
    return project.app.clock.now().astimezone().isoformat(timespec="seconds")
