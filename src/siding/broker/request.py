"""A request to the broker, and its answer, as lines of JSON. docs/broker.md describes both."""

import json
from collections.abc import Mapping
from typing import Any

from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.fields import said

VERSION = 1
LONGEST = 1 << 20  # bytes of a request


class BadRequest(UsageError):
    """The request is none that the broker knows."""

    code = "bad_request"


class Request(NamedTuple):
    """What a process of the run asks. `number` is its own mark, which the answer repeats."""

    what: str
    fields: Mapping[str, Any]
    number: object = None

    def text(self, name: str, *, most: int, needed: bool = False) -> str:
        """Return a field that is text of at most `most` characters. Raises BadRequest."""
        value = self.fields.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            raise BadRequest(f"{self.what}: {name!r} must be a text that is not blank")
        if len(value) > most:
            raise BadRequest(f"{self.what}: {name!r} has more than {most} characters")
        return value

    def yes(self, name: str, *, default: bool = False) -> bool:
        """Return a field that is true or false. Raises BadRequest."""
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise BadRequest(f"{self.what}: {name!r} must be true or false")
        return value

    def seconds(self, name: str) -> float | None:
        """Return a field that is a time in seconds; None if it is not there. Raises BadRequest."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise BadRequest(f"{self.what}: {name!r} must be a number of seconds")
        return float(value)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of texts. Raises BadRequest."""
        value = self.fields.get(name)
        if not isinstance(value, list) or not value or not all(isinstance(e, str) for e in value):
            raise BadRequest(f"{self.what}: {name!r} must be a list of texts")
        return tuple(value)


def parse(line: bytes) -> Request:
    """Return the request in a line. Raises BadRequest."""
    try:
        found = parse_object(line)
    except NotJson as error:
        raise BadRequest(
            f"the request cannot be read: {error}", hint='a line such as {"do": "status"}'
        ) from None
    try:
        # Half a character is no text; bytes of paths that are no UTF-8 come as Python spells them.
        json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except (UnicodeEncodeError, RecursionError):
        raise BadRequest("the request has a text that is no Unicode") from None
    what = found.get("do")
    if not isinstance(what, str) or not what:
        raise BadRequest("the request does not say what to do", hint='{"do": "status"}, say')
    number = found.get("id")
    if not isinstance(number, str | int | None):
        raise BadRequest("'id' must be a text or a number")
    version = found.get("version", VERSION)
    if version != VERSION:
        raise BadRequest(f"version {version!r} of requests is not known", hint=f"this is {VERSION}")
    return Request(what, found, number)


def answer_line(number: object, result: Mapping[str, Any]) -> bytes:
    """Return the answer to a request that was carried out."""
    return _line({"ok": True, "id": number, "result": result})


def event_line(number: object, event: Mapping[str, Any]) -> bytes:
    """Return a line of a request that has several."""
    return _line({"ok": True, "id": number, "event": event})


def refusal_line(number: object, error: SidingError, *, output: str = "") -> bytes:
    """Return the answer to a request that was refused; `output` is that of a gate's command."""
    told = said(code=error.code, message=error.message, hint=error.hint, output=output)
    return _line({"ok": False, "id": number, "error": told})


def _line(answer: Mapping[str, Any]) -> bytes:
    known = {name: value for name, value in answer.items() if name != "id" or value is not None}
    return json.dumps(known).encode() + b"\n"
