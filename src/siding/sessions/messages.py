"""Questions about one message of a transcript, asked of its record as it was read.

Records come from files anybody may have written: every answer here holds for any JSON object.
"""

from typing import Any

from siding.sessions.kinds import (
    ASSISTANT,
    COMPACT_BOUNDARY,
    SNIP_BOUNDARY,
    SNIP_MARKER,
    SYSTEM,
    USER,
    Record,
)

_TURN_ENDING_TOOLS = frozenset({"SendUserMessage", "Brief", "SendUserFile"})
THINKING = frozenset({"thinking", "redacted_thinking"})


def message_of(record: Record) -> Record:
    """Return what went to or came from the model, {} when there is none."""
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def content_of(record: Record) -> Any:
    """Return the message's content: a text, a list of blocks, or whatever was written."""
    return message_of(record).get("content")


def blocks_of(record: Record) -> list[Record]:
    """Return the content's blocks; [] when it is a text."""
    content = content_of(record)
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def blocks_of_type(record: Record, kind: str) -> list[Record]:
    """Return the blocks of one type."""
    return [block for block in blocks_of(record) if block.get("type") == kind]


def text_of(record: Record) -> str:
    """Return the text of a message, its text blocks joined by line breaks."""
    content = content_of(record)
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in blocks_of_type(record, "text"))
    return "\n".join(text for text in texts if isinstance(text, str))


def message_id(record: Record) -> str | None:
    """Return the id the model's answer has; several lines share it when it had several blocks."""
    found = message_of(record).get("id")
    return found if isinstance(found, str) and found else None


def tool_uses(record: Record) -> list[Record]:
    """Return the tool calls of an assistant message."""
    return blocks_of_type(record, "tool_use") if record.get("type") == ASSISTANT else []


def tool_results(record: Record) -> list[Record]:
    """Return the tool results in a user message."""
    return blocks_of_type(record, "tool_result") if record.get("type") == USER else []


def is_tool_result(record: Record) -> bool:
    """Whether a user message answers a tool call and is nobody's own words."""
    if record.get("type") != USER:
        return False
    content = content_of(record)
    first = content[0] if isinstance(content, list) and content else None
    return (isinstance(first, dict) and first.get("type") == "tool_result") or bool(
        record.get("toolUseResult")
    )


def is_boundary(record: Record) -> bool:
    """Whether the message marks a compaction."""
    return record.get("type") == SYSTEM and record.get("subtype") == COMPACT_BOUNDARY


def is_snip_marker(record: Record) -> bool:
    """Whether the message only marks where something was cut out."""
    return record.get("type") == SYSTEM and record.get("subtype") == SNIP_MARKER


def is_snip_boundary(record: Record) -> bool:
    """Whether the message takes others out of the context."""
    return record.get("type") == SYSTEM and record.get("subtype") == SNIP_BOUNDARY


def removed_by(record: Record) -> list[str]:
    """Return the messages a snip takes out, whatever the subtype of the line that says so."""
    metadata = record.get("snipMetadata")
    removed = metadata.get("removedUuids") if isinstance(metadata, dict) else None
    return [each for each in removed if isinstance(each, str)] if isinstance(removed, list) else []


def is_blank(record: Record) -> bool:
    """Whether an assistant message says nothing but white space; an empty list is not blank."""
    content = content_of(record)
    if not isinstance(content, list) or not content:
        return False
    return all(
        isinstance(block, dict)
        and block.get("type") == "text"
        and not str(block.get("text") or "").strip()
        for block in content
    )


def is_only_thinking(record: Record) -> bool:
    """Whether an assistant message has thoughts and nothing else."""
    content = content_of(record)
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(block, dict) and block.get("type") in THINKING for block in content)


def ends_turn(tool_name: object) -> bool:
    """Whether a tool's result is the end of a turn: it has told the person everything."""
    return tool_name in _TURN_ENDING_TOOLS


def is_visible(record: Record) -> bool:
    """Whether a person counts the message as one of the conversation."""
    content = content_of(record)
    if record.get("type") == ASSISTANT:
        return bool(text_of(record).strip())
    if record.get("type") != USER or record.get("isMeta"):
        return False
    if isinstance(content, str):
        return bool(content.strip())
    return any(block.get("type") in ("text", "image", "document") for block in blocks_of(record))


def visible_count(records: list[Record]) -> int:
    """Return how many messages of the conversation a person would count."""
    return sum(is_visible(record) for record in records)
