"""The searchable text of a line of Codex and of Gemini CLI, in their own forms."""

from collections.abc import Iterable, Iterator
from typing import Any

from siding.agents.transcripts.clients.foreign import is_context
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.kinds import CHAIN_TYPES, Record
from siding.ground.storage.codec import NotJson

MOST_TEXT = 64 * 1024  # characters of one message that are searched
_CODEX_TEXTS = ("content", "summary", "name", "arguments", "input", "action", "output")
_GEMINI_TEXTS = ("content", "thoughts", "toolCalls")
_NAMES = frozenset({"id", "type", "call_id", "status", "renderOutputAsMarkdown", "timestamp"})


def codex_words(raw: bytes) -> tuple[str, str, str] | None:
    """What was said, what tools were called with, and what they answered; no instructions."""
    record = _record(raw)
    payload = record.get("payload")
    if record.get("type") != "response_item" or not isinstance(payload, dict):
        return None
    kind = payload.get("role") or ("user" if "output" in payload else "assistant")
    text = " ".join(_texts(payload.get(key) for key in _CODEX_TEXTS))[:MOST_TEXT]
    if not text or kind not in CHAIN_TYPES or is_context(text):
        return None
    return str(kind), _moment_of(record), text


def gemini_words(raw: bytes) -> tuple[str, str, str] | None:
    """What was said and thought, what tools were called with, and what they answered."""
    record = _record(raw)
    if not isinstance(record.get("id"), str):
        return None
    text = " ".join(_texts(record.get(key) for key in _GEMINI_TEXTS))[:MOST_TEXT]
    if not text or is_context(text):
        return None
    return "user" if record.get("type") == "user" else "assistant", _moment_of(record), text


def _record(raw: bytes) -> Record:
    try:
        return parsed(raw)
    except NotJson:
        return {}


def _moment_of(record: Record) -> str:
    moment = record.get("timestamp")
    return moment if isinstance(moment, str) else ""


def _texts(values: Iterable[Any]) -> Iterator[str]:
    """Yield all texts in JSON values, without the ids and the like beside them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from _texts(value)
        elif isinstance(value, dict):
            yield from _texts(each for key, each in value.items() if key not in _NAMES)
