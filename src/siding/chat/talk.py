"""One conversation: what its story says of it, and what follows from that."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings


class Standing(StrEnum):
    """What a conversation is doing."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITS = "waits"  # for a person: what its agent asks
    STOPPING = "stopping"
    HELD = "held"  # something waits to be sent, until somebody goes on
    HANDED_OVER = "handed-over"  # the agent's own screen is open on it
    UNSURE = "unsure"  # whether its agent has taken a prompt: a person decides
    ENDED = "ended"  # nobody holds its agent; the next prompt goes on with it


class Waiting(NamedTuple):
    """A prompt that its agent has not got yet."""

    prompt: str
    text: str
    files: tuple[str, ...] = ()
    steers: bool = False
    by: str = ""
    before: str = ""  # what its agent is told before it
    remembers: bool = False  # its agent does not go back before it

    def said(self, words: str = "") -> str:
        """Return what the agent is given as a text; `words` is the prompt as it was given."""
        words = words or self.text
        return f"{self.before}\n\n{words}" if self.before else words


class Lasting(NamedTuple):
    """That something is allowed for longer than once."""

    lasts: str = ""  # for how long: an `AlwaysScope`; "" for once
    may: str = ""  # what the agent may then, in words


class OpenAsk(NamedTuple):
    """What the agent waits for."""

    ask: str
    title: str
    decision: str = ""  # as which it was put to a person
    said: Mapping[str, Any] = {}  # its line of the story
    always: tuple[str, ...] = ()  # for how long it may be allowed beside once: `AlwaysScope`s
    may: str = ""  # what would be allowed then, in words

    @property
    def questions(self) -> list[Mapping[str, Any]]:
        """Its questions, as the story has them; [] for a permission."""
        return [*mappings(self.said["choices"])] if "choices" in self.said else []


class Switching(NamedTuple):
    """The agent that is to go on when the turn has ended."""

    agent: str
    program: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    model: str = ""
    forced: bool = False


class Parked(NamedTuple):
    """An agent that was in the conversation before, and how it is held when it comes back."""

    agent: str
    program: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    model: str = ""
    session: str = ""
    taken: int = 0  # prompts of ours, in its session
    knows: int = 0  # the number of the line up to which it has the story


class Back(NamedTuple):
    """The agent goes back: to its conversation `session`, before the turn `before` of it.

    It is so from the decision until a prompt has been taken there: an agent may keep nothing of a
    copy in which nothing was said, so a new host makes it once more.
    """

    session: str
    before: str = ""
    about: str = ""
    forgets: int = 0
    recalls: int = 0
    came_from: str = ""  # the conversation in which it was, which stays whole
    is_said: bool = False  # in the story


class Spent(NamedTuple):
    """What turns have used. `dollars` are as the agent counts them."""

    input: int = 0  # tokens, without those of a cache
    output: int = 0
    cached: int = 0
    dollars: float = 0.0


class Talk(NamedTuple):
    """One conversation."""

    seq: int = 0  # of the newest line that was folded
    agent: str = ""
    program: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    session: str = ""
    run: str = ""
    model: str = ""
    mode: str = ""
    effort: str = ""
    is_open: bool = False  # an agent is there and takes prompts
    is_held_by_host: bool = False
    queue: tuple[Waiting, ...] = ()
    sent: Waiting | None = None  # the prompt that the agent has, or may have
    steered: tuple[Waiting, ...] = ()  # given into the running turn, and not taken yet
    is_taken: bool = False  # as it says, or its record
    is_answered: bool = False  # it has said or done something since
    unsure: tuple[Waiting, ...] = ()
    is_running: bool = False
    is_by_itself: bool = False  # the turn that runs was begun by the agent: a shell that ended, say
    is_stopping: bool = False
    is_paused: bool = False
    turns: int = 0  # that have begun
    taken: int = 0  # prompts of ours
    asks: tuple[OpenAsk, ...] = ()
    trouble: str = ""
    trouble_kind: str = ""  # as the port's `Trouble` names it
    until: str = ""  # when what is held goes on by itself, ISO 8601; "" for when somebody says so
    since: str = ""  # when it began to stand as it does, ISO 8601
    how: str = ""  # how its last turn ended: `How`; "" before one has, and while one runs
    why: str = ""
    exit_code: int = 0  # of an agent that has ended
    is_wanted_end: bool = False  # somebody had it ended
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0  # that were sent besides `input_tokens`
    dollars: float = 0.0  # of this turn, as the tokens are
    context: int = 0
    window: int = 0  # tokens that it may have; 0 is not known
    spent: Spent = Spent()  # by the turns before this one
    title: str = ""
    sandbox: Mapping[str, Any] = {}  # what was asked of it, for each host
    background: tuple[str, ...] = ()  # what the agent has running beside its turns
    always: tuple[str, ...] = ()  # what it may do without asking, until it ends
    is_handed_over: bool = False
    handed_over_at: str = ""  # ISO 8601
    kept: int = 0  # times that the agent was not ended because of these
    switching: Switching | None = None
    parked: tuple[Parked, ...] = ()
    # The present agent has not heard of what the lines behind `knows`, up to `untold`, say; 0: of
    # nothing that came before it.
    knows: int = 0
    untold: int = 0
    told_with: str = ""  # the prompt with which the present agent heard of it last
    told_until: int = 0  # and up to which line
    back: Back | None = None
    # The newest copy in which it went on, of which conversation, and without which turn on: a turn
    # there that was cut off has no step that says so.
    copied: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()  # a conversation and a turn before which its agent does not go back

    @property
    def kept_session(self) -> str:
        """The agent's conversation that its own record surely has."""
        return self.session if self.back is None else self.back.came_from

    @property
    def standing(self) -> Standing:
        """What it is doing now, as one word."""
        if self.is_handed_over:
            return Standing.HANDED_OVER
        if not self.is_held_by_host:
            return Standing.UNSURE if self.unsure else Standing.ENDED
        if self.asks:
            return Standing.WAITS
        if self.is_stopping:
            return Standing.STOPPING
        if self.is_running or self.sent is not None:
            return Standing.RUNNING
        if self.unsure:
            return Standing.UNSURE
        if not self.is_open:
            return Standing.STARTING
        return Standing.HELD if self.is_paused and self.queue else Standing.IDLE

    @property
    def spent_in_all(self) -> Spent:
        """What all its turns have used, this one included."""
        before = self.spent
        return Spent(
            before.input + self.input_tokens,
            before.output + self.output_tokens,
            before.cached + self.cached_tokens,
            before.dollars + self.dollars,
        )

    def left_behind(self) -> "Talk":
        """Return it as it is when nobody holds it, though its story ends as if somebody did."""
        if not (self.is_held_by_host or self.is_handed_over):
            return self
        killed = "its own screen was cut off" if self.is_handed_over else "its host was killed"
        return self._replace(
            is_held_by_host=False, is_handed_over=False, is_wanted_end=False, trouble=killed
        )

    def is_told_with(self, prompt: Waiting) -> bool:
        """Tell whether the story goes along with a prompt: a command of the agent's is alone."""
        is_first = self.sent is not None and self.sent.prompt == prompt.prompt
        return self.untold > 0 and is_first and not prompt.text.startswith("/")

    def parked_of(self, agent: str) -> Parked | None:
        return next((each for each in self.parked if each.agent == agent), None)

    def waiting(self, prompt: str) -> Waiting | None:
        return next((each for each in self.queue if each.prompt == prompt), None)
