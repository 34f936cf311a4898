"""What an adapter does for an agent that is given one prompt: the same for every agent.

The adapter makes the command line (`Headless.invoked`), and reads what the agent prints as it comes
(`Headless.stream`). All of it is pure; files that the agent needs are returned, not written.

A prompt is given once more, in a conversation or a new one, by a command line that is made of the
one that the agent was started with (`again`): its options are kept, its prompts and the
conversation it named are not.

`headless` in an agent's folder has its ``HEADLESS`` and ``again``.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, Protocol

from siding.agents.facets import Facet
from siding.ground.namedtuples import NamedTuple

# Stands before the prompt for an agent that goes on with a conversation that was cut off.
CUT_OFF = (
    "You were cut off before you had answered. What you had done by then may be there already: look"
    " first, then go on. What you were asked was:\n\n"
)


class Level(StrEnum):
    """What an agent may do without asking anybody: nobody is there to be asked."""

    READ = "read"
    EDIT = "edit"  # files of its workspace, and what is in its list of tools
    ALL = "all"


class Fault(StrEnum):
    """Why an agent says that it has failed."""

    TOO_LONG = "too-long"  # the prompt, or the conversation
    LOGIN = "login"  # it is not logged in, or its key is refused
    REFUSED = "refused"  # the model's server refuses the request, and would again
    SERVER = "server"  # the model's server, or the way to it, has failed
    NO_SESSION = "no-session"  # the conversation to go on with is not there
    LIMIT = "limit"  # of turns or of money, one of the agent's own
    OTHER = "other"


class Ask(NamedTuple):
    """One prompt for an agent, and how it is to answer. "" and () are not given."""

    prompt: str
    program: tuple[str, ...]  # how its command line begins
    directory: str = ""  # where files for the agent will be; it can read them
    options: tuple[str, ...] = ()  # a person's own flags
    model: str = ""
    effort: str = ""
    tools: tuple[str, ...] = ()  # may be used without a question, in the agent's own words
    level: Level = Level.EDIT
    text: str = ""  # for the model, beside the prompt
    session: str = ""  # the conversation to go on with
    new_session: str = ""  # the id that a new one should have, a UUID
    schema: Mapping[str, Any] | None = None  # only if the adapter takes it
    env: Mapping[str, str] = {}  # of the caller

    def file(self, name: str) -> str:
        """Return the path that a file for the agent will have."""
        return os.path.join(self.directory, name)


class Invocation(NamedTuple):
    """The command line that answers one prompt."""

    argv: tuple[str, ...]
    stdin: str = ""
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}  # contents by name, see `Ask.file`
    session: str = ""  # the conversation, if it is known before the agent has begun
    left_out: tuple[str, ...] = ()  # what was asked for and cannot be passed on


class Seen(NamedTuple):
    """What an agent has said so far."""

    text: str = ""  # its last message
    result: Any = None  # the object that was asked for, if the agent hands it over apart
    session: str = ""
    model: str = ""
    tokens: int = 0  # written by the model
    input_tokens: int = 0
    dollars: float | None = None
    tools: int = 0
    says: str = ""  # what it does right now, in one line
    ended: bool = False  # it has said that it is done
    fault: Fault | None = None
    error: str = ""  # in its own words
    denied: tuple[str, ...] = ()  # what it was not allowed to do
    left_out: tuple[str, ...] = ()  # what it was told and cannot do


class Stream(Protocol):
    """Reads what one agent prints on its standard output. `seen` is replaced, never changed."""

    seen: Seen

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        ...

    def end(self) -> None:
        """Take note that no more will come."""
        ...


class Headless(Protocol):
    """One agent."""

    says_end: bool  # without its word that it is done, its output was cut off
    has_answer: bool  # it always ends with a text; without one it has failed

    def takes_schema(self, schema: Mapping[str, Any], /) -> bool:
        """Tell whether the agent has a way of its own for an object by this schema."""
        ...

    def invoked(self, ask: Ask) -> Invocation:
        """Return the command line that has one prompt answered."""
        ...

    def stream(self, ask: Ask, /) -> Stream:
        """Return a reader for the output of one run."""
        ...


HEADLESS: Facet[Headless] = Facet("headless", "HEADLESS")


def with_text(ask: Ask) -> str:
    """Return the prompt behind the text for the model, for agents that take no text apart."""
    return f"{ask.text}\n\n{ask.prompt}" if ask.text else ask.prompt


# -- A prompt once more ----------------------------------------------------------------------------

# An agent reports any text as the id of its conversation; a command line takes a harmless one.
_SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")


class PromptAgain(NamedTuple):
    """What the agent is asked once more.

    `session` is its own id of the conversation to go on with, "" to begin one. `alone`: it answers
    and ends; else it goes on talking with the person. `said` are prompts that the command line may
    have.
    """

    argv: tuple[str, ...]
    prompt: str
    session: str
    alone: bool
    said: Collection[str]


# Returns () for an agent that nobody can tell to go on with a conversation.
AGAIN: Facet[Callable[[PromptAgain], tuple[str, ...]]] = Facet("headless", "again")


def prompted_again(agent: str, asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line; () if nobody has said how this agent is given a prompt once more."""
    made = AGAIN.of(agent)
    if made is None or (asked.session and not _SESSION.fullmatch(asked.session)):
        return ()
    return made(asked)


class Flags(NamedTuple):
    """Words of a command line that are left out: alone, and with the word behind them."""

    alone: frozenset[str] = frozenset()
    with_value: frozenset[str] = frozenset()


def options(asked: PromptAgain, flags: Flags) -> tuple[str, ...]:
    """Return the options of the command line, without prompts and the words of `flags`."""
    said = {each.strip() for each in (*asked.said, asked.prompt)}
    found: list[str] = []
    words = iter(asked.argv[1:])
    for word in words:
        name, is_joined, _value = word.partition("=")
        if name in flags.with_value:
            if not is_joined:
                next(words, None)
        elif word not in flags.alone and word.strip() not in said:
            found.append(word)
    return tuple(found)


def only(words: Sequence[str], names: Collection[str]) -> tuple[str, ...]:
    """Return the options of these names, each with its value."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        name, is_joined, _value = word.partition("=")
        if name in names:
            found += [word] if is_joined else [word, *islice(rest, 1)]
    return tuple(found)
