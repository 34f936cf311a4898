"""Text files: from bytes to lines and back, so that what is not changed stays as it is.

A model sees line ends as ``\\n`` alone. An edit is found in that form and made in the text as it
is on disk, so bytes outside of it do not change, whatever their line ends are.
"""

import codecs
from bisect import bisect_left

from siding.ground.namedtuples import NamedTuple

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 8192  # bytes in which a NUL means that a file is no text, as git has it


class Encoding(NamedTuple):
    """How a text is stored."""

    name: str = "utf-8"
    bom: bytes = b""


class Text(NamedTuple):
    """A text as it is on disk, but decoded."""

    raw: str
    encoding: Encoding = Encoding()

    @property
    def seen(self) -> str:
        """The text as a model sees it."""
        return self.raw.replace("\r\n", "\n")

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        windows = self.raw.count("\r\n")
        return "\r\n" if windows > self.raw.count("\n") - windows else "\n"

    def encoded(self) -> bytes:
        """Return the bytes. Raises UnicodeEncodeError."""
        return self.encoding.bom + self.raw.encode(self.encoding.name)


def is_binary(data: bytes) -> bool:
    """Tell whether bytes, or the first of a file, are no text."""
    return encoding_of(data) is None


def encoding_of(data: bytes) -> Encoding | None:
    """Return the encoding that the first bytes of a file show; None of what is no text."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return Encoding(name, bom)
    return None if b"\0" in data[:_LOOKED_AT] else Encoding()


def decoded(data: bytes) -> Text | None:
    """Return a file's text; None if it is none.

    What is not UTF-8 and has no byte-order mark is read as Latin-1, in which every byte is a
    character: it comes back as it was, whatever it was.
    """
    encoding = encoding_of(data)
    if encoding is None:
        return None
    body = data[len(encoding.bom) :]
    try:
        return Text(body.decode(encoding.name), encoding)
    except UnicodeDecodeError:
        if encoding.bom and encoding.name != "utf-8":
            return None  # it only looked like UTF-16
        return Text(data.decode("latin-1"), Encoding("latin-1"))


def with_newlines(seen: str, newline: str) -> str:
    """Return a text with the given line ends."""
    return seen.replace("\r\n", "\n").replace("\n", newline) if newline != "\n" else seen


def replaced(text: Text, old: str, new: str, *, everywhere: bool) -> tuple[Text, int]:
    """Replace `old`, as a model sees it, once or everywhere; return how often it is there.

    Unless it is there, and only once if not `everywhere`, the text stays as it is.
    """
    seen = text.seen
    wanted = old if old in seen else old.replace("\r\n", "\n")
    count = seen.count(wanted)
    if count == 0 or (count > 1 and not everywhere):
        return text, count
    ends = _windows_ends(text.raw)
    pieces: list[str] = []
    done = at = 0
    while (found := seen.find(wanted, at)) >= 0:
        start, at = _raw_offset(ends, found), found + len(wanted)
        end = _raw_offset(ends, at)
        pieces += text.raw[done:start], with_newlines(new, _newline_of(text, start, end))
        done = end
    pieces.append(text.raw[done:])
    return text._replace(raw="".join(pieces)), count


def _newline_of(text: Text, start: int, end: int) -> str:
    """Return the line end for what replaces a piece: the piece's own, else that of the file."""
    piece = text.raw[start:end]
    return Text(piece).newline if "\n" in piece else text.newline


def _windows_ends(raw: str) -> list[int]:
    """Return where, in the text as it is seen, the line ends of two characters are."""
    ends: list[int] = []
    at = raw.find("\r\n")
    while at >= 0:
        ends.append(at - len(ends))
        at = raw.find("\r\n", at + 2)
    return ends


def _raw_offset(ends: list[int], offset: int) -> int:
    return offset + bisect_left(ends, offset)
