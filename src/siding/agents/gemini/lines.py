"""What the lines of Gemini CLI's transcripts say: to a list, to a search."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.transcripts.foreign import (
    MOST_TEXT,
    all_texts,
    is_context,
    moment_of,
    record_of,
)
from siding.agents.transcripts.kinds import USER, Record
from siding.agents.transcripts.reading.listing import shortened, without_hooks
from siding.agents.transcripts.summaries import Lines, Summary, storable, text_in, texts_in
from siding.ground.files.regular import read_bytes
from siding.ground.storage.fields import mapping

_TEXTS = ("content", "thoughts", "toolCalls")


def _fold(summary: Summary, record: Record) -> None:
    if isinstance(record.get("sessionId"), str) and "id" not in record:
        summary.id = text_in(record["sessionId"])
        summary.hidden = record.get("kind") == "subagent"
        summary.project_hash = text_in(record.get("projectHash"))
    changed = mapping(record.get("$set"))
    for each in (record, changed):
        summary.title = storable(shortened(text_in(each.get("summary")))) or summary.title
        for message in each["messages"] if isinstance(each.get("messages"), list) else ():
            _message(summary, mapping(message))
    _message(summary, record)


def _message(summary: Summary, message: Mapping[str, Any]) -> None:
    if not isinstance(message.get("id"), str):
        return
    summary.heard(message.get("timestamp"))
    if message.get("type") == "gemini":
        summary.answered(message["id"])
    elif message.get("type") == USER:
        said = without_hooks(texts_in(message.get("content")))
        if said and not is_context(said):
            summary.asked(said)


def _words(raw: bytes) -> tuple[str, str, str] | None:
    """What was said and thought, what tools were called with, and what they answered."""
    record = record_of(raw)
    if not isinstance(record.get("id"), str):
        return None
    text = " ".join(all_texts(record.get(key) for key in _TEXTS))[:MOST_TEXT]
    if not text or is_context(text):
        return None
    return "user" if record.get("type") == "user" else "assistant", moment_of(record), text


def _complete(path: Path, summary: Summary) -> None:
    """Take the directory of the project, which a file beside the chats names."""
    if summary.cwd:
        return
    try:
        data = read_bytes(path.parents[1] / ".project_root", limit=16 * 1024)
    except (OSError, ValueError):
        return
    summary.cwd = storable(data.decode("utf-8", "replace").strip())


LINES = Lines(fold=_fold, words=_words, complete=_complete)
