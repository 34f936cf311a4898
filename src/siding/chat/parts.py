"""The parts of a conversation as a screen shows them. They come from the fold in `partition.py`.

A part has a key, by which it is replaced, grows or goes. Texts are as the agent said them.
"""

from collections.abc import Iterable
from enum import StrEnum

from siding.chat.prompts import Fate
from siding.chat.wording import Words
from siding.ground.namedtuples import NamedTuple


class Given(NamedTuple):
    """A prompt, as it went to the agent. `by` is who gave it, "" for a person at a terminal."""

    text: str
    by: str = ""
    pictures: int = 0
    steers: bool = False
    fate: Fate = Fate.SENT


class Speech(NamedTuple):
    """What the agent says to the person, as Markdown. It may grow."""

    text: str


class Thinking(NamedTuple):
    """What the agent thinks aloud. It may grow."""

    text: str


class CallState(StrEnum):
    """How a call of a tool stands."""

    RUNS = "runs"
    WAITS = "waits"  # for a person
    DONE = "good"
    FAILED = "bad"


class Call(NamedTuple):
    """A call of a tool: one line, and what is below it when it is opened."""

    name: str  # what it does, in a word: Read, Edit, Run
    about: str
    state: CallState = CallState.RUNS
    result: str = ""  # in few words
    took_ms: int = 0
    output: tuple[str, ...] = ()  # lines; of a patch, if `is_patch`
    is_patch: bool = False


class Plan(NamedTuple):
    """The plan of the agent, or its list of what is to be done: the newest of a turn."""

    steps: tuple[Words, ...]


class Notice(NamedTuple):
    """Lines of Siding's own: how a turn ended, what is asked and what was answered."""

    lines: tuple[Words, ...]


Part = Given | Speech | Thinking | Call | Plan | Notice


class Put(NamedTuple):
    """A part is new, at the end, or is another one now."""

    key: str
    part: Part


class More(NamedTuple):
    """What is said, or thought, or what a call prints, goes on."""

    key: str
    text: str


class Whole(NamedTuple):
    """What was said is complete."""

    key: str


class Gone(NamedTuple):
    """A part is not shown any more."""

    key: str


Shift = Put | More | Whole | Gone


def all_of(shifts: Iterable[Shift]) -> dict[str, Part]:
    """Return the parts that are there after these changes, by key, in their order."""
    found: dict[str, Part] = {}
    for each in shifts:
        match each:
            case Put(key, part):
                found[key] = part
            case More(key, text) if key in found:
                found[key] = _grown(found[key], text)
            case Gone(key):
                found.pop(key, None)
    return found


def _grown(part: Part, text: str) -> Part:
    if isinstance(part, Speech | Thinking):
        return part._replace(text=part.text + text)
    if isinstance(part, Call):
        return part._replace(output=(*part.output, *text.strip("\n").split("\n")))
    return part
