"""One request and its answer, measured from the copies of their bytes as they pass. No I/O.

So are the calls of a model within one WebSocket. The Responses API can be spoken over one: a
message of the client asks, and each message of the server is an event, until one says that the
answer is over. Then the next one is asked. Each such call is a line of its own, and so is the
connection, when it ends.

The copy of an answer is read as its pieces come: tokens, model, error, and whether it is whole.
Most of a stream is text that nobody here looks at: only events that can say something that counts
are parsed. Nothing of an answer is kept but these few values. The compression of a body is undone
for whoever reads the copy.
"""

import json
import re
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from siding.ground.hashing import new_digest
from siding.ground.storage.fields import mapping
from siding.record.wire.journal import Ending, Kind, Passed, path_to_keep
from siding.record.wire.tokens import Said, said_in
from siding.sandbox.wire.frames import FrameReader, MessageReader, NotFrames
from siding.sandbox.wire.frames import Kind as FrameKind
from siding.sandbox.wire.heads import RequestHead, ResponseReader

_RETRIES = "x-stainless-retry-count"  # the libraries of Anthropic and OpenAI say it
_MOST_FAILED = 1000
_LOOKED_AT = 4096  # bytes of a request in which its model is looked for; clients name it first
_MODEL = re.compile(rb'"model"\s*:\s*"([\w.:/@+-]{1,100})"')
_MODEL_IN_PATH = re.compile(r"/models/([\w.@+-]{1,100})(?::|$|\?)")
Milliseconds = Callable[[], float]
_NOT_COUNTED = "it went on in another protocol (WebSocket), in which no call was understood"
Decode = Callable[[bytes], bytes]
LONGEST = 32 << 20  # bytes of an event, or of an answer that is one object
# Of the Responses API every event is a `response.`, and most of them are text.
_MARKS = (
    *(b'"usage', b'"error"', b'"message_stop"', b"inish"),
    *(b'"response.created', b'"response.completed', b'"response.incomplete', b'"response.failed'),
)
_STREAM, _JSON = "text/event-stream", "json"
_DONE = b"[DONE]"


class FailedBodies:
    """Knows requests that failed, by a hash of what they asked: the same once more is a retry."""

    def __init__(self) -> None:
        self._digests: dict[bytes, None] = {}

    def is_known(self, digest: bytes) -> bool:
        return digest in self._digests

    def note(self, digest: bytes, *, failed: bool) -> None:
        self._digests.pop(digest, None)
        if failed:
            self._digests[digest] = None
            if len(self._digests) > _MOST_FAILED:
                del self._digests[next(iter(self._digests))]


def model_in(question: bytes) -> str:
    """Return the model that the beginning of a request names, "" for none."""
    named = _MODEL.search(question)
    return named[1].decode() if named else ""


class Exchange:
    """Measures one request. Call `passed` once, when it is over; it returns the line about it."""

    def __init__(
        self,
        head: RequestHead,
        path: str,
        host: str,
        port: int,
        *,
        at: str,
        now: Milliseconds,
        failed: FailedBodies,
    ) -> None:
        self.response = ResponseReader(head)
        self._head, self._path = head, path
        self._host, self._port = host, port
        self._at, self._now, self._failed = at, now, failed
        self._began = now()
        self._first: float | None = None
        self._sent = self._received = 0
        self._digest = new_digest("sha256", None)
        self._digest.update(path.encode())
        self._answer: AnswerReader | None = None
        named = _MODEL_IN_PATH.search(path)
        self._model = named[1] if named else ""
        self._looked = b""

    @property
    def is_over(self) -> bool:
        """Whether the whole answer is there, as HTTP has it."""
        return self.response.is_over

    def sends(self, data: bytes) -> None:
        """Take note of the next bytes of the request's body, as they are on the wire."""
        self._sent += len(data)
        self._digest.update(data)
        if not self._model and len(self._looked) < _LOOKED_AT:
            self._looked += data[:_LOOKED_AT]
            self._model = model_in(self._looked)

    def receives(self, data: bytes) -> None:
        """Take note of the next bytes of the answer, its head included; b"" is their end."""
        if self._first is None and data:
            self._first = self._now()
        for piece in self.response.feed(data):
            self._received += len(piece)
            if self._answer is None:
                head = self.response.head
                assert head is not None
                self._answer = AnswerReader(head.content_type, head.encoding)
            self._answer.feed(piece)
        if self.is_over and self._answer is not None:
            self._answer.end()

    def passed(self, ending: Ending, why: str = "") -> Passed:
        """Return the line about this request. `ending` is what the connection looked like."""
        head, answer = self.response.head, self._answer
        said = Said() if answer is None else answer.said
        status = 0 if head is None else head.status
        streamed = answer is not None and answer.is_stream and said.is_known
        if said.is_finished and ending is not Ending.UNREACHABLE:
            ending = Ending.WHOLE  # whether or not the connection outlived the last event
        elif streamed and ending is Ending.WHOLE and not said.error:
            ending = Ending.CUT  # no event has said that the answer is over
        unread = "the answer is no HTTP/1.1" if self.response.is_odd else ""
        why = why or ("" if answer is None else answer.uncounted) or unread
        digest = self._digest.digest()
        line = Passed(
            at=self._at,
            kind=Kind.REQUEST,
            host=self._host,
            port=self._port,
            method=self._head.method[:20],
            path=path_to_keep(self._path),
            status=status,
            ended=ending.value,
            model=said.model or self._model,
            first_ms=0 if self._first is None else round(self._first - self._began),
            ms=round(self._now() - self._began),
            sent=self._sent,
            received=self._received,
            tokens=said.tokens if status < 400 else None,
            retry=self._failed.is_known(digest) or self._head.header(_RETRIES) not in ("", "0"),
            error=said.error,
            why=why,
        )
        self._failed.note(digest, failed=line.failed or ending is Ending.CUT)
        return line


