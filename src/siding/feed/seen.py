"""What a person has seen of the rows, on one device.

A row is unseen when its `mark` is another one than that which the person looked at last. On a
device that is used for the first time, everything counts as seen. `FORMAT.md` has the file.

Several screens of a device may be open. Each act reads the file again and changes one mark in it,
under a lock. Where nothing can be written, marks are kept as long as the screen is open.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping

from siding.feed.model import Row
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.storage.fields import mapping
from siding.ground.storage.layout import Home, checked_name
from siding.ground.storage.locks import FileLock
from siding.record.runs.small_files import replace_small

VERSION = 1
_LIMIT = 16 << 20  # bytes of the file
_PATIENCE_S = 0.25  # for another screen that writes; then the mark is kept here alone
# A row that was put back: no row has this mark.
_PUT_BACK = None

Marks = dict[str, str | None]


class Seen:
    """The marks of one device. It is used by one thread."""

    def __init__(self, home: Home, device: str = "terminal") -> None:
        self._path = home.feed_dir / "seen" / checked_name(f"{device}.json")
        self._marks: Marks = {}
        self._is_first = True  # the device has no file
        self._stamp = (0, 0)  # of the file that was read
        self._read()

    def is_unseen(self, row: Row) -> bool:
        """Tell whether there is something of the row that the person has not looked at."""
        if self._is_first:
            return False
        return row.key not in self._marks or self._marks[row.key] != row.mark

    def look_at(self, row: Row) -> None:
        """Take note that the person looks at the row as it is now."""
        if self.is_unseen(row):
            self._change(lambda marks: marks.update({row.key: row.mark}))

    def put_back(self, row: Row) -> None:
        """Make the row unseen again."""
        self._change(lambda marks: marks.update({row.key: _PUT_BACK}))

    def refresh(self) -> None:
        """Read the marks again if another screen of this device has changed them."""
        try:
            status = os.stat(self._path)
        except OSError:
            return
        if (status.st_mtime_ns, status.st_ino) != self._stamp:
            self._read()

    def keep(self, rows: Iterable[Row]) -> None:
        """Take the rows of a whole feed: drop the marks of those that are gone.

        Of a device that is used for the first time, all of them count as seen.
        """
        there = {row.key: row.mark for row in rows}
        self._read()
        if self._is_first:
            self._change(lambda marks: marks.update(there))
        elif gone := self._marks.keys() - there.keys():
            self._change(lambda marks: [marks.pop(key, None) for key in gone])

    def _change(self, change: Callable[[Marks], object]) -> None:
        """Change the marks as they are on the disk now, or these alone if that is not possible."""
        try:
            make_dirs(self._path.parent)
            with FileLock(self._path.with_suffix(".lock")).acquire(timeout_s=_PATIENCE_S):
                self._read()
                change(self._marks)
                replace_small(self._path, _encoded(self._marks))
        except (OSError, SidingError):
            change(self._marks)
        self._is_first = False

    def _read(self) -> None:
        """Read the marks; those we have stay where the file cannot be read."""
        try:
            status = os.stat(self._path)  # before the reading: a change after it is seen
            self._stamp = (status.st_mtime_ns, status.st_ino)
            document = json.loads(read_bytes(self._path, limit=_LIMIT))
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError, RecursionError, SidingError):
            self._is_first = False
            return
        self._is_first = False
        self._marks = dict(_marks(mapping(mapping(document).get("marks"))))


def _marks(found: Mapping[str, object]) -> Iterable[tuple[str, str | None]]:
    for key, mark in found.items():
        yield key, mark if isinstance(mark, str) else _PUT_BACK


def _encoded(marks: Marks) -> bytes:
    # A name that is no text keeps its bytes: JSON escapes what stands for them.
    return json.dumps({"version": VERSION, "marks": marks}).encode() + b"\n"
