"""The request of a run, and its result."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Outcome, StdinPlan
from siding.guard.hooks import HookResult
from siding.guard.ruling import Ruling
from siding.record.ledger.reports import IsolationReport
from siding.record.ledger.step import Step
from siding.record.tasks.task import Task
from siding.sandbox.request import SandboxRequest
from siding.sandbox.sandbox import SandboxPlan

if TYPE_CHECKING:
    from siding.ground.process.requests import Requests


class Retried(NamedTuple):
    """The step that a run does again, and the snapshot before the way back to it.

    `before` is None if the workspace was there already.
    """

    step: str
    before: str | None


class AskedTurns(NamedTuple):
    """When turns are recorded, in seconds: None is as the settings say, 0 is never."""

    every_s: float | None = None
    quiet_s: float | None = None


class RunRequest(NamedTuple):
    """The options of one ``siding run``. `timeout_s` is in seconds."""

    argv: tuple[str, ...]
    task: str | None = None
    new: str | None = None  # the name of a task to make for it; "": after the command; None: none
    timeout_s: float | None = None
    env: Mapping[str, str] = {}
    cwd: str | None = None  # relative to the workspace; None: where the caller stands
    agent: str = ""  # the agent that is behind the command, if its program does not say it
    view: Path | None = None  # a view of the task that it runs in, in the place of the workspace
    record: bool = True
    wait: bool = False
    allow: tuple[str, ...] = ()  # rules whose questions are answered with yes
    name: str = ""  # of the run, for `siding stop` and `siding output`
    prompt: str = ""  # what its agent is asked, if it is not in `argv`
    sandbox: SandboxRequest = SandboxRequest()  # sandbox, network and limits
    retries: Retried | None = None
    turns: AskedTurns = AskedTurns()
    survives: bool = False  # the command goes on when its host is killed
    judge: str = ""  # one of `settings.JUDGE`: of the commands that an agent runs; "": as set
    reports: bool = True  # an agent that can is told to report, if that is set
    over_limit: bool = False  # limits of what agents may use do not count
    # How long a question whether an agent may do something waits for a person: `wait`, `deny`, or
    # seconds; "": as set. `attended`: a person is at the terminal of the run.
    ask: str = ""
    attended: bool = False
    meter: bool | None = None  # its requests to models are measured; None: as set
    leave: str = ""  # one of `settings.LEAVE`: what becomes of processes that outlive the command


class AgentTerms(NamedTuple):
    """What holds for the agent of a run, as `Run` has it."""

    over_limit: bool = False
    judge: str = ""
    ask_s: float | None = None
    asks: Mapping[str, Any] = {}


NO_TERMS = AgentTerms()


class Reporting(NamedTuple):
    """How the agent of a run reports. `argv` is the command line for that."""

    argv: tuple[str, ...]
    judge: str  # off, on or require
    why_not: str = ""  # it does not report, because
    note: str = ""  # it goes on with something else than was asked for
    env: Mapping[str, str] = {}  # is added to that of the command
    copy_of: str = ""  # the conversation of which it goes on with a copy
    without: str = ""  # the id of the first turn that the copy leaves out
    ask_s: float | None = None  # as in `Run`


class Terminal(NamedTuple):
    """How the command is connected to the caller's terminal."""

    stdin: StdinPlan
    pty: bool
    out: int | None  # where the command's output goes as well; file descriptors, None for nowhere
    err: int | None
    requests: "Requests | None" = None  # of another thread of this process


class RunResult(NamedTuple):
    """How a run ended."""

    task: Task
    step: Step | None  # None with ``--no-record``
    exit_code: int  # what ``siding run`` exits with
    outcome: Outcome | None  # None when a hook stopped the run
    settled: tuple[Step, ...]  # steps recorded first: cut off, or made outside Siding
    hooks: tuple[HookResult, ...]
    untrusted_hooks: int
    ruling: Ruling  # what the policy said
    sandbox: SandboxPlan = SandboxPlan()  # the sandbox and limits it had
    isolation: IsolationReport = IsolationReport()  # what changed outside, of a run without a step
