"""In what the agents that speak ACP differ: a value for each, and one for those that nobody knows.

What is here was found by trying (the docstring of the agent's `talking` says with which version).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import Hold, Meaning
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text


class Counts(StrEnum):
    """Where an agent says how many tokens a turn has used, and what its numbers mean."""

    NOTHING = "nothing"  # it does not say; or what it says is not of a turn
    QUOTA = "quota"  # of the turn, in `_meta.quota` of the answer to the prompt
    SO_FAR = "so-far"  # of the conversation, in `usage` of the answer: the turn is the difference
    PIECES = "pieces"  # of each request, in `_meta.usage` of a piece of text: the turn is the sum


def usual_name(call: Mapping[str, Any]) -> str:
    """Return the name of the tool that is called. The protocol has no field for it."""
    return text(mapping(call.get("_meta")).get("toolName")) or text(call.get("kind")) or "other"


def no_patch(_call: Mapping[str, Any]) -> str:
    """Return the unified patch in a message about a call: the protocol has no field for it."""
    return ""


def no_texts(_session: str, _hold: Hold) -> Sequence[str] | None:
    """Return what a person has prompted by an agent's own record; None if it cannot be read."""
    return None


def no_env(_hold: Hold) -> Mapping[str, str]:
    """Return the variables with which it is started."""
    return {}


class Habits(NamedTuple):
    """One agent's."""

    abilities: Abilities
    words: tuple[str, ...] = ()  # of its command line, with which it speaks ACP
    model_word: str = ""  # before the name of a model; "" where it is set over the protocol
    env: Callable[[Hold], Mapping[str, str]] = no_env  # raises ValueError if it cannot be held
    means: Mapping[str, Meaning] = {}  # its modes, as `Talking` has them
    mode: str = ""  # in which it asks; "" where it does in the mode it begins with
    always: str = ""  # the option of a permission that holds for the conversation, and in no file
    compacts: str = ""  # its command that makes the conversation shorter
    counts: Counts = Counts.NOTHING
    loads_as: Callable[[str], str] = lambda session: session  # the id with which it is loaded
    is_story_late: bool = False  # the story comes after the answer to `session/load`
    tool_name: Callable[[Mapping[str, Any]], str] = usual_name  # of the first message of a call
    patch: Callable[[Mapping[str, Any]], str] = no_patch
    is_noise: Callable[[str], bool] = lambda _text: False  # a piece of text that is no answer
    thought: Callable[[str], str] = lambda text: text  # what is shown of a piece of a thought
    plan_tool: str = ""  # whose input has the plan, where it does not say it as ACP has it
    # What its own record says of prompts, and whether a prompt is there before a model is asked.
    texts: Callable[[str, Hold], Sequence[str] | None] = no_texts
    records_first: bool = False
    settles_s: float = 0.0


# Of an agent that nobody knows: what the protocol can, less what the agent does not offer.
UNKNOWN = Habits(
    abilities=Abilities(
        evidence=Evidence.NONE,
        asks=True,
        models=True,
        modes=True,
        efforts=True,
        pictures=True,
        servers=True,
        web_servers=True,
    )
)
