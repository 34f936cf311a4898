"""What edits would make of files, worked out from what a tool was given. Nothing is run.

Files of the workspace are read, at most so much of each. A file outside of it is not: what the tool
was given is all that is shown of it. What cannot be known raises `NotKnown`, which says why.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from siding.agents.edits import CUT_AT, Edit, PatchText, Replacement, WholeFile
from siding.effect.copying import Seen, Stamp
from siding.effect.patch_text import PatchedFile, PatchError, patched, read_patch
from siding.ground.errors import FileTooLarge, SidingError
from siding.ground.files.regular import open_regular
from siding.ground.namedtuples import NamedTuple

LARGEST = 1 << 20  # bytes of a file that is read, and of what it would hold
MOST_EDITS = 1000
_SHOWN = 120  # characters of a path


class NotKnown(Exception):
    """What the edits would make cannot be told. The message says why."""


class Given(NamedTuple):
    """What a tool would write to a file that is not read: lines of a patch."""

    path: str
    lines: tuple[str, ...]


class Made(NamedTuple):
    """A file of the workspace before and after; None where there is none."""

    path: str  # below the workspace
    before: bytes | None
    after: bytes | None


class Edited(NamedTuple):
    """What edits would make. `looked_at` are files of the workspace, `seen` how they were."""

    made: tuple[Made, ...]
    outside: tuple[Given, ...]
    looked_at: tuple[str, ...]
    seen: Seen


def edited(root: Path, cwd: Path, edits: Iterable[Edit]) -> Edited:
    """Return what edits would make of files, done one after the other. Raises NotKnown."""
    work = _Work(root, cwd)
    for number, edit in enumerate(edits):
        if number >= MOST_EDITS:
            raise NotKnown(f"it makes more than {MOST_EDITS} edits")
        match edit:
            case Replacement():
                work.replace(edit)
            case WholeFile():
                work.write(edit)
            case PatchText():
                work.patch(edit)
    return work.done()


def state_of(root: Path, paths: Iterable[str]) -> Seen:
    """Return how files of a workspace are now; those that are not there are not in it."""
    stamps: dict[bytes, Stamp] = {}
    for path in paths:
        try:
            stamps[os.fsencode(path)] = Stamp.of(os.lstat(root / path))
        except (OSError, ValueError):
            continue
    return Seen(stamps, 0)


class _Work:
    """The files that edits have touched so far, in memory."""

    def __init__(self, root: Path, cwd: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._cwd = cwd
        self._before: dict[str, bytes | None] = {}
        self._now: dict[str, bytes | None] = {}
        self._outside: dict[str, list[str]] = {}
        self._stamps: dict[bytes, Stamp] = {}

    def replace(self, edit: Replacement) -> None:
        _whole(edit.old, edit.new)
        path, is_inside = self._place(edit.path)
        if not is_inside:
            self._only_given(path, [*_lines("-", edit.old), *_lines("+", edit.new)])
            return
        now = self._text(path)
        if not edit.old:
            if now:
                raise NotKnown(f"{_named(path)} is there already, and the tool would make it anew")
            self._put(path, edit.new)
            return
        if now is None:
            raise NotKnown(f"{_named(path)} is not there")
        self._put(path, _replaced(path, now, edit))

    def write(self, edit: WholeFile) -> None:
        _whole(edit.content)
        path, is_inside = self._place(edit.path)
        if not is_inside:
            self._only_given(path, _lines("+", edit.content))
            return
        self._bytes(path)
        self._put(path, edit.content)

    def patch(self, edit: PatchText) -> None:
        try:
            for each in read_patch(edit.patch):
                self._part(each)
        except PatchError as error:
            raise NotKnown(str(error)) from None

    def done(self) -> Edited:
        made = [
            Made(path, self._before[path], after)
            for path, after in self._now.items()
            if self._before[path] != after
        ]
        outside = [Given(path, tuple(lines)) for path, lines in self._outside.items()]
        return Edited(tuple(made), tuple(outside), tuple(self._before), Seen(self._stamps, 0))

    def _part(self, part: PatchedFile) -> None:
        path, is_inside = self._place(part.path)
        target, is_target_inside = self._place(part.moved_to) if part.moved_to else (path, True)
        if not is_inside or not is_target_inside:
            self._only_given(path, part.lines)
            if part.moved_to:
                self._only_given(target, [f"+ moved here from {path}"])
            return
        if part.content is not None:
            self._bytes(path)
            self._put(path, part.content)
            return
        now = self._text(path)
        if now is None:
            raise NotKnown(f"{_named(path)} is not there")
        if part.is_deleted:
            self._now[path] = None
            return
        after = patched(_named(path), now, part.chunks)
        if target != path:
            self._bytes(target)
            self._now[path] = None
        self._put(target, after)

    def _only_given(self, path: str, lines: Iterable[str]) -> None:
        self._outside.setdefault(path, []).extend(lines)

    def _place(self, named: str) -> tuple[str, bool]:
        """Return the path below the workspace; or the whole one, and False, of one outside."""
        if not named or "\0" in named:
            raise NotKnown("the tool names no file")
        if named.startswith("~"):
            return named, False
        try:
            real = os.path.realpath(self._cwd / named)
        except (OSError, ValueError) as error:
            raise NotKnown(f"{_named(named)} cannot be looked at: {error}") from None
        if real == str(self._root) or not Path(real).is_relative_to(self._root):
            return real, False
        return os.path.relpath(real, self._root), True

    def _put(self, path: str, content: str) -> None:
        data = content.encode("utf-8", "replace")
        if len(data) > LARGEST:
            raise NotKnown(f"{_named(path)} would have more than {LARGEST >> 20} MiB")
        self._now[path] = data

    def _text(self, path: str) -> str | None:
        data = self._bytes(path)
        if data is None:
            return None
        try:
            if b"\0" not in data:
                return data.decode()
        except UnicodeDecodeError:
            pass
        raise NotKnown(f"{_named(path)} is binary, or no text in UTF-8")

    def _bytes(self, path: str) -> bytes | None:
        """Return what a file of the workspace holds by now; None if there is none."""
        if path not in self._now:
            self._before[path] = self._now[path] = self._read(path)
        return self._now[path]

    def _read(self, path: str) -> bytes | None:
        full = self._root / path
        try:
            found = os.lstat(full)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise NotKnown(f"{_named(path)} cannot be looked at: {_why(error)}") from None
        if not stat.S_ISREG(found.st_mode):
            raise NotKnown(f"{_named(path)} is no regular file")
        self._stamps[os.fsencode(path)] = Stamp.of(found)
        try:
            return self._within(full)
        except FileTooLarge:
            raise NotKnown(f"{_named(path)} is larger than {LARGEST >> 20} MiB") from None
        except (SidingError, OSError) as error:
            raise NotKnown(f"{_named(path)} cannot be read: {_why(error)}") from None

    def _within(self, full: Path) -> bytes:
        """Read a file, unless a link has led out of the workspace since it was looked at."""
        with os.fdopen(open_regular(full), "rb") as file:
            opened = f"/proc/self/fd/{file.fileno()}"
            leads = os.readlink(opened) if os.path.islink(opened) else os.path.realpath(full)
            if not Path(leads).is_relative_to(self._root):
                raise NotKnown(f"{_named(str(full))} leads out of the workspace by now")
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise FileTooLarge(full, LARGEST)
        return data


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)


def _replaced(path: str, now: str, edit: Replacement) -> str:
    """Return a text with the replacement; line ends of another kind are no difference."""
    old, new = edit.old, edit.new
    if old not in now and "\r\n" in now:
        old, new = (each.replace("\r\n", "\n").replace("\n", "\r\n") for each in (old, new))
    found = now.count(old)
    if not found:
        raise NotKnown(f"the text to be replaced is not in {_named(path)} as it is now")
    if edit.times and found != edit.times:
        expected = "once" if edit.times == 1 else f"{edit.times} times"
        raise NotKnown(
            f"the text to be replaced is {found} times in {_named(path)}, and not {expected}"
        )
    return now.replace(old, new)


def _whole(*texts: str) -> None:
    """Raise NotKnown for a text that was cut off on its way here."""
    if any(len(each) == CUT_AT for each in texts):
        raise NotKnown(f"it is given a text that was cut off after {CUT_AT:,} characters")


def _lines(sign: str, content: str) -> Iterator[str]:
    return (f"{sign}{line}" for line in content.removesuffix("\n").split("\n"))


def _named(path: str) -> str:
    return path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…"
