"""Find what stands in the way of a restoration, before it begins.

There are files that it would destroy although no snapshot holds them: an unrecorded one where a
file or directory has to be created, and one that was changed after its snapshot was taken. And
there are files that it could not move: why, and what can be done.
"""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress

from siding.ground.files.attributes import Attributes, attributes_of, is_read_only
from siding.ground.git.paths import NOTHING, join, parents, quote_path
from siding.ground.git.roots import WorktreeRoot
from siding.ground.namedtuples import NamedTuple
from siding.record.files.displaced import blob_at
from siding.record.files.plan import Restoration

_SLACK_NS = 20_000_000  # a file's times come from a clock that ticks every 4 to 10 ms


def obstacles(
    root: WorktreeRoot, plan: Restoration, object_format: str, *, leaving: Collection[bytes] = ()
) -> list[bytes]:
    """Return the paths that are in the way of `plan` and that it does not delete.

    A file that already has the content to write is no obstacle. `leaving` are paths that will be
    moved away first, with everything below them.
    """
    gone = {change.path for change in plan.deletes}
    base, away = os.fsencode(root.path), set(leaving)
    kinds: dict[bytes, int | None] = {}
    found: set[bytes] = set()
    for change in plan.writes:
        path = change.path
        blocker = _first_file_above(base, path, kinds)
        if blocker is not None:
            if blocker not in gone:
                found.add(blocker)
            continue
        kind = _kind(base, path, kinds)
        if kind is not None and stat.S_ISDIR(kind):
            found.update(p for p in _files_below(base, path) if p not in gone)
        elif (
            kind is not None
            and change.old_mode == NOTHING
            and blob_at(join(base, path), object_format, change.new_mode) != change.new_sha
        ):
            found.add(path)
    return sorted(p for p in found if p not in away and not any(a in away for a in parents(p)))


def of_others(root: WorktreeRoot, plan: Restoration) -> list[bytes]:
    """Return the paths whose permissions `plan` changes and that belong to another user."""
    me = os.geteuid()
    if me == 0:
        return []
    found = []
    for change in plan.chmods:
        with suppress(OSError):  # gone, or below a directory that cannot be entered
            if os.lstat(join(os.fsencode(root.path), change.path)).st_uid != me:
                found.append(change.path)
    return found


def changed_since(
    root: WorktreeRoot, plan: Restoration, object_format: str, since_ns: int
) -> list[bytes]:
    """Return the paths of `plan` whose files no longer equal the old side.

    Reads only files that changed at or after `since_ns` (nanoseconds since 1970).
    """
    base = os.fsencode(root.path)
    found = []
    for change in (c for c in (*plan.writes, *plan.deletes) if c.old_mode != NOTHING):
        full = join(base, change.path)
        try:
            there = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            continue  # nothing to lose
        if stat.S_ISDIR(there.st_mode) or there.st_ctime_ns < since_ns - _SLACK_NS:
            continue
        if blob_at(full, object_format, change.old_mode) != change.old_sha:
            found.append(change.path)
    return found


def _first_file_above(base: bytes, path: bytes, kinds: dict[bytes, int | None]) -> bytes | None:
    """Return the topmost parent of a path that exists and is not a directory, None if none is."""
    for above in reversed(parents(path)):
        kind = _kind(base, above, kinds)
        if kind is None:
            return None
        if not stat.S_ISDIR(kind):
            return above
    return None


