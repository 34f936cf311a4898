"""Read the copy of an answer as its pieces come: tokens, model, error, and whether it is whole.

Most of a stream is text that nobody here looks at: only events that can say something that counts
are parsed. Nothing of an answer is kept but these few values. The compression
of a body is undone for whoever reads the copy.
"""

import json
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from siding.ground.storage.fields import mapping
from siding.record.wire.tokens import Said, said_in

Decode = Callable[[bytes], bytes]
LONGEST = 32 << 20  # bytes of an event, or of an answer that is one object
# Of the Responses API every event is a `response.`, and most of them are text.
_MARKS = (
    *(b'"usage', b'"error"', b'"message_stop"', b"inish"),
    *(b'"response.created', b'"response.completed', b'"response.incomplete', b'"response.failed'),
)
_STREAM, _JSON = "text/event-stream", "json"
_DONE = b"[DONE]"


class NotDecodable(Exception):
    """A body is encoded in a way that nobody here can undo; the message names the encoding."""


def decoder_of(encoding: str) -> Decode:
    """Return what decodes the pieces of a body one after the other. Raises NotDecodable.

    What it returns raises ValueError for bytes that are not so encoded.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return bytes
    if name in ("gzip", "x-gzip", "deflate"):
        return _guarded(zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress)
    if name == "br":
        return _guarded(_library("brotli", name).Decompressor().process)
    if name == "zstd":
        return _guarded(_library("zstandard", name).ZstdDecompressor().decompressobj().decompress)
    raise NotDecodable(name[:40])


def _library(module: str, encoding: str) -> Any:
    """Return a library that is not installed everywhere (``pip install 'siding[meter]'``)."""
    try:
        return import_module(module)
    except ImportError:
        raise NotDecodable(encoding) from None


def _guarded(decode: Decode) -> Decode:
    def decoded(data: bytes) -> bytes:
        try:
            return decode(data)
        except Exception as error:
            raise ValueError(f"it is not encoded as it says: {error}") from error

    return decoded


class AnswerReader:
    """Reads one answer. `said` is what it has said so far; `uncounted` is why that is not all."""

    def __init__(self, content_type: str, encoding: str) -> None:
        self.said = Said()
        self.uncounted = ""
        self.is_stream = content_type.lower().startswith(_STREAM)
        self._is_json = _JSON in content_type.lower()
        self._held = bytearray()  # of a stream: the line that is not over; else all of it
        self._event: list[bytes] = []
        self._size = 0
        try:
            self._decode = decoder_of(encoding)
        except NotDecodable as why:
            self._give_up(f"it is encoded as {why}")

    def feed(self, data: bytes) -> None:
        """Read the next bytes of the body, as they were sent."""
        if self.uncounted or not (self.is_stream or self._is_json):
            return
        try:
            plain = self._decode(data)
        except ValueError as error:
            self._give_up(str(error))
            return
        if self.is_stream:
            self._lines(plain)
        else:
            self._held += plain
        if len(self._held) + self._size > LONGEST:
            self._give_up(f"it has more than {LONGEST >> 20} MiB in one piece")

    def end(self) -> None:
        """Take note that the body is over."""
        if self.uncounted:
            return
        if self.is_stream:
            self._lines(b"\n\n")
        elif self._is_json and self._held:
            found = _parsed(self._held)
            for each in found if isinstance(found, list) else [found]:
                self._take(each)  # without `alt=sse` the Gemini API streams a list
        self._held.clear()

    def _give_up(self, why: str) -> None:
        self.uncounted, self._held, self._event = why, bytearray(), []

    def _lines(self, data: bytes) -> None:
        self._held += data
        if b"\n" not in data:
            return
        *lines, rest = bytes(self._held).split(b"\n")
        self._held = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._event.append(line[5:].strip())
                self._size += len(line)
            elif not line.strip() and self._event:
                self.take_event(b"\n".join(self._event))
                self._event, self._size = [], 0

    def take_event(self, event: bytes) -> None:
        """Read one whole event of a stream, which may have come in another way than as a line."""
        if event == _DONE:
            self.said = self.said._replace(is_finished=True)
        elif any(mark in event for mark in _MARKS):
            self._take(_parsed(event))

    def _take(self, found: Any) -> None:
        old = self.said
        new = said_in(mapping(found), old.tokens)
        self.said = Said(
            model=new.model or old.model,
            tokens=new.tokens or old.tokens,
            error=new.error or old.error,
            is_finished=new.is_finished or old.is_finished,
            is_known=new.is_known or old.is_known,
        )


def _parsed(data: bytes | bytearray) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
