"""The name of the server in the first message of TLS, which is not encrypted (SNI). Pure."""

from siding.ground.namedtuples import NamedTuple

LONGEST = 64 << 10
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST = 22, 1, 0, 0


class Hello(NamedTuple):
    """What the first bytes of a client are. `name` is the server's, "" if none is said."""

    is_tls: bool
    name: str = ""


class _Short(Exception):
    """There are not enough bytes yet."""


class _Cursor:
    """Reads one message from its beginning to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._data)

    def take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise _Short
        found, self._at = self._data[self._at : end], end
        return found

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> bytes:
        """Return what follows a length of so many bytes."""
        return self.take(self.number(size))


def hello_in(data: bytes) -> Hello | None:
    """Return what the first bytes of a client are; None if there are too few of them."""
    if data[:1] != bytes([_HANDSHAKE]) or data[1:2] not in (b"", b"\x03"):
        return Hello(is_tls=False) if data else None
    try:
        message = _message(data)
    except _Short:
        return None if len(data) < LONGEST else Hello(is_tls=False)
    if message[:1] != bytes([_CLIENT_HELLO]):
        return Hello(is_tls=False)
    try:
        return Hello(is_tls=True, name=_name(_Cursor(message[4:])))
    except (_Short, UnicodeDecodeError):
        return Hello(is_tls=False)


def _message(data: bytes) -> bytes:
    """Return the first message, which may be spread over several records. Raises _Short."""
    cursor, message = _Cursor(data), b""
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        if cursor.take(1) != bytes([_HANDSHAKE]):
            return b""
        cursor.take(2)
        message += cursor.block(2)
    return message


def _name(hello: _Cursor) -> str:
    hello.take(34)  # version and random
    hello.block(1)  # session
    hello.block(2)  # ciphers
    hello.block(1)  # compressions
    if hello.is_over:
        return ""
    extensions = _Cursor(hello.block(2))
    while not extensions.is_over:
        kind = extensions.number(2)
        content = extensions.block(2)
        if kind == _SERVER_NAME:
            names = _Cursor(_Cursor(content).block(2))
            if names.number(1) == _HOST:
                return names.block(2).decode("ascii")
    return ""
