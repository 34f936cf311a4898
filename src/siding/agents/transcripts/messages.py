"""Read properties of one message from its record.

Other programs write these files too, so every function here accepts any JSON object.
"""

from typing import Any

from siding.agents.transcripts.kinds import (
    ASSISTANT,
    ATTACHMENT,
    COMPACT_BOUNDARY,
    SYSTEM,
    USER,
    Record,
)

_TURN_ENDING_TOOLS = frozenset({"SendUserMessage", "Brief", "SendUserFile"})
THINKING = frozenset({"thinking", "redacted_thinking"})


def message_of(record: Record) -> Record:
    """Return the part of the record that the model's API takes or gave, {} when there is none."""
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def content_of(record: Record) -> Any:
    """Return the message's content: a text, a list of blocks, or any other JSON value."""
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


def queued_prompt(record: Record) -> str:
    """Return what a person typed while the model worked, and the model got in that turn; else "".

    Claude Code writes it as an attachment. The news that a shell in the background has ended is one
    as well, of another mode.
    """
    attachment = record.get("attachment")
    if record.get("type") != ATTACHMENT or not isinstance(attachment, dict):
        return ""
    if attachment.get("type") != "queued_command" or attachment.get("commandMode") != "prompt":
        return ""
    origin = attachment.get("origin")
    if isinstance(origin, dict) and origin.get("kind") not in (None, "human"):
        return ""
    return text_of({"message": {"content": attachment.get("prompt")}})


def as_said(record: Record) -> Record:
    """Return the record as a message of the person if it is one that was typed meanwhile."""
    typed = queued_prompt(record)
    if not typed:
        return record
    rest = {name: value for name, value in record.items() if name != "attachment"}
    return {**rest, "type": USER, "message": {"role": USER, "content": typed}}


def text_of(record: Record) -> str:
    """Return the text of a message, its text blocks joined by line breaks."""
    content = content_of(record)
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in blocks_of_type(record, "text"))
    return "\n".join(text for text in texts if isinstance(text, str))


def message_id(record: Record) -> str | None:
    """Return the id of the model's answer, None without one. Its lines (one a block) share it."""
    found = message_of(record).get("id")
    return found if isinstance(found, str) and found else None


def tool_uses(record: Record) -> list[Record]:
    """Return the tool calls of an assistant message."""
    return blocks_of_type(record, "tool_use") if record.get("type") == ASSISTANT else []


def tool_results(record: Record) -> list[Record]:
    """Return the tool results in a user message."""
    return blocks_of_type(record, "tool_result") if record.get("type") == USER else []


def is_tool_result(record: Record) -> bool:
    """Return whether a user message is the result of a tool call, not a person's words."""
    if record.get("type") != USER:
        return False
    content = content_of(record)
    first = content[0] if isinstance(content, list) and content else None
    return (isinstance(first, dict) and first.get("type") == "tool_result") or bool(
        record.get("toolUseResult")
    )


def is_boundary(record: Record) -> bool:
    """Return whether the message marks a compaction."""
    return record.get("type") == SYSTEM and record.get("subtype") == COMPACT_BOUNDARY


def removed_by(record: Record) -> list[str]:
    """Return the ids of the messages that this line takes out; its subtype does not matter."""
    metadata = record.get("snipMetadata")
    removed = metadata.get("removedUuids") if isinstance(metadata, dict) else None
    return [each for each in removed if isinstance(each, str)] if isinstance(removed, list) else []


def is_blank(record: Record) -> bool:
    """Return whether an assistant message has only text blocks of white space, at least one."""
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
    """Return whether an assistant message has only thinking blocks."""
    content = content_of(record)
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(block, dict) and block.get("type") in THINKING for block in content)


def ends_turn(tool_name: object) -> bool:
    """Return whether the tool's result ends the turn: it delivered the answer to the person."""
    return tool_name in _TURN_ENDING_TOOLS


def is_visible(record: Record) -> bool:
    """Return whether a person would count this as a message of the conversation."""
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
