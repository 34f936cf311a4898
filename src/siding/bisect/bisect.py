"""Find the step, or the prompt, after which something does not hold any more.

Each look is at a fork of the state: the task's workspace is not touched, and runs in it go on. A
check runs in the fork as every run does, with policy, sandbox and recorded output. What is known is
on disk after each look; the same words go on from there after a kill.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.bisect.search import Verdict, next_look, suspects
from siding.bisect.states import Cause, Range, State, cause_of, states_of
from siding.bisect.stopper import Stopper
from siding.bisect.store import Look, Search, read_search, write_search
from siding.forks.forks import Fork, ForkRequest, drop, forked, reopened
from siding.forks.parentage import forks_of
from siding.forks.state import recorded
from siding.ground.errors import SidingError, UsageError
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Ending
from siding.ground.process.requests import Requests
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.guard.ruling import Asker
from siding.record.acts.skeleton import perform
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.freed import SnapshotFreed
from siding.record.tasks.task import Task, WorkspaceState
from siding.running.act import RunAct
from siding.running.request import RunRequest, RunResult, Terminal
from siding.running.run import StdinPlan
from siding.sandbox.request import SandboxRequest

CANNOT_JUDGE = 125  # as with `git bisect run`
ORIGIN = "SIDING_ORIGIN"  # the task's own workspace: installed dependencies are only there


class BisectBusy(SidingError):
    """Another process searches in this task."""

    code = "bisect_busy"


class CheckNotRun(SidingError):
    """The check was not started, or was cut off: it says nothing about the state."""

    code = "check_not_run"


class BisectRequest(NamedTuple):
    """What to search for. `check` "" is a person's judgement. `anew` forgets an unfinished one."""

    check: str = ""
    task: str | None = None
    wanted: Range = Range()
    timeout_s: float | None = None
    anew: bool = False


class Answer(NamedTuple):
    """What a search came to. `holds` and `fails` are the states that it lies between.

    Without `holds` it fails in the oldest state already, without `fails` it holds in all. `cause`
    is known if the two are neighbours.
    """

    holds: State | None
    fails: State | None
    cause: Cause | None


class Bisection:
    """A search that is under way. Get one from `bisection`."""

    def __init__(self, project: Project, task: Task, request: BisectRequest, search: Search):
        self.project = project
        self.task = task
        self.search = search
        self._request = request
        self._path = project.task_layout(task.id).bisect_json

    def next(self) -> int | None:
        """Return the place of the state to look at next; None when there is nothing to learn."""
        return next_look(len(self.search.states), self.search.verdicts)

    @contextmanager
    def opened(self, at: int) -> Iterator[Fork]:
        """Yield a fork of a state; its workspace is given back after the block.

        Raises SnapshotFreed and SnapshotDamaged.
        """
        state = self.search.states[at]
        origin = recorded(self.project, self.task, state.step)
        request = ForkRequest(group=self.search.group, call=f"after {state.step}")
        with forked(self.project, origin, request) as fork:
            try:
                yield fork
            finally:
                drop(self.project, fork)

    def check(self, at: int, ask: Asker | None, stopper: Stopper | None = None) -> Look:
        """Run the check in a state, and keep what came of it.

        Raises CheckNotRun if it was not run to its end, SearchStopped if `stopper` has ended it,
        and what a run raises.
        """
        try:
            with self.opened(at) as fork:
                if stopper is None:
                    look = _judged(at, fork, self._run(fork, ask, None))
                else:
                    with stopper.checking() as requests:
                        look = _judged(at, fork, self._run(fork, ask, requests))
        except (SnapshotFreed, SnapshotDamaged) as error:
            look = Look(at, Verdict.SKIPPED, why=error.message)
        return self.keep(look)

    def keep(self, look: Look) -> Look:
        """Write down what came of a look."""
        self.search = self.search._replace(looks=(*self.search.looks, look))
        write_search(self._path, self.search)
        return look

    def end(self) -> Answer:
        """Return the answer, or how far one gets; another search of these words begins anew."""
        states = self.search.states
        left = suspects(len(states), self.search.verdicts)
        self.search = self.search._replace(ended=True)
        write_search(self._path, self.search)
        holds = states[left.holds] if left.holds >= 0 else None
        fails = states[left.fails] if left.fails < len(states) else None
        is_step = left.is_answer and holds is not None and fails is not None
        cause = cause_of(self.project, self.task, fails) if is_step and fails else None
        return Answer(holds, fails, cause)

    def _run(self, fork: Fork, ask: Asker | None, requests: Requests | None) -> RunResult:
        origin = require_workspace(self.project, self.task).path
        request = RunRequest(
            argv=("/bin/sh", "-c", self._request.check),
            task=fork.id,
            timeout_s=self._request.timeout_s,
            env={ORIGIN: origin},
            leave="end",
            sandbox=SandboxRequest(read=(origin,)),
        )
        terminal = Terminal(StdinPlan.NULL, pty=False, out=None, err=None, requests=requests)
        return perform(self.project, fork.id, RunAct(self.project, request, terminal, ask))


