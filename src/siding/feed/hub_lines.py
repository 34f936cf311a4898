"""What viewers and the hub say to each other, as lines of JSON. `FORMAT.md` describes them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.feed.model import Change, Feed
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import Home

PROTOCOL = 1
LONGEST_ASKED = 256 << 10  # bytes of a line from a viewer
_MOST_PARTS = 8  # of the number of a version
LONGEST_TOLD = 64 << 20  # and of one from the hub


class HubPlace(NamedTuple):
    """Where the hub of a home is found."""

    directory: Path

    @classmethod
    def of(cls, home: Home) -> "HubPlace":
        return cls(home.feed_dir)

    @property
    def lock(self) -> Path:
        return self.directory / "hub.lock"

    @property
    def socket(self) -> Path:
        return self.directory / "hub.sock"


class BadLine(ValueError):
    """What came is no line of this protocol."""


class Cut:
    """Cuts what comes into lines, and keeps the beginning of the next one."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._kept = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Yield the objects that are whole. Raises BadLine."""
        self._kept += data
        begun = 0
        # Only what is new can have the end of a line.
        at = self._kept.find(b"\n", len(self._kept) - len(data))
        while at >= 0:
            yield _object(bytes(self._kept[begun:at]))
            begun = at + 1
            at = self._kept.find(b"\n", begun)
        del self._kept[:begun]
        if len(self._kept) > self._longest:
            raise BadLine(f"a line has more than {self._longest} bytes")


def line_of(record: Mapping[str, Any]) -> bytes:
    """Return a line. Characters that are no text, as in names of files, become question marks."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def line_of_item(item: Feed | Change) -> bytes:
    """Return the line of a feed or a change."""
    return line_of({"feed" if isinstance(item, Feed) else "change": item.as_record()})


def item_in(line: Mapping[str, Any]) -> Feed | Change | None:
    """Return what a line of the hub tells; None for a line about something else.

    Raises BadLine, also for kinds and states that only a newer version knows.
    """
    try:
        if isinstance(line.get("feed"), dict):
            return Feed.from_record(line["feed"])
        if isinstance(line.get("change"), dict):
            return Change.from_record(line["change"])
    except ValueError as error:
        raise BadLine(str(error)) from error
    return None


def is_newer(version: str, other: str) -> bool:
    """Tell whether a version of Siding is newer than another one: its numbers, then its text."""
    return _order(version) > _order(other)


def _order(version: str) -> tuple[list[int], str]:
    numbers: list[int] = []
    parts = version.split(".")
    for part in parts:
        if not part.isdigit():
            numbers.append(-1)  # `1.2.dev3` and `1.2rc1` come before `1.2`
            break
        numbers.append(int(part))
    return numbers + [0] * (_MOST_PARTS - len(numbers)), version


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(str(error)) from error
    if not isinstance(found, dict):
        raise BadLine("a line is no JSON object")
    return found
