"""Find private key blocks, also if they are cut off, escaped, quoted, indented or in a diff."""

from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.lazily import lazily
from siding.secretmask.span import RIGHT, SecretSpan

BEGIN = lazily(
    rb"-----BEGIN (?:(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?"
    rb"|PGP MESSAGE|AGE ENCRYPTED FILE)-----"
)
_BEGINNING = lazily(rb"-----BEGIN(?: [A-Z0-9]{0,16}){0,6}-{0,4}\Z")  # a marker that is cut off
_END = rb"-----END [A-Z0-9 ]{1,60}-----"
_DECORATION = (
    rb"(?:\\{1,8}[nrt]|[\s\"'+,>|#*]|\d{1,5}[:|)]?[ \t]|\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?[ \t])*+"
)
_BASE64 = rb"(?:[A-Za-z0-9+/]|\\{1,2}/)"
_NEXT = lazily(
    _DECORATION
    + rb"(?:(?P<end>"
    + _END
    + rb")"
    + rb"|(?P<body>"
    + _BASE64
    + rb"{16,}+={0,2}+)"
    + rb"|(?P<last>=?"
    + _BASE64
    + rb"{1,15}+={0,2}+(?="
    + _DECORATION
    + rb"-----END))"
    + rb"|(?P<head>(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)"
    + rb": [^\n\\]{1,100}))"
)
_OPEN = lazily(
    _DECORATION
    + rb"(?:=?"
    + _BASE64
    + rb"{0,40}={0,2}"
    + _DECORATION
    + rb"(?:-{0,5}|-----[A-Z0-9 ]{1,60}-{0,4})"
    + rb"|[A-Z][A-Za-z-]{1,10}(?::[^\n\\\"]{0,100})?|\\{1,8})\Z"
)
_LEFT_OVER = lazily(_DECORATION + rb"=?" + _BASE64 + rb"{1,15}={0,2}\Z")
_SIGNING = lazily(
    rb"untrusted comment:[^\n]{0,80}secret key[^\n]{0,80}\n(RWR[A-Za-z0-9+/]{60,}+=*)"
)
_AHEAD = 400  # bytes to look at to decide whether a block goes on
PUTTY = lazily(rb"PuTTY-User-Key-File-\d")
_PRIVATE_LINES = lazily(rb"\nPrivate-Lines: (\d{1,4})\r?\n")
_PUTTY_LINE = lazily(rb"[ \t]*[A-Za-z0-9+/=]*+\r?")


class Block(NamedTuple):
    """The end of a key block. `found`: it has some of a key; `open`: more of it may follow."""

    end: int
    found: bool
    open: bool


def beginning_of_marker(data: bytes) -> int:
    """Return the offset of an incomplete BEGIN marker at the end of `data`.

    Returns the length of `data` if there is none.
    """
    first = max(0, len(data) - 120)
    if b"-----BEGIN" in data[first:]:
        found = _BEGINNING.search(data, first)
        if found is not None:
            return found.start()
    return len(data)


def block_from(data: bytes, at: int, limit: int, *, final: bool, found: bool = False) -> Block:
    """Return how far a key block goes on from `at`, which is behind its marker or inside it.

    `found`: a part of the key came before `at`.
    """
    while True:
        part = _NEXT.match(data, at, limit)
        if part is None:
            break
        if not final and part.end() == limit and part["end"] is None:
            return Block(end=at, found=found, open=True)
        if part["end"] is not None:
            return Block(end=part.end(), found=found, open=False)
        at, found = part.end(), True
    rest = data[at : min(limit, at + _AHEAD)]
    if not final and at + len(rest) == limit and _OPEN.match(rest):
        return Block(end=at, found=found, open=True)
    if found and at + len(rest) == limit and final and _LEFT_OVER.match(rest):
        return Block(end=limit, found=True, open=False)
    return Block(end=at, found=found, open=False)


def signing_keys(data: bytes) -> Iterator[SecretSpan]:
    """Yield the secret keys of minisign and signify."""
    for found in _SIGNING.finditer(data):
        yield SecretSpan(found.start(1), found.end(1), b"private-key")


def putty_lines(data: bytes, at: int, limit: int, *, final: bool) -> SecretSpan | None:
    """Return the private lines of a PuTTY key file whose first line begins at `at`."""
    count = _PRIVATE_LINES.search(data, at, min(limit, at + RIGHT))
    if count is None:
        waiting = not final and limit - at < RIGHT
        return SecretSpan(at, limit, b"private-key", pending=True) if waiting else None
    end = count.end()
    for _ in range(int(count[1])):
        line = _PUTTY_LINE.match(data, end, limit)
        assert line is not None
        if line.end() == limit:
            if not final:
                return SecretSpan(count.end(), limit, b"private-key", pending=True)
            end = limit
            break
        if not line[0].strip() or data[line.end()] != 0x0A:
            break
        end = line.end() + 1
    return _without_end_of_line(data, count.end(), end)


def _without_end_of_line(data: bytes, start: int, end: int) -> SecretSpan | None:
    end -= len(data[start:end]) - len(data[start:end].rstrip())
    return SecretSpan(start, end, b"private-key") if end > start else None
