"""What a talker does for an agent that is held over its own protocol: the same for every agent.

A talker does no input and no output. It is given the bytes that the agent prints (`receive`), and
returns what happened, as events; what it wants to say to the agent lies in `to_send`, which the
holder writes. So one loop holds every agent, and a test needs no process.

`talking` in an agent's folder has its ``TALKING``: how the agent is started, its talker, and what
its own record proves of a prompt. Nothing of it writes a file; what has to be there is returned.

The rules that the holder keeps, and a talker may rely on:

- One prompt is in flight. The next is sent when its turn has ended.
- A prompt has an id of ours, a UUID, which is on disk before it is sent.
- A steer is sent only while a turn runs.
- An answer is given once to each ask, unless the ask was withdrawn (`AskGone`).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from siding.agents.facets import Facet
from siding.agents.talking.abilities import Abilities
from siding.agents.talking.servers import McpServer
from siding.ground.namedtuples import NamedTuple

# -- What a person says ----------------------------------------------------------------------------


class Picture(NamedTuple):
    """A picture in a prompt."""

    media_type: str  # "image/png"
    data: bytes
    path: str = ""  # where it lies, for agents that take paths


Part = str | Picture
Parts = Sequence[Part]


class Answer(NamedTuple):
    """What a person, or the policy, answers to an ask."""

    allows: bool
    always: bool = False  # for this conversation, where the agent can; else it is ours to keep
    reason: str = ""  # why not
    choices: Mapping[str, str] = {}  # of a question: by its text, what was chosen or typed


# -- What happens ----------------------------------------------------------------------------------


class Opened(NamedTuple):
    """The agent is ready for a prompt."""

    session: str  # the agent's own id of the conversation; "" when it is not known yet
    commands: tuple["OwnCommand", ...] = ()
    model: str = ""
    modes: tuple[str, ...] = ()
    version: str = ""
    mode: str = ""  # the one of them that holds; "" is not known


class OwnCommand(NamedTuple):
    """A command of the agent itself, given as a prompt: ``/compact``."""

    name: str  # with its slash
    about: str = ""


class CommandsChanged(NamedTuple):
    """The agent has other commands of its own now. The whole list."""

    commands: tuple[OwnCommand, ...]


class OwnModel(NamedTuple):
    """A model that the agent lists: the word that sets it, and by what the agent reads it back."""

    word: str
    name: str = ""
    reads_as: str = ""  # "" for the word
    efforts: tuple[str, ...] = ()  # that it can be asked for


class Offered(NamedTuple):
    """What can be chosen with the agent now. The whole lists; () where it has said none."""

    models: tuple[OwnModel, ...] = ()
    efforts: tuple[str, ...] = ()  # with a model that does not say


class SessionChanged(NamedTuple):
    """The conversation goes on under another id (``/clear``, a fork)."""

    session: str


class PromptTaken(NamedTuple):
    """The agent has said that it has this prompt of ours. Its record may not have it yet."""

    prompt: str


class Origin(StrEnum):
    """What began a turn."""

    PROMPT = "prompt"  # one of ours
    ITSELF = "itself"  # a shell in the background that has ended, say


class TurnStarted(NamedTuple):
    """A turn has begun."""

    prompt: str = ""  # our id; "" if none of ours began it
    origin: Origin = Origin.PROMPT


class Text(NamedTuple):
    """A piece of what the agent says to the person. `inside`: the call of the helper that does."""

    text: str
    inside: str = ""


class Thought(NamedTuple):
    """A piece of what it thinks aloud."""

    text: str
    inside: str = ""


class Edit(NamedTuple):
    """What a tool changes in a file: a unified patch if the agent has one, else the two texts."""

    path: str
    patch: str = ""
    old: str | None = None
    new: str | None = None


class ToolStarted(NamedTuple):
    """A tool was called. `title` is what a person reads; `input` is the agent's own."""

    call: str
    name: str
    title: str = ""
    kind: str = (
        "other"  # read, edit, delete, move, search, execute, think, fetch, other (as in ACP)
    )
    input: Mapping[str, Any] = {}
    edits: tuple[Edit, ...] = ()
    inside: str = ""


