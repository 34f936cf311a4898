"""The messages of a conversation as the model sees them.

Blocks are dictionaries as Anthropic's API has them (`text`, `thinking`, `tool_use`, `tool_result`,
`image`, `document`), because transcripts hold them. Adapters translate them for other models.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from siding.ground.namedtuples import NamedTuple

Block = dict[str, Any]


class Usage(NamedTuple):
    """Tokens of one request, in one meaning for all models.

    The whole prompt is `input + cache_read + cache_write`: the parts do not overlap. `output` has
    the tokens of thoughts, too.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """All tokens that were sent."""
        return self.input + self.cache_read + self.cache_write

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum."""
        return Usage(*(mine + its for mine, its in zip(self, other, strict=True)))


class Message(NamedTuple):
    """One message. Roles alternate; every `tool_use` is answered in the next message.

    `kept` is what the provider `kept["provider"]` wants back as it gave it (signatures, encrypted
    thoughts). Only its adapter reads it; another model gets the blocks alone.
    """

    role: Literal["user", "assistant"]
    content: Sequence[Block]
    kept: Mapping[str, Any] = {}
