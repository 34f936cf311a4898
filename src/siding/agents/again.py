"""The command line with which an agent is given a prompt once more, in a conversation or a new one.

It is made of the one that the agent was started with: its options are kept, its prompts and the
conversation it named are not. `again` in an agent's folder makes it (``again``).
"""

import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice

from siding.agents.facets import Facet
from siding.ground.namedtuples import NamedTuple

# An agent reports any text as the id of its conversation; a command line takes a harmless one.
_SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")


class PromptAgain(NamedTuple):
    """What the agent is asked.

    `session` is its own id of the conversation to go on with, "" to begin one. `alone`: it answers
    and ends; else it goes on talking with the person. `said` are prompts that the command line may
    have.
    """

    argv: tuple[str, ...]
    prompt: str
    session: str
    alone: bool
    said: Collection[str]


AGAIN: Facet[Callable[[PromptAgain], tuple[str, ...]]] = Facet("again", "again")


def prompted_again(agent: str, asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line; () if nobody has said how this agent is given a prompt."""
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
