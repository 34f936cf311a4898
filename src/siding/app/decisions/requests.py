"""A question as it arrives: JSON text or a file; what is wrong with it is said with the place."""

import json
from pathlib import Path

from siding.errors import FileTooLarge, NotFound, SidingError
from siding.files.regular import read_bytes
from siding.storage.codec import NotJson, parse_object

LONGEST_REQUEST = 1 << 20  # bytes


class NotARequest(SidingError):
    """What was given is no JSON object."""

    code = "not_a_request"


def read_text(raw: bytes, where: str) -> object:
    """Return the JSON object in the bytes; `where` names them in messages."""
    if len(raw) > LONGEST_REQUEST:
        raise NotARequest(
            f"{where} has more than {LONGEST_REQUEST} bytes",
            hint="a person reads this; make it shorter",
        )
    if not raw.strip():
        raise NotARequest(f"{where} is empty", hint="give the question as JSON; see --help")
    try:
        return parse_object(raw)
    except NotJson as error:
        raise NotARequest(f"{where} cannot be read: {error}", hint=_hint(raw)) from None


def read_file(path: Path) -> object:
    """Return the JSON object in a file."""
    try:
        raw = read_bytes(path, limit=LONGEST_REQUEST)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}") from None
    except FileTooLarge as error:
        raise NotARequest(
            f"{str(path)!r} has more than {error.limit} bytes",
            hint="a person reads this; make it shorter",
        ) from None
    return read_text(raw, repr(str(path)))


def read_answers(raw: bytes, where: str) -> object:
    """Return the JSON of answers: an object, or a list."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise NotARequest(f"{where} is not JSON", hint='[{"id": 1, "chosen": "a"}]') from None


def _hint(raw: bytes) -> str:
    if raw.lstrip()[:1] in (b"[", b'"'):
        return 'a question is an object: {"task": "…", "source": "…", "items": [ … ]}'
    if raw.lstrip()[:1] == b"{" and raw.count(b"'") > raw.count(b'"'):
        return 'JSON has double quotes: {"task": "…"}'
    return "in a shell, put the JSON in single quotes, or use --file"
