"""Read a question or its answers from JSON text or a file; errors name the place and the fix."""

import json
from pathlib import Path

from siding.ground.errors import FileTooLarge, NotFound, SidingError
from siding.ground.files.regular import read_bytes
from siding.ground.storage.codec import NotJson, parse_object

LONGEST_REQUEST = 1 << 20  # bytes


class NotARequest(SidingError):
    """The input cannot be read as a question or as answers."""

    code = "not_a_request"


def read_text(raw: bytes, where: str) -> object:
    """Return the JSON object in `raw`; raise NotARequest. `where` names the input in messages."""
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
    """Return the JSON object in a file; raise NotFound or NotARequest."""
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
    """Return the parsed JSON of answers, an object or a list; raise NotARequest."""
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
