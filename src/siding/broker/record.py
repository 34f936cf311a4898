"""What a run asked its broker, what it was told, and how much one run may ask.

A file beside the run's output has a line for each request, and one for each answer, as JSON objects
without secrets. It becomes an artifact of the run's step. Notes are flushed; what else a run asks
for has records of its own.
"""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from siding.broker.messages import ToldRequest
from siding.ground.errors import SidingError
from siding.ground.files.durable import flush, make_dirs, write_all
from siding.ground.files.regular import open_regular
from siding.ground.storage.fields import mapping, said, text
from siding.record.place.redaction import Redaction, printable

MOST_PEERS = 32  # connections at a time
MOST_QUESTIONS = 16  # that wait for a person at a time
MOST_RECORDED = 8 << 20  # bytes of requests in the record of a run
A_SECOND = 100.0  # requests, in the long run
AT_ONCE = 200.0
_LONGEST_TEXT = 2000  # characters of a text in the record; a question has a record of its own
_QUIET = frozenset({"hello", "status", "events"})  # they only look


class TooMuch(SidingError):
    """The run has asked for more than a run may."""

    code = "too_much"


class Pace:
    """Counts requests; refuses those that come faster than a run may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._left = AT_ONCE
        self._at = time.monotonic()

    def count(self) -> None:
        """Take note of a request. Raises TooMuch if there were too many lately."""
        with self._lock:
            now = time.monotonic()
            self._left = min(AT_ONCE, self._left + (now - self._at) * A_SECOND)
            self._at = now
            if self._left < 1:
                raise TooMuch(
                    f"this run asks more than {A_SECOND:g} times a second",
                    hint="wait a moment; nothing was done",
                )
            self._left -= 1


class RequestRecord:
    """The file of one run; None for a run that has no record. Any thread may call the methods."""

    def __init__(self, path: Path | None, redaction: Redaction, now: Callable[[], str]) -> None:
        self._path = path
        self._redaction = redaction
        self._now = now
        self._lock = Lock()
        self._fd = -1
        self._size = 0

    def asked(self, request: ToldRequest) -> None:
        """Write a request down before it is carried out.

        Raises TooMuch if the run has asked for too much in all, and OSError.
        """
        if request.what in _QUIET:
            return
        if request.what == "report":
            # An agent reports all day. Turns have steps of their own, so a full record stops none.
            with suppress(TooMuch):
                self._write({"at": self._now(), "do": request.what, **_brief(request)})
            return
        fields = {name: value for name, value in request.fields.items() if name not in ("do", "id")}
        self._write({"at": self._now(), "do": request.what, **fields})

    def told(self, request: ToldRequest, answer: dict[str, Any]) -> None:
        """Write down what the answer comes to."""
        if request.what not in _QUIET and answer:
            with suppress(OSError, TooMuch):  # it is done, and whoever asked has to hear of it
                self._write({"at": self._now(), "answered": request.what, **answer}, is_answer=True)

    def _write(self, record: dict[str, Any], *, is_answer: bool = False) -> None:
        if self._path is None:
            return
        cut = _shortened(self._redaction.record(_spelled(said(**record))))
        data = json.dumps(cut).encode() + b"\n"
        with self._lock:
            if self._fd < 0:
                make_dirs(self._path.parent)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._fd = open_regular(self._path, flags)
                self._size = os.fstat(self._fd).st_size
            # An answer has room behind its request, so that no request stays without one.
            if self._size + len(data) > MOST_RECORDED * (2 if is_answer else 1):
                raise TooMuch(
                    "the record of what this run asked is full",
                    hint="start another run; nothing was done",
                )
            write_all(self._fd, data)
            self._size += len(data)
            if record.get("do") == "note":
                flush(self._fd)


def _brief(request: ToldRequest) -> dict[str, Any]:
    """Return what is kept of an agent's report: which it is, and the command it is about."""
    payload = mapping(request.fields.get("payload"))
    return said(
        agent=text(request.fields.get("agent")),
        event=text(payload.get("hook_event_name")) or text(payload.get("moment")),
        command=text(mapping(payload.get("tool_input")).get("command"))
        or text(payload.get("command")),
    )


def _spelled(value: Any) -> Any:
    """Return the value with valid UTF-8 in all its texts."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(name): _spelled(each) for name, each in value.items()}
    return [_spelled(each) for each in value] if isinstance(value, list | tuple) else value


def _shortened(value: Any) -> Any:
    """Return the value with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + "…"
    if isinstance(value, dict):
        return {name: _shortened(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(each) for each in value]
    return value
