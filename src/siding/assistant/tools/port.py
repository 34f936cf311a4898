"""What a tool is, and the values it takes and gives.

A failure is a result, not an exception: the model reads it and goes on. A tool raises only when
Siding itself has a mistake, and `asyncio.CancelledError`.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import ToolUse

Block = Mapping[str, Any]  # a block of content as Anthropic's API has it: `text`, `image`, …


class ToolSpec(NamedTuple):
    """What a model is told of a tool. `schema` is a JSON schema of an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


class Call(NamedTuple):
    """One call of a tool by a model. `id` is the model's own; `given` fits no schema for sure."""

    id: str
    name: str
    given: Mapping[str, Any]


class Use(NamedTuple):
    """What one call is about to do, for rules, for the policy and for a person to read.

    `pattern` is what a rule such as ``Bash(git commit:*)`` or ``Read(src/**)`` is compared with:
    the command, the path from the workspace, the host of an address. "" has no pattern.

    `in_conversation`: what the call changes is the conversation and the record of its task. Such
    calls wait for each other, so they are not safe, and yet nobody has to be asked about them.
    """

    pattern: str = ""
    command: str = ""  # of a shell
    touches: ToolUse | None = None  # of files and addresses
    text: str = ""  # in one line: ``Edit src/app.py``
    in_conversation: bool = False


class Result(NamedTuple):
    """How a call ended. `content` is for the model, `shown` and `details` for people and programs.

    `details` is what Claude Code's transcripts have as ``toolUseResult``.
    """

    content: str | tuple[Block, ...]
    is_error: bool = False
    shown: str = ""  # in one line: ``42 lines``
    details: Mapping[str, Any] = {}


class Progress(NamedTuple):
    """What a call that is still under way says."""

    call: str
    text: str


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""
        ...

    def is_safe(self, given: Mapping[str, Any], /) -> bool:
        """Tell whether the call changes nothing: it may run beside others, and again."""
        ...

    def use(self, given: Mapping[str, Any], /) -> Use:
        """Return what the call is about to do. `given` has been checked against the schema."""
        ...

    async def run(self, call: Call) -> Result:
        """Do it. Cancelled, it ends what it has started before the error goes on.

        `call.given` has been checked against the schema, and the call has been allowed.
        """
        ...
