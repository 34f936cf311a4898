"""What an adapter does for an agent that can report: the same for every agent.

The agent is told for one run only, by its flags or its environment, to start a small program at
certain moments (`ground.process.broker.hook`). That program hands what it gets to the run's broker.
An adapter knows how the agent is told, what it says, and how it is answered; and how it goes on
with a conversation without what was taken back. All of it but that last is pure, and nothing
changes a file of the agent's. `hooks` in an agent's folder has its ``ADAPTER``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from siding.agents.edits import Edit
from siding.agents.facets import Facet
from siding.agents.table import ANY
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import ToolUse

PERSON_S = 24 * 3600  # how long an agent waits for a person


class Moment(Enum):
    """What an agent reports."""

    SESSION = "session"  # it has begun or gone on with a conversation
    PROMPT = "prompt"  # a turn begins
    TOOL = "tool"  # it is about to run a command, or to use a tool on files or the network
    CALLED = "call"  # a tool has ended that may have changed files
    WAITS = "waits"  # for a person
    GOES_ON = "goes-on"  # the person has answered
    STOPPED = "stopped"  # the turn is over
    FAILED = "failed"  # the turn is over, by an error of the model or its server


class Report(NamedTuple):
    """One thing that an agent reports. All of it is what the agent says, and untrusted."""

    moment: Moment
    session: str = ""  # the agent's own id of the conversation
    turn: str = ""  # its own id of the prompt that is being answered
    transcript: str = ""  # the path of its file, as the agent sees it
    text: str = ""  # the prompt, what it waits for, or what a tool has done, in a few words
    by_person: bool = True  # of a prompt: somebody has typed it
    unwritten: bool = False  # what was said last may not be in the transcript for some time
    followed: bool = False  # seen in what the agent writes: it does not wait for an answer
    interrupted: bool = False  # of the end of a turn: by a person, and it is not to go on
    last_words: str = ""  # of the end of a turn: what the model said last, as the transcript has it
    is_new: bool = False  # of a session: the conversation begins with it
    command: str = ""  # of the shell as a tool: its line
    uses: ToolUse | None = None  # of another tool: what it does
    edits: tuple[Edit, ...] = ()  # of a tool that changes files: how, as far as its input says it
    unknown: ToolUse | None = None  # of a tool that nobody has said anything about
    unread: str = ""  # of a tool: its name, and what of its input was not understood
    cwd: str = ""  # of a tool: where it runs, as the agent sees it
    call: str = ""  # of a tool: the agent's own id of the call


def _no_file(name: str) -> str:
    raise FileNotFoundError(name)


def _nothing(_name: str) -> bool:
    return False


class Reach(NamedTuple):
    """What an agent is told to start, and which moments matter."""

    program: tuple[str, ...]  # the command line of the program that reports
    judges: bool = False  # whether commands are reported before they run
    holds: bool = False  # a prompt may have to wait for a person
    requires: bool = False  # a command whose verdict cannot be had does not run
    calls: bool = False  # whether the end of each tool is reported
    tools: tuple[str, ...] = ()  # the command line of the server of its tools; () for none
    socket: str = ""  # of the broker, for agents that hide their environment from that server
    read: Callable[[str], str] = _no_file  # reads a file that the command line names
    env: Mapping[str, str] = {}  # of the command
    settings: str = ""  # where a file of settings for this run can be written; "" for nowhere
    sessions: str = ""  # the directory of the project's conversations
    follow: tuple[str, ...] = ()  # the beginning of the command line that starts and follows it
    of_root: Callable[[str], bool] = _nothing  # only root can write a file, and replace it

    def seconds(self, moment: Moment, usual: int) -> int:
        """Return how long the report of a moment may take."""
        return PERSON_S if self.holds and moment is Moment.PROMPT else usual


class Injection(NamedTuple):
    """The command line with which an agent reports; `why_not` says why it cannot."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = {}  # is added to that of the command
    why_not: str = ""
    unjudged: str = ""  # why its commands cannot be judged before they run, although it reports
    settings: str = ""  # what the file at `Reach.settings` has to hold; "" for no file


class Answer(NamedTuple):
    """What the program that reports prints, and its exit status."""

    output: str = ""
    status: int = 0


NEWEST = ""  # the conversation that an agent itself thinks newest


