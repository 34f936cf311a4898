"""Check the bytes of a connection before any other code sees them. Pure.

Every request is refused that a browser on this machine would not send to us. So the rest of the
program need not handle two Hosts, chunked bodies, folded headers or odd paths. Checking `Host`
stops DNS rebinding, checking `Origin` stops pages of other sites; no script in a browser can forge
these two headers.
"""

import re

from siding.ground.namedtuples import NamedTuple

MAX_HEAD_BYTES = 16 * 1024
MAX_BODY_BYTES = 1 << 20
MAX_HEADERS = 64

_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) (\S+) HTTP/1\.1")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*?)[ \t]*")
_PATH = re.compile(r"/(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]*")
_QUERY = re.compile(r"[A-Za-z0-9_=&.,-]*")
_SITES = (b"same-origin", b"none")
_SINGLE = (
    b"authorization",
    b"content-length",
    b"content-type",
    b"cookie",
    b"host",
    b"origin",
    b"siding-proof",
)
_REFUSED = {
    b"transfer-encoding": "a body needs a Content-Length",
    b"upgrade": "the connection cannot be upgraded",
    b"expect": "Expect is not supported",
    b"x-http-method-override": "the method of the request line cannot be overridden",
    b"x-http-method": "the method of the request line cannot be overridden",
    b"x-method-override": "the method of the request line cannot be overridden",
}


class RefusedRequest(Exception):
    """The request is refused. `status` is an HTTP status below 500."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class RequestHead(NamedTuple):
    """The head of a request: everything before its body."""

    method: str
    path: str
    body_bytes: int
    authorization: bytes | None


LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Gate:
    """Cuts one connection's bytes into requests, and raises Refused at the first bad one.

    `names` are the hosts of addresses that browsers may use, `scheme` their beginning.
    """

    def __init__(
        self, port: int, *, names: tuple[str, ...] = LOOPBACK, scheme: str = "http"
    ) -> None:
        self._hosts = {f"{name}:{port}".encode() for name in names}
        if scheme == "https" and port == 443:  # browsers leave this one out
            self._hosts |= {name.encode() for name in names}
        self._scheme = scheme.encode()
        self._pending = b""
        self._owed = 0  # bytes of a body that are still to come
        self.head: RequestHead | None = None  # of the newest request

    @property
    def is_partial(self) -> bool:
        """Whether a request has begun and has not arrived completely."""
        return bool(self._pending) or self._owed > 0

    @property
    def is_partial_head(self) -> bool:
        """Whether the head of a request has not arrived completely."""
        return bool(self._pending)

    def feed(self, data: bytes) -> bytes:
        """Return the bytes that may be passed on; a head is passed on when it is complete."""
        passed = []
        while data:
            if self._owed:
                body, data = data[: self._owed], data[self._owed :]
                self._owed -= len(body)
                passed.append(body)
                continue
            self._pending += data
            end = self._pending.find(b"\r\n\r\n")
            head = self._pending if end < 0 else self._pending[: end + 4]
            _refuse_early(head)
            if end < 0:
                break
            data = self._pending[len(head) :]
            self._pending = b""
            self.head = self._checked(head[:-4])
            self._owed = self.head.body_bytes
            passed.append(head)
        return b"".join(passed)

    def _checked(self, raw: bytes) -> RequestHead:
        first, *lines = raw.split(b"\r\n")
        method, path = _request_line(first)
        headers = _headers(lines)
        self._check_where_from(headers)
        return RequestHead(
            method=method,
            path=path,
            body_bytes=_body(method, headers),
            authorization=headers.get(b"authorization"),
        )

    def _check_where_from(self, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host")
        if host not in self._hosts:
            raise RefusedRequest(421, "the Host is not this dashboard")
        origin = headers.get(b"origin")
        if origin is not None and origin != self._scheme + b"://" + host:
            raise RefusedRequest(403, "requests from pages of other sites are refused")
        if headers.get(b"sec-fetch-site", b"none") not in _SITES:
            raise RefusedRequest(403, "requests from pages of other sites are refused")


def _refuse_early(head: bytes) -> None:
    """Refuse a head that cannot be valid any more, before all of it has arrived."""
    if len(head) > MAX_HEAD_BYTES:
        raise RefusedRequest(431, "the head is too long")
    if head.count(b"\n") != head.count(b"\r\n") or b"\0" in head:
        raise RefusedRequest(400, "lines end with CR and LF")
    if not head[:1].isupper() or not head[:1].isascii():
        raise RefusedRequest(400, "this is not HTTP")


def _request_line(line: bytes) -> tuple[str, str]:
    found = _REQUEST_LINE.fullmatch(line)
    if found is None:
        raise RefusedRequest(400, "this is not an HTTP/1.1 request")
    method, target = found.group(1).decode(), found.group(2).decode("latin-1")
    path, _, query = target.partition("?")
    odd = ".." in path or "/./" in path or path.endswith("/.")
    if odd or not _PATH.fullmatch(path) or not _QUERY.fullmatch(query):
        raise RefusedRequest(400, "the path or the query has characters that no address here has")
    if method not in ("GET", "HEAD", "POST"):
        raise RefusedRequest(405, "only GET, HEAD and POST are supported")
    return method, path


def _headers(lines: list[bytes]) -> dict[bytes, bytes]:
    if len(lines) > MAX_HEADERS:
        raise RefusedRequest(431, "too many headers")
    headers: dict[bytes, bytes] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            raise RefusedRequest(400, "a header is malformed")
        name, value = found.group(1).lower(), found.group(2)
        if name in _REFUSED:
            raise RefusedRequest(400, _REFUSED[name])
        if name in headers and name in _SINGLE:
            raise RefusedRequest(400, f"two {name.decode()} headers")
        headers[name] = value
    return headers


def _body(method: str, headers: dict[bytes, bytes]) -> int:
    length = headers.get(b"content-length")
    if length is not None and not re.fullmatch(rb"[0-9]{1,19}", length):
        raise RefusedRequest(400, "the length is not a number")
    size = int(length or b"0")
    if size > MAX_BODY_BYTES:
        raise RefusedRequest(413, "the body is too long")
    if method != "POST":
        if size:
            raise RefusedRequest(400, "only POST has a body")
        return 0
    if length is None:
        raise RefusedRequest(411, "a body needs a Content-Length")
    if headers.get(b"content-type") != b"application/json":
        raise RefusedRequest(415, "a body is application/json")
    return size
