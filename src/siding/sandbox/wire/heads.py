"""Heads and bodies of HTTP/1.1 as they pass: how far each goes, and what it says. No I/O.

The parser is h11, which refuses what two programs could read in two ways (two lengths, spaces
before a colon). It reads a copy: what is passed on is the bytes that came, but for the two places
of a request's head that name the proxy instead of the server.

Beside them: the answer that the proxy gives by itself.
"""

import json
import re
from http import HTTPStatus

import h11

from siding.ground.namedtuples import NamedTuple

LONGEST_HEAD = 64 << 10
_VERSIONS = (b"1.0", b"1.1")
_END = b"\r\n\r\n"
_BARE = re.compile(rb"(?<!\r)\n")
_FOLDED = re.compile(rb"\r\n[ \t]")
_HOST = re.compile(rb"(\r\nhost:)[^\r]*", re.IGNORECASE)
_HOPS = re.compile(rb"\r\nproxy-(?:connection|authorization):[^\r]*", re.IGNORECASE)
_UPGRADES = [("host", "a"), ("upgrade", "a"), ("connection", "upgrade")]


class BadHead(Exception):
    """The head of a request cannot be read, or can be read in two ways. `status` is the answer."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


class RequestHead(NamedTuple):
    """The head of a request. Names of headers are in small letters."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    raw: bytes

    def header(self, name: str) -> str:
        """Return the value of a header, "" without it."""
        return next((value for key, value in self.headers if key == name), "")

    def headers_named(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def upgrades(self) -> bool:
        """Whether the connection is to speak another protocol afterwards."""
        return bool(self.header("upgrade")) and "upgrade" in self.header("connection").lower()

    def redirected(self, target: str, host: str) -> bytes:
        """Return this head for another target and host; all other bytes are as they came."""
        method, _, rest = self.raw.partition(b" ")
        _old, _, rest = rest.partition(b" ")
        head = b" ".join((method, target.encode("latin-1"), rest))
        return _HOST.sub(lambda found: found[1] + b" " + host.encode("latin-1"), head, count=1)


def without_hops(head: bytes) -> bytes:
    """Return the bytes of a head without what is for a proxy alone."""
    return _HOPS.sub(b"", head)


class RequestReader:
    """Reads one request: `head` returns its head, `body` says which bytes behind it are its own."""

    def __init__(self) -> None:
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        self._held = bytearray()
        self.is_over = False  # the body is

    @property
    def has_begun(self) -> bool:
        return bool(self._held)

    def head(self, data: bytes) -> tuple[RequestHead, bytes] | None:
        """Return the head and what came behind it, None until it is there. Raises BadHead."""
        self._held += data
        end = self._held.find(_END)
        if end < 0:
            if len(self._held) > LONGEST_HEAD:
                raise BadHead("its head is too long", 431)
            return None
        end += len(_END)
        if end > LONGEST_HEAD:
            raise BadHead("its head is too long", 431)
        raw, rest = bytes(self._held[:end]), bytes(self._held[end:])
        if _BARE.search(raw):
            raise BadHead("a line of its head ends in a bare newline")
        if _FOLDED.search(raw):
            raise BadHead("a line of its head is folded")
        return self._parsed(raw), rest

    def body(self, data: bytes) -> tuple[bytes, bytes]:
        """Return which of the bytes are of this request, and the rest. Raises BadHead."""
        if not data:
            return b"", b""  # to the parser that would be the end of the connection
        try:
            self._parser.receive_data(data)
            self._advance()
        except h11.RemoteProtocolError as error:
            raise BadHead(f"its body cannot be read: {error}") from None
        rest = self._parser.trailing_data[0] if self.is_over else b""
        return data[: len(data) - len(rest)], rest

    def _parsed(self, raw: bytes) -> RequestHead:
        try:
            self._parser.receive_data(raw)
            event = self._parser.next_event()
        except h11.RemoteProtocolError as error:
            raise BadHead(str(error), error.error_status_hint) from None
        if not isinstance(event, h11.Request):
            raise BadHead("it does not begin with a request")
        if event.http_version not in _VERSIONS:
            raise BadHead("it is not HTTP/1.1", 505)
        headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in event.headers)
        names = [name for name, _value in headers]
        if "transfer-encoding" in names and "content-length" in names:
            raise BadHead("it says its length in two ways")
        self._advance()
        return RequestHead(
            event.method.decode("latin-1"), event.target.decode("latin-1"), headers, raw
        )

    def _advance(self) -> None:
        while not self.is_over:
            event = self._parser.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED):
                return
            self.is_over = isinstance(event, h11.EndOfMessage)


class ResponseHead(NamedTuple):
    status: int
    content_type: str
    encoding: str
    extensions: str = ""  # of a WebSocket, that the server has agreed to


class ResponseReader:
    """Reads the copy of one response. If it is no HTTP, `is_odd` is set and nothing more read."""

    def __init__(self, request: RequestHead) -> None:
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        headers = _UPGRADES if request.upgrades else [("host", "a")]
        self._parser.send(h11.Request(method=request.method, target="/", headers=headers))
        self._parser.send(h11.EndOfMessage())
        self.head: ResponseHead | None = None
        self.is_over = False  # the body is
        self.is_upgraded = False  # another protocol follows
        self.behind = b""  # what has come of it already
        self.is_odd = False
        self.closes = False  # the server ends the connection behind it

    def feed(self, data: bytes) -> list[bytes]:
        """Return the next pieces of the body. b"" is the end of the connection."""
        pieces: list[bytes] = []
        if self.is_odd or self.is_over or self.is_upgraded:
            return pieces
        try:
            self._parser.receive_data(data)
            while (event := self._parser.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                if isinstance(event, h11.Data):
                    pieces.append(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    self.is_over = True
                    break
                elif isinstance(event, h11.ConnectionClosed):
                    break
                else:
                    self._begins(event)
        except h11.ProtocolError:
            self.is_odd = True
        self.closes = self._parser.their_state in (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)
        self.is_upgraded = self._parser.their_state is h11.SWITCHED_PROTOCOL
        if self.is_upgraded:
            self.behind = self._parser.trailing_data[0]
        return pieces

    def _begins(self, event: object) -> None:
        if isinstance(event, h11.Response):
            found = _named(event)
            kind, encoding = found.get("content-type", ""), found.get("content-encoding", "")
            self.head = ResponseHead(event.status_code, kind, encoding)
        elif isinstance(event, h11.InformationalResponse) and event.status_code == 101:
            extensions = _named(event).get("sec-websocket-extensions", "")
            self.head = ResponseHead(101, "", "", extensions)


def _named(event: "h11.Response | h11.InformationalResponse") -> dict[str, str]:
    return {k.decode("latin-1"): v.decode("latin-1") for k, v in event.headers}


def plain_answer(status: int, why: str) -> bytes:
    """Return a whole answer, in the form of errors that clients of models can read."""
    phrase = HTTPStatus(status).phrase
    error = {"type": "siding_proxy", "message": f"siding: {why}"}
    body = json.dumps({"type": "error", "error": error}).encode()
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