@contextmanager
def bisection(project: Project, request: BisectRequest) -> Iterator[Bisection]:
    """Yield the search that is asked for: one that was cut off goes on, else a new one begins.

    Raises BisectBusy, and the errors of `states_of`.
    """
    task = select(project, request.task)
    layout = project.task_layout(task.id)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what="bisect")
    lock = FileLock(layout.bisect_lock)
    try:
        lock.acquire(timeout_s=0, holder=holder)
    except LockBusy as busy:
        by = f" by process {busy.holder.pid}" if busy.holder else ""
        raise BisectBusy(
            f"task {task.name!r} is searched{by}", hint="wait until that has ended, or end it"
        ) from None
    try:
        said = project.redaction.text(request.check)
        search = read_search(layout.bisect_json)
        is_same = search is not None and (search.check, search.wanted) == (said, request.wanted)
        if search is not None:
            _give_back(project, task, search.group)
        if search is None or search.ended or request.anew or not is_same:
            search = _begun(project, task, request, said)
            write_search(layout.bisect_json, search)
        yield Bisection(project, task, request, search)
    finally:
        lock.release()


def _begun(project: Project, task: Task, request: BisectRequest, said: str) -> Search:
    states = states_of(project, task, request.wanted)
    group = f"bisect-{project.app.random_bytes(4).hex()}"
    return Search(group=group, check=said, wanted=request.wanted, states=tuple(states))


def _give_back(project: Project, task: Task, group: str) -> None:
    """Drop the forks that a killed search left. One in which something still runs stays."""
    for each in list(forks_of(project, parent=task.id, group=group)):
        workspace = project.registry.of_task(each.id)
        if workspace is None or workspace.status is WorkspaceState.REMOVED:
            continue
        try:
            drop(project, reopened(project, each))
        except SidingError:
            continue  # `siding task list --children` shows it


def _judged(at: int, fork: Fork, result: RunResult) -> Look:
    """Return what the end of a check says. Raises CheckNotRun if that is nothing."""
    step, outcome = result.step, result.outcome
    if outcome is None or outcome.ending is Ending.NOT_STARTED:
        ruling = result.ruling
        raise CheckNotRun(
            "the check was not started" + (f": {ruling.reason}" if ruling.reason else ""),
            hint=ruling.hint or f"siding show last -t {fork.id}",
        )
    if outcome.ending in (Ending.INTERRUPTED, Ending.STOPPED):
        raise CheckNotRun(
            "the check was cut off, so it says nothing about this state",
            hint="the same command goes on with it",
        )
    verdict = Verdict.HOLDS if result.exit_code == 0 else Verdict.FAILS
    if result.exit_code == CANNOT_JUDGE and outcome.ending is Ending.EXITED:
        verdict = Verdict.SKIPPED
    return Look(
        at=at,
        verdict=verdict,
        exit_code=result.exit_code,
        duration_ms=outcome.duration_ms,
        fork=fork.id,
        step="" if step is None else step.id,
        why=f"exit status {CANNOT_JUDGE}" if verdict is Verdict.SKIPPED else "",
    )


def require_check(request: BisectRequest, *, somebody_there: bool) -> None:
    """Raise UsageError if nobody can say whether a state is good."""
    if not request.check.strip() and not somebody_there:
        raise UsageError(
            "there is no check, and no terminal at which somebody could judge",
            hint="siding bisect --check 'COMMAND' [A..B]",
        )
