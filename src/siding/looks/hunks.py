"""The hunks of a patch, each with a digest of its text. Pure.

A digest does not say where the hunk is. So it stays the same when lines are added above, when the
file is renamed, and when all of it is committed. What of a file is in no line (its mode, content
that is no text, a new name alone, that an empty file is there) is one more hunk of it, number 0.
"""

import os
from collections import Counter
from collections.abc import Iterable

from siding.ground.git.paths import unquote_path
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.recording.recorded_patches import PartReader, hunk_numbers

_DIGITS = 32  # of a digest: 128 bits
_USUAL = b"new file mode 100644"
_FACTS = (b"old mode ", b"new mode ", b"new file mode ")


class File(NamedTuple):
    """A file of a patch: by its name before the change, or after it if it is new.

    The name before the change does not move when the file is renamed within the change.
    """

    is_new: bool
    name: str


class Hunk(NamedTuple):
    """One hunk. `path` is the file's present name, or the last one of a file that was deleted.

    Bytes of names that are no UTF-8 are surrogates. `old` and `new` are its first line on a side,
    and how many there are. There may be several with one digest: it is number `nth`, from 1 on, of
    `of` in its file, and there are `of_patch` in the whole patch.
    """

    file: File
    path: str
    number: int
    digest: str
    old: tuple[int, int] = (0, 0)
    new: tuple[int, int] = (0, 0)
    nth: int = 1
    of: int = 1
    of_patch: int = 1


class Patch(NamedTuple):
    """All hunks of a patch, in its order, and the snapshot from which it leads on."""

    base: str
    hunks: tuple[Hunk, ...]

    def by_file(self) -> dict[File, list[Hunk]]:
        found: dict[File, list[Hunk]] = {}
        for hunk in self.hunks:
            found.setdefault(hunk.file, []).append(hunk)
        return found


def patch_of(base: str, lines: Iterable[bytes]) -> Patch:
    """Return what a patch from the snapshot `base` has; its lines have their ends."""
    files: list[_Reading] = []
    for line in lines:
        if line.startswith(b"diff --git "):  # a line of content has a sign before it
            files.append(_Reading(line))
        elif files:
            files[-1].take(line)
    found = [hunk for file in files for hunk in file.hunks()]
    in_patch = Counter(hunk.digest for hunk in found)
    in_file = Counter((hunk.file, hunk.digest) for hunk in found)
    before: Counter[tuple[File, str]] = Counter()
    counted = []
    for hunk in found:
        key = (hunk.file, hunk.digest)
        before[key] += 1
        counted.append(
            hunk._replace(nth=before[key], of=in_file[key], of_patch=in_patch[hunk.digest])
        )
    return Patch(base, tuple(counted))


class _Reading:
    """One file of a patch, while it is read."""

    def __init__(self, first: bytes) -> None:
        self._part = PartReader(first)  # reads what is before the hunks
        self._facts: list[bytes] = []
        self._places: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._bodies: list[list[bytes]] = []
        self._old = self._new = 0  # lines of the hunk that are still to come

    def take(self, line: bytes) -> None:
        sign = line[:1]
        if self._old > 0 or self._new > 0:
            self._bodies[-1].append(line)
            if sign != b"\\":  # which says that the line before has no end
                self._old -= sign != b"+"
                self._new -= sign != b"-"
        elif line.startswith(b"@@ "):
            old, self._old, new, self._new = hunk_numbers(line)
            self._places.append(((old, self._old), (new, self._new)))
            self._bodies.append([])
        elif sign == b"\\" and self._bodies:
            self._bodies[-1].append(line)
        else:
            self._part.take(line, 0)
            if line.startswith(_FACTS) and line.rstrip() != _USUAL:
                self._facts.append(line.rstrip())

    def hunks(self) -> list[Hunk]:
        part = self._part.done()
        is_new = part.status in ("A", "C")
        file = File(is_new, _path(part.name if is_new else part.old_name))
        path = _path(part.name)
        found = [
            Hunk(file, path, number, _digest(body), old, new)
            for number, (body, (old, new)) in enumerate(
                zip(self._bodies, self._places, strict=True), 1
            )
        ]
        facts = list(self._facts)
        if not found:
            facts += [part.status.encode()] if part.status in ("A", "D") else []
            if part.old_blob or part.new_blob:
                facts += [f"{part.old_blob}..{part.new_blob}".encode()]
            elif part.old_name != part.name:
                facts += [part.old_name.encode(), part.name.encode()]
        if not facts:
            return found
        return [Hunk(file, path, 0, _digest([b"\0".join(facts)])), *found]


def _digest(lines: list[bytes]) -> str:
    return sha256_hex(b"".join(lines))[:_DIGITS]


def _path(quoted: str) -> str:
    return os.fsdecode(unquote_path(quoted))