class PastTurn(NamedTuple):
    """A turn of a conversation, as its agent has reported it."""

    turn: str  # the agent's own id of the prompt
    prompt: str  # without secrets, and perhaps cut
    transcript: Path  # the file that it was written to
    stands: bool  # it was not taken back
    later: tuple[str, ...] = ()  # prompts that were typed while it ran


class Past(NamedTuple):
    """A conversation that an agent is about to go on with, and what is known of its turns.

    Names and paths are what a run has reported: any of its processes may have made them up. Some of
    `turns` may be of other conversations: of the one that this is a copy of, say.
    """

    session: str
    transcript: Path  # its file, as the agent named it
    turns: tuple[PastTurn, ...]
    copy: Path  # where a copy may be written; the agent can read it, also in a sandbox
    env: Mapping[str, str]  # of the command
    cwd: Path
    is_sandboxed: bool  # the agent will be; whatever is started to make a copy is not


class Shortened(NamedTuple):
    """The command line with which the agent goes on without what was taken back."""

    argv: tuple[str, ...]
    first: str  # the id of the first prompt that is left out


class CannotShorten(SidingError):
    """The agent goes on with the whole conversation; the message says why."""

    code = "cannot_shorten"


def first_gone(gone: Sequence[bool]) -> int | None:
    """Return the index of the first prompt to leave out; None if there is none.

    `gone` tells of each prompt, in the order of the conversation, whether its turn was taken back.
    After one that stands nothing is left out: the agent was told of what was taken back before it,
    and has gone on.
    """
    at = len(gone)
    while at and gone[at - 1]:
        at -= 1
    return at if at < len(gone) else None


class TypedMeanwhile(NamedTuple):
    """What a person typed while a turn ran, as a transcript has it."""

    taken: tuple[str, ...] = ()  # prompts that the model got in the turn
    begun: tuple[str, ...] = ()  # prompts with which the agent has begun another turn since
    waiting: tuple[str, ...] = ()  # prompts with which it will


class Takes(Enum):
    """When the hooks of an agent can give its model what a person has written for it.

    Only where its transcript shows what the model was given: that is the proof.
    """

    NEVER = "never"
    WITH_PROMPT = "with its next prompt"
    AT_END = "as its next prompt when its turn ends"


class Adapter(Protocol):
    """One agent."""

    greets: Moment  # at which the model is told what it may ask: a session, or its first prompt
    takes: Takes

    def injected(self, argv: tuple[str, ...], reach: Reach) -> Injection:
        """Return the command line with which the agent reports, for this run only."""
        ...

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        """Return what the agent reports; None for what is of no interest."""
        ...

    def greeted(self, text: str) -> Answer:
        """Return the answer that tells the model something as a session begins.

        Only of an agent that is greeted then.
        """
        ...

    def informed(self, text: str) -> Answer:
        """Return the answer that tells the model something beside a prompt."""
        ...

    def goes_on_with(self, text: str) -> Answer:
        """Return the answer to the end of a turn after which it goes on with a text as a prompt.

        Only of an agent that takes one AT_END.
        """
        ...

    def continues(self, argv: tuple[str, ...]) -> str | None:
        """Return the id of the conversation that a command line goes on with.

        NEWEST if the agent looks for it. None: it begins one, or nobody can tell.
        """
        ...

    def without(self, argv: tuple[str, ...], past: Past) -> Shortened | None:
        """Return the command line that goes on with a copy, before the first prompt taken back.

        Only prompts after the newest one that stands are left out. None if there is none of them.
        Raises CannotShorten, OSError.
        """
        ...

    def typed_in(self, lines: Iterable[bytes]) -> TypedMeanwhile | None:
        """Return what a person typed while a turn ran; `lines` are the transcript's since it began.

        None: the transcript does not say more than the agent has reported.
        """
        ...

    def denied(self, reason: str) -> Answer:
        """Return the answer that keeps a command from running, with a reason for the model."""
        ...


ADAPTER: Facet[Adapter] = Facet("hooks", "ADAPTER")


def adapter_of(name: str) -> Adapter | None:
    """Return the adapter of the agent with this name, None if it cannot report or is not known."""
    if name != ANY:
        return ADAPTER.of(name)
    plain: Adapter = import_module("siding.agents.plain_words").ADAPTER
    return plain
