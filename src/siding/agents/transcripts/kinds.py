"""Names of the transcript format that nearly every module needs."""

from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

Record: TypeAlias = dict[str, Any]

FORMAT_VERSION: Final = 1  # written into the field "v" of every line

USER: Final = "user"
ASSISTANT: Final = "assistant"
ATTACHMENT: Final = "attachment"
SYSTEM: Final = "system"
PROGRESS: Final = "progress"
CHAIN_TYPES: Final = frozenset({USER, ASSISTANT, ATTACHMENT, SYSTEM})
SPOKEN: Final = frozenset({USER, ASSISTANT})

COMPACT_BOUNDARY: Final = "compact_boundary"
SNIP_BOUNDARY: Final = "snip_boundary"


def moment(timestamp: object) -> int | None:
    """Return an ISO 8601 time in milliseconds since 1970; None if `timestamp` is not one.

    A time without an offset is taken as UTC.
    """
    if not isinstance(timestamp, str):
        return None
    try:
        parsed = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return int(parsed.timestamp() * 1000 + 0.5)