class ToolOutput(NamedTuple):
    """A piece of what a running tool prints."""

    call: str
    text: str


class ToolEnded(NamedTuple):
    """A call of a tool has ended."""

    call: str
    failed: bool = False
    text: str = ""  # what the model gets, or the piece of it that the agent passes on
    edits: tuple[Edit, ...] = ()


class Choice(NamedTuple):
    """A question of an agent's own."""

    question: str
    options: tuple[tuple[str, str], ...] = ()  # a label and what it means; () for a text
    several: bool = False


class Asked(NamedTuple):
    """It waits: whether it may use a tool, or for what a person chooses."""

    ask: str  # this talker's own id for it, never given twice
    title: str
    tool: str = ""
    call: str = ""
    kind: str = "other"
    command: str = ""  # the line for the shell, if it is one
    cwd: str = ""
    reason: str = ""  # why it wants to, in its own words
    input: Mapping[str, Any] = {}
    edits: tuple[Edit, ...] = ()
    choices: tuple[Choice, ...] = ()  # a question; () for a permission
    can_always: bool = False
    # A yes gives it more than this one call does: a directory, the network, what it types later.
    gives_more: bool = False


class AskGone(NamedTuple):
    """Nobody needs to answer it any more."""

    ask: str


class PlanStep(NamedTuple):
    """One step of a plan."""

    text: str
    status: str  # pending, in_progress, completed


class Planned(NamedTuple):
    """The agent has a plan, or has changed it. The whole of it."""

    steps: tuple[PlanStep, ...]


class Used(NamedTuple):
    """What a turn has used so far, as the agent counts: tokens."""

    input: int = 0  # that were sent, without those of a cache
    output: int = 0
    cached: int = 0
    context: int = 0  # how full the window is; 0 is not known
    window: int = 0
    dollars: float | None = None


class Compacted(NamedTuple):
    """The agent has made its conversation shorter."""

    before: int = 0  # tokens
    after: int = 0


class InBackground(NamedTuple):
    """What the agent has running beside the turn: shells and helpers. The whole list."""

    running: tuple[str, ...]


class Applied(NamedTuple):
    """The settings that hold now, as the agent has read them back. "" is not known."""

    model: str = ""
    mode: str = ""
    effort: str = ""


class Trouble(StrEnum):
    """Why an agent does not go on, where that is known."""

    LIMIT = "limit"  # a rate limit, or a quota
    LOGIN = "login"
    TRUST = "trust"
    SERVER = "server"
    NO_SESSION = "no-session"  # the conversation to go on with is not there
    NOT_BACK = "not-back"  # it cannot go on from before that turn
    OTHER = "other"


class Troubled(NamedTuple):
    """It says that something is wrong; `until` is ISO 8601, if it says when it goes on."""

    trouble: Trouble
    message: str
    until: str = ""


