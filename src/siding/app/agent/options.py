"""What a conversation of the built-in agent is begun with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agent.model import Cache, Effort, Thinking
from siding.namedtuples import NamedTuple


class Which(NamedTuple):
    """Which conversation it is. Without anything it is a new one.

    `id` is a new one's own; `resumes` names an old one by id, the beginning of it, or title;
    `newest` is the newest of this workspace. With `forks` a copy of it goes on. `after`: it goes on
    after the message of this id. What is said is stored if it `persists`.
    """

    id: str = ""
    resumes: str = ""
    newest: bool = False
    forks: bool = False
    after: str = ""
    persists: bool = True


class Options(NamedTuple):
    """The options of one conversation. None is no limit, or what is usual.

    `model` is ``provider:name``, or the name alone; "" is the one of the settings.
    """

    which: Which = Which()
    model: str = ""
    fallback: str = ""
    effort: Effort | int | None = None
    thinking: Thinking = Thinking.AUTO
    cache: Cache = Cache.SHORT
    is_planning: bool = False  # it changes nothing
    tools: tuple[str, ...] | None = None  # there are these alone
    without: frozenset[str] = frozenset()  # names of tools that there are not
    extra: tuple[Path, ...] = ()  # further directories that may be changed
    system: str | None = None  # in the place of the usual text
    more_system: str = ""  # behind it
    schema: Mapping[str, Any] | None = None
    most_requests: int | None = None  # of each turn
    most_dollars: float | None = None
    most_tokens: int | None = None
