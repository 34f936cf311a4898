"""The number and the checksum of a journal's lines; see FORMAT.md.

Without them a line that was damaged to look torn, or that is missing, would count as one that a
killed writer left: its call would be paid for again, and nobody would be told.
"""

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple

NUMBER, FLUSHED, CHECKSUM = "n", "flushed", "crc"
_MARK = b',"crc":"'

Range = tuple[int, int]  # the first and the last of some numbers in a row


class Misplaced(ValueError):
    """A line is not as it was written, or stands where it was not written."""


class Place(NamedTuple):
    """Where a line stands: its number, and the last number that was on disk when it was written."""

    number: int
    flushed: int


def numbered(line: bytes, place: Place) -> bytes:
    """Return a line (one JSON object and a newline) with its place and its checksum."""
    body = line.removesuffix(b"}\n") + b',"%b":%d,"%b":%d' % (
        NUMBER.encode(),
        place.number,
        FLUSHED.encode(),
        place.flushed,
    )
    return body + _MARK + b'%08x"}\n' % zlib.crc32(body)


def place_of(record: Mapping[str, Any], raw: bytes) -> Place | None:
    """Return the place of a line; None if an older version wrote it, without a number.

    Raises Misplaced if the line is not as it was written, KeyError and ValueError.
    """
    if NUMBER not in record:
        return None
    body, mark, _rest = raw.rpartition(_MARK)
    if not mark or record.get(CHECKSUM) != f"{zlib.crc32(body):08x}":
        raise Misplaced("its checksum does not fit")
    return Place(number=int(record[NUMBER]), flushed=int(record[FLUSHED]))


class Unreadable(NamedTuple):
    """A line of the file that cannot be read; one that `is_torn` may be left by a killed writer."""

    line: int
    problem: str
    is_torn: bool


class Losses:
    """Follows the lines of a journal from its beginning, and says which of them are lost.

    Lines that were never flushed may be missing after a power cut: nobody was promised anything
    about them. A number that a later line knows to have been on disk must be there.
    """

    def __init__(self) -> None:
        self.last = 0
        self.unreadable: list[Unreadable] = []
        self.missing: list[Range] = []
        self._flushed = 0
        self._accepted: list[Range] = []
        self._accepted_unreadable = 0

    def add(self, place: Place) -> None:
        """Take the next line. Raises Misplaced."""
        if place.number <= self.last:
            raise Misplaced(f"it is number {place.number} and stands behind number {self.last}")
        if place.number > self.last + 1:
            self.missing.append((self.last + 1, place.number - 1))
        self.last = place.number
        self._flushed = max(self._flushed, place.flushed)

    def add_unreadable(self, line: int, problem: str, *, is_torn: bool) -> None:
        """Take a line of the file that cannot be read."""
        self.unreadable.append(Unreadable(line=line, problem=problem, is_torn=is_torn))

    def refuse_torn(self) -> None:
        """Say of the last unreadable line that no killed writer has left it."""
        self.unreadable[-1] = self.unreadable[-1]._replace(is_torn=False)

    def accept(self, missing: Iterable[Range], unreadable: int) -> None:
        """Take what an attempt says: this was lost when it began, and it was told or agreed to."""
        self._accepted += missing
        self._accepted_unreadable = max(self._accepted_unreadable, unreadable)

    @property
    def newly_unreadable(self) -> list[Unreadable]:
        """The unreadable lines that no attempt has told of yet."""
        return self.unreadable[self._accepted_unreadable :]

    @property
    def newly_missing(self) -> list[Range]:
        """The numbers that were on disk, are not there now, and that nobody has given up."""
        return [
            (first, min(last, self._flushed))
            for first, last in self.missing
            if first <= self._flushed
            and not any(low <= first and last <= high for low, high in self._accepted)
        ]