class How(StrEnum):
    """How a turn ended."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class Cause(StrEnum):
    """Why a turn failed, where the agent has a word for it."""

    REFUSAL = "refusal"  # the model refuses to go on
    TOKENS = "max-tokens"  # it wrote as much as it may
    REQUESTS = "max-turn-requests"  # the agent asked the model as often as it may in a turn
    OTHER = ""


class TurnEnded(NamedTuple):
    """The turn has ended."""

    how: How
    reason: str = ""
    # Steers that were sent and not taken: they are to be prompted again.
    left: tuple[str, ...] = ()
    cause: Cause = Cause.OTHER


class Unread(NamedTuple):
    """A message that this talker does not know. It is kept, and shown as nothing."""

    line: str


Event = (
    Opened
    | CommandsChanged
    | Offered
    | SessionChanged
    | PromptTaken
    | TurnStarted
    | Text
    | Thought
    | ToolStarted
    | ToolOutput
    | ToolEnded
    | Asked
    | AskGone
    | Planned
    | Used
    | Compacted
    | InBackground
    | Applied
    | Troubled
    | TurnEnded
    | Unread
)


class Talker(Protocol):
    """One agent's protocol, from its start to its end.

    What is asked of it is put into `to_send`. `abilities` may become fewer once it has opened.
    """

    abilities: Abilities
    session: str  # the agent's own id of the conversation; "" until it is known

    def to_send(self) -> bytes:
        """Return what is to be written to the agent now, and forget it."""
        ...

    def receive(self, data: bytes) -> list[Event]:
        """Take the next bytes of its standard output; return what happened.

        Nothing an agent prints raises an error: what is not understood is `Unread`.
        """
        ...

    def prompt(self, prompt_id: str, parts: Parts) -> None: ...

    def steer(self, prompt_id: str, parts: Parts) -> None: ...

    def stop(self) -> None:
        """Have it end its turn. What it asks is withdrawn."""
        ...

    def answer(self, ask: str, answer: Answer) -> None:
        """Answer what it asked. One that was answered, or is gone, is passed over."""
        ...

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        """Change what is given; the agent reads back what holds (`Applied`, `Troubled`)."""
        ...

    def compact(self) -> None: ...


@runtime_checkable
class TimedTalker(Talker, Protocol):
    """A talker that has to know how long its agent has said nothing, and has no clock.

    When nothing has come for `quiet_s` seconds, since it was started, the last bytes, or something
    was sent, `quiet` is called, once. None is never.
    """

    @property
    def quiet_s(self) -> float | None: ...

    def quiet(self) -> list[Event]: ...


# -- How it is started, and what its record says ---------------------------------------------------


class Proof(StrEnum):
    """What an agent's own record says of a prompt of ours."""

    TAKEN = "taken"
    NOT_TAKEN = "not-taken"
    UNSURE = "unsure"


class Hold(NamedTuple):
    """How an agent is to be held. "" is not given."""

    program: tuple[str, ...]  # how its command line begins
    cwd: Path  # the workspace
    env: Mapping[str, str] = {}  # of the run
    directory: str = ""  # where files for the agent will be; it can read them
    options: tuple[str, ...] = ()  # a person's own flags
    model: str = ""
    mode: str = ""
    effort: str = ""
    session: str = ""  # the conversation to go on with
    # The turn of that conversation before which it goes on, in a copy; the old one stays whole.
    # It is the id of a prompt of ours, or the agent's own of a turn on its screen.
    before: str = ""
    new_session: str = ""  # the id that a new one, or the copy, should have, a UUID
    text: str = ""  # for the model, beside the prompts
    servers: tuple[McpServer, ...] = ()  # of tools, beside those of the agent's own settings

    def goes_on_from(self) -> str:
        return self.new_session if self.before or not self.session else self.session


class Opening(NamedTuple):
    """The command line that holds it, and its talker."""

    argv: tuple[str, ...]
    talker: Talker
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}  # contents by name, in `Hold.directory`
    why_not: str = ""  # it cannot be held so
    hears_errors: bool = False  # its standard error is what it says, too


class Sent(NamedTuple):
    """A prompt that was sent before its agent, or its holder, ended."""

    prompt: str  # our id
    text: str
    turn: int  # how many prompts of ours were proven before it
    session: str


class Meaning(StrEnum):
    """What a mode lets an agent do without asking, the least first."""

    PLAN = "plan"  # look: it changes nothing, and makes a plan
    ASK = "ask"  # look, and no more
    EDITS = "accept-edits"  # change files of the workspace; commands are asked for


class Talking(Protocol):
    """One agent: how it is held."""

    abilities: Abilities
    settles_s: float  # for so long after its last word its own record may lack what it did

    @property
    def means(self) -> Mapping[str, Meaning]:
        """Its modes of which it is known what they mean, the usual one of each meaning first."""
        ...

    def opened(self, hold: Hold) -> Opening:
        """Return how it is started, and the talker of it. Changes nothing on disk.

        With `Hold.before` its record may be read. What is found out only by the agent itself is
        said before it opens (`Trouble.NOT_BACK`).
        """
        ...

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        """Return what its record says of a prompt. The agent has ended; the record is only read."""
        ...

    def own_screen(self, hold: Hold) -> tuple[str, ...]:
        """Return the command line that opens the conversation on its own screen; () for none."""
        ...


TALKING: Facet[Talking] = Facet("talking", "TALKING")
