"""What a conversation of the built-in agent is begun with."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.loop.model import Cache, Thinking
from siding.assistant.settings_files import NO_FLAGS, AgentFlags
from siding.ground.namedtuples import NamedTuple


class Which(NamedTuple):
    """Which conversation it is. Without anything it is a new one.

    `id` is a new one's own; `resumes` names an old one by id, the beginning of it, or title;
    `newest` is the newest of this workspace. With `forks` a copy of it goes on. `after`: it goes on
    after the message of this id; `drops` is the prompt that has to be the next one after that, if
    one is named. What is said is stored if it `persists`.
    """

    id: str = ""
    resumes: str = ""
    newest: bool = False
    forks: bool = False
    after: str = ""
    drops: str = ""
    persists: bool = True


class Options(NamedTuple):
    """The options of one conversation. None is no limit, or what is usual.

    `flags` is what the command line says of what files of settings may say as well.
    """

    which: Which = Which()
    flags: AgentFlags = NO_FLAGS
    effort: str | None = None  # as `effort_named` reads it
    thinking: Thinking = Thinking.AUTO
    cache: Cache = Cache.SHORT
    tools: tuple[str, ...] | None = None  # there are these alone
    without: frozenset[str] = frozenset()  # names of tools that there are not
    system: str | None = None  # in the place of the usual text
    more_system: str = ""  # behind it
    schema: Mapping[str, Any] | None = None
