"""What the lines of Claude Code's transcripts say, which are also ours: to a list, to a search."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from siding.agents.transcripts.foreign import MOST_TEXT
from siding.agents.transcripts.heads import TOO_ODD, parsed
from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, CHAIN_TYPES, USER, Record
from siding.agents.transcripts.messages import is_boundary, queued_prompt
from siding.agents.transcripts.reading.listing import NO_PROMPT, first_prompt, shortened
from siding.agents.transcripts.summaries import Lines, Summary, storable, text_in
from siding.ground.storage.codec import NotJson
from siding.ground.storage.fields import mapping

_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle"}
_NOT_SAID: Final = "claude"  # its older versions do not write what a message came from
_QUEUED = b'"queued_command"'  # what a person typed while the model worked


def _fold(summary: Summary, record: Record) -> None:
    kind = record.get("type")
    if kind in _TITLES:
        _take_title(summary, str(kind), record.get(_TITLES[str(kind)]))
        return
    if kind not in CHAIN_TYPES:
        return
    if record.get("isSidechain") or record.get("teamName"):
        summary.hidden = True
    summary.cwd = summary.cwd or text_in(record.get("cwd"))
    summary.entrypoint = summary.entrypoint or text_in(record.get("entrypoint")) or _NOT_SAID
    summary.branch = text_in(record.get("gitBranch")) or summary.branch
    summary.heard(record.get("timestamp"))
    message = mapping(record.get("message"))
    if kind == ASSISTANT:
        summary.answered(message.get("id"))
    elif kind == ATTACHMENT:
        queued = queued_prompt(record)
        if queued:
            summary.asked(queued)
    elif kind == USER:
        asked = first_prompt([record])
        if asked != NO_PROMPT:
            summary.asked(asked)
        elif record.get("isCompactSummary"):
            summary.messages += 1
    elif is_boundary(record):
        summary.messages = 0  # what was said before it is no longer shown


def _take_title(summary: Summary, kind: str, title: object) -> None:
    """A title that a person gave stands against one that a model made up."""
    if not isinstance(title, str) or (kind == "ai-title" and summary.has_custom_title):
        return
    summary.title = storable(shortened(title))
    summary.has_custom_title = kind == "custom-title" and bool(title)


class _Found(msgspec.Struct, gc=False):
    type: str = ""
    timestamp: Any = ""
    message: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Found)


def _queued(raw: bytes) -> tuple[str, str, str] | None:
    try:
        record = parsed(raw)
    except NotJson:
        return None
    said, moment = queued_prompt(record)[:MOST_TEXT], record.get("timestamp")
    return (USER, moment if isinstance(moment, str) else "", said) if said else None


def _words(raw: bytes) -> tuple[str, str, str] | None:
    try:
        found = _DECODER.decode(raw)
    except TOO_ODD:
        return None
    if found.type == ATTACHMENT and _QUEUED in raw:
        return _queued(raw)
    if found.type not in CHAIN_TYPES or found.message is None:
        return None
    text = " ".join(_texts(found.message.get("content")))[:MOST_TEXT]
    moment = found.timestamp if isinstance(found.timestamp, str) else ""
    return (found.type, moment, text) if text else None


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a message's content: text, input and result of its blocks."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key in ("text", "thinking", "name", "input", "content"):
            if key in value:
                yield from _values(value[key]) if key == "input" else _texts(value[key])


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _values(each)


LINES = Lines(fold=_fold, words=_words)
