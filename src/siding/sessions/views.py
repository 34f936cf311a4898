"""Render a conversation as text for a terminal, as Markdown or as an HTML page."""

from collections.abc import Iterator

from siding.agents.transcripts.calls import STEP, says_nothing
from siding.agents.transcripts.kinds import ASSISTANT, SYSTEM, USER, Record
from siding.agents.transcripts.markdown import blocks, markdown
from siding.agents.transcripts.messages import content_of, is_boundary, is_tool_result
from siding.agents.transcripts.page import page
from siding.sessions.sessions import Conversation

SHOWN_RESULT = 600  # characters of a tool's result in a terminal


def as_markdown(found: Conversation) -> Iterator[str]:
    """Yield the conversation as Markdown."""
    return markdown(found.title, found.records)


def as_page(found: Conversation, *, images: bool) -> Iterator[str]:
    """Yield the conversation as one HTML page."""
    return page(found.title, found.records, images=images)


def as_text(found: Conversation, *, everything: bool = False) -> Iterator[str]:
    """Yield the conversation for a terminal; messages of the live chain have their numbers.

    Hooks, times and empty attachments are left out, if not everything is wanted.
    """
    numbers = {uuid: number for number, uuid in enumerate(found.ids, 1)}
    yield f"{found.title}\n{found.id}\n"
    for record in found.records:
        number = numbers.get(str(record.get("uuid")))
        if says_nothing(record) and not everything:
            continue
        if record.get("subtype") == STEP:
            yield f"\n→ {record['content']}\n"
            continue
        mark = f"#{number}" if number else "(compacted)"
        yield f"\n{mark} {_who(record)}  {record.get('timestamp', '')}\n"
        yield "".join(blocks(content_of(record), SHOWN_RESULT)) or _note(record)


def _who(record: Record) -> str:
    kind = record.get("type")
    if is_boundary(record):
        return "compaction"
    if kind == ASSISTANT:
        return "model"
    if kind != USER:
        return str(kind)
    if record.get("isCompactSummary"):
        return "summary"
    if is_tool_result(record):
        return "tools"
    return "hidden prompt" if record.get("isMeta") else "person"


def _note(record: Record) -> str:
    if record.get("type") == SYSTEM:
        return f"\n{record.get('content') or record.get('subtype') or ''}\n"
    return "\n"
