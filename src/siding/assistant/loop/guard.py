"""The port through which the loop asks whether a tool may be used."""

from collections.abc import Mapping
from typing import Any, Protocol

from siding.assistant.tools.port import Call, Result, Tool
from siding.ground.namedtuples import NamedTuple


class Allowed(NamedTuple):
    """The call may run, with this input: whoever was asked may have changed it."""

    given: Mapping[str, Any]


class Denied(NamedTuple):
    """The call does not run; the model reads `reason`. With `ends_turn` it is not asked again."""

    reason: str
    ends_turn: bool = False


class HookRuling(NamedTuple):
    """What a hook says of a call. Without anything it leaves the decision to others.

    `denies`, for the `reason`, and then perhaps `ends_turn`; `allows` it as a person would, who was
    asked; `asks` that somebody is asked; `given` is another input.
    """

    denies: bool = False
    reason: str = ""
    ends_turn: bool = False
    allows: bool = False
    asks: bool = False
    given: Mapping[str, Any] | None = None


class CallHooks(Protocol):
    """Is told of each call before it is decided on, and of its end."""

    async def before(self, call: Call) -> HookRuling:
        """Return what there is to say of a call."""
        ...

    async def after(self, call: Call, result: Result) -> None:
        """Take note of the end of a call."""
        ...


class Guard(Protocol):
    """Decides on calls. It may wait for a person, as long as that takes."""

    async def rule(self, call: Call, tool: Tool) -> Allowed | Denied:
        """Decide on a call whose input fits the tool's schema."""
        ...

    async def ended(self, call: Call, tool: Tool, result: Result) -> None:
        """Take note that a call which was allowed has ended."""
        ...