class _Call:
    """One call, from its question on."""

    def __init__(self, at: str, began: float, model: str) -> None:
        self.at, self.began, self.model = at, began, model
        self.first: float | None = None
        self.sent = self.received = 0
        self.answer = AnswerReader("text/event-stream", "")


class SocketCalls:
    """Measures one WebSocket. `opened` is the line about the request that opened it."""

    def __init__(
        self,
        opened: Passed,
        extensions: str,
        *,
        at: Callable[[], str],
        now: Callable[[], float],
    ) -> None:
        self._opened, self._at, self._now = opened, at, now
        self._began = now() - opened.ms
        self._asked, self._said = FrameReader(), MessageReader(extensions)
        self._call: _Call | None = None
        self._count = 0
        self._why = ""

    def sends(self, data: bytes) -> None:
        """Take note of what the client sends: its message begins a call."""
        if self._why:
            return
        try:
            frames = self._asked.feed(data)
        except NotFrames as error:
            self._why = str(error)
            return
        for frame in frames:
            if frame.kind >= FrameKind.CLOSE:
                continue
            if self._call is None:
                model = "" if frame.is_deflated else model_in(frame.payload)
                self._call = _Call(self._at(), self._now(), model)
            self._call.sent += frame.size

    def receives(self, data: bytes) -> list[Passed]:
        """Take note of what the server sends; return the lines of the calls that are over."""
        if self._why:
            return []
        try:
            messages = self._said.feed(data)
        except NotFrames as error:
            self._why = str(error)
            return []
        found = []
        for message in messages:
            call = self._call
            if call is None:
                continue  # nobody has asked
            if call.first is None:
                call.first = self._now()
            call.received += len(message)
            call.answer.take_event(message)
            if call.answer.said.is_finished or call.answer.said.error:
                found.append(self._line(call, Ending.WHOLE))
                self._call = None
        return found

    def ended(self, ending: Ending) -> list[Passed]:
        """Return the lines of the call that is not over, and of the connection. `ending` is who
        has ended it."""
        found = []
        call = self._call
        # Where no call was ever understood, a question is none either.
        if call is not None and (call.answer.said.is_known or self._count):
            found.append(self._line(call, ending))
        why = self._why or ("" if self._count else _NOT_COUNTED)
        ms = round(self._now() - self._began)
        return [*found, self._opened._replace(ms=ms, ended=Ending.WHOLE.value, why=why)]

    def _line(self, call: _Call, ending: Ending) -> Passed:
        self._count += 1
        said = call.answer.said
        return self._opened._replace(
            at=call.at,
            ended=ending.value,
            model=said.model or call.model,
            first_ms=0 if call.first is None else round(call.first - call.began),
            ms=round(self._now() - call.began),
            sent=call.sent,
            received=call.received,
            # Before its first question Codex asks for nothing, so that the server is ready.
            tokens=said.tokens if said.tokens and any(said.tokens) else None,
            error=said.error,
            why="",
        )


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
    """Return a library that is not installed everywhere (the extra ``meter``)."""
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
