"""Mask the secrets in lines, records and texts of a conversation before they are shown or exported.

A transcript in Siding's home is kept as the agent wrote it. A page, a document for programs or an
export is usually for somebody else. The setting `redaction.enabled` makes no difference here: it is
about what is recorded.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from siding.agents.transcripts.kinds import Record
from siding.record.place.redaction import Redaction
from siding.sessions.shelf import SessionPlace


def mask_line(redaction: Redaction, line: bytes) -> bytes:
    """Return a line without its secrets. A line of JSON stays a line of JSON.

    The line is masked as a whole, because a secret is often found by the name beside it. Only if
    that breaks the JSON, each string in it is masked alone.
    """
    masked = redaction.redactor.mask(line)
    if masked == line or _is_json(masked) or not _is_json(line):
        return masked
    return _encoded(_each(json.loads(line), redaction.redactor.mask_text)) + b"\n"


def mask_records(place: SessionPlace, records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records without their secrets."""
    for record in records:
        yield mask_value(place, record)


def mask_value(place: SessionPlace, value: Any) -> Any:
    """Return a JSON value without its secrets."""
    line = _encoded(value)
    masked = mask_line(place.redaction, line)
    return value if masked == line else json.loads(masked)


def mask_text(place: SessionPlace, text: str) -> str:
    """Return a text without its secrets."""
    return place.redaction.redactor.mask_text(text)


def _encoded(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace")


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _each(value[key], change) for key in value}
    if isinstance(value, list):
        return [_each(each, change) for each in value]
    return value


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