def _kind(base: bytes, path: bytes, kinds: dict[bytes, int | None]) -> int | None:
    """Return the type of what is at a path whose parents are known to be directories."""
    if path not in kinds:
        try:
            kinds[path] = os.lstat(join(base, path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            kinds[path] = None
    return kinds[path]


def _files_below(base: bytes, directory: bytes) -> Iterator[bytes]:
    for parent, directories, files in os.walk(join(base, directory)):
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            yield os.path.relpath(os.path.join(parent, name), base)


class Stuck(NamedTuple):
    """A path that cannot be moved; why, and what the person can do about it."""

    path: bytes
    why: str
    way_out: str

    def __str__(self) -> str:
        return f"{quote_path(self.path)} {self.why}"


class CannotMove(Exception):
    """A file could not be moved, and what was done before was exchanged back."""

    def __init__(self, stuck: Stuck) -> None:
        super().__init__(str(stuck))
        self.stuck = stuck


def stuck_by_error(root: WorktreeRoot, path: bytes, error: OSError) -> Stuck:
    """Return what is told of a path that could not be moved although nothing was foreseen."""
    found = _Look(root).stuck(path, is_there=True)
    if found is not None:
        return found
    reason = error.strerror or str(error)
    return Stuck(path, f"({reason})", "look at what the system says of it")


def immovable(root: WorktreeRoot, plan: Restoration) -> list[Stuck]:
    """Return the paths that `plan` moves and that cannot be moved, in byte order."""
    look = _Look(root)
    changes = sorted((*plan.writes, *plan.deletes), key=lambda each: each.path)
    found = (look.stuck(each.path, is_there=each.old_mode != NOTHING) for each in changes)
    return [each for each in found if each is not None]


class _Look:
    """Looks at paths of one worktree; each directory is looked at once."""

    def __init__(self, root: WorktreeRoot) -> None:
        self._base = os.fsencode(root.path)
        self._mount = attributes_of(self._base).mount
        self._directories: dict[bytes, Stuck | None] = {}

    def stuck(self, path: bytes, *, is_there: bool) -> Stuck | None:
        """Return why the name at a path cannot be changed; None if nothing is known."""
        above = next((each for each in (*parents(path), b"") if self._is_directory(each)), b"")
        if above not in self._directories:
            self._directories[above] = self._directory_stuck(above)
        found = self._directories[above]
        if found is not None:
            return found._replace(path=path)
        return self._file_stuck(path, above) if is_there else None

    def _is_directory(self, path: bytes) -> bool:
        full = join(self._base, path) if path else self._base
        return os.path.isdir(full) and not os.path.islink(full)

    def _directory_stuck(self, path: bytes) -> Stuck | None:
        full = join(self._base, path) if path else self._base
        known, shown = attributes_of(full), quote_path(path or b".")
        if known.mount != self._mount:
            return Stuck(path, *_mounted(shown))
        if known.immutable or known.append_only:
            return Stuck(path, *_flagged(f"in {shown}, which", known, shown))
        if os.access(full, os.W_OK | os.X_OK):
            return None
        if is_read_only(full):
            return Stuck(
                path, f"in {shown} is on a file system that is read-only", "mount it writable"
            )
        if os.lstat(full).st_uid == os.geteuid():
            return None  # it forbids writing, and is opened for it
        return Stuck(path, *_of_another(shown))

    def _file_stuck(self, path: bytes, above: bytes) -> Stuck | None:
        full = join(self._base, path)
        known, shown = attributes_of(full), quote_path(path)
        if known.is_mount or (known.mount and known.mount != self._mount):
            return Stuck(path, *_mounted(shown))
        if known.immutable or known.append_only:
            return Stuck(path, *_flagged("", known, shown))
        directory = os.lstat(join(self._base, above) if above else self._base)
        me = os.geteuid()
        if directory.st_mode & stat.S_ISVTX and me not in (0, directory.st_uid):
            try:
                owner = os.lstat(full).st_uid
            except OSError:
                return None
            if owner != me:
                return Stuck(path, *_of_another(quote_path(above or b".")))
        return None


def _mounted(shown: str) -> tuple[str, str]:
    return f"is a mount point, or below the one at {shown}", f"unmount {shown}"


def _flagged(place: str, known: Attributes, shown: str) -> tuple[str, str]:
    word, flag = ("immutable", "i") if known.immutable else ("append-only", "a")
    return f"{place} is {word}".strip(), f"`chattr -{flag} {shown}`"


def _of_another(shown: str) -> tuple[str, str]:
    return (
        f"in {shown}, which belongs to another user",
        f"`sudo chown -R $USER {shown}` in the workspace makes it yours",
    )
