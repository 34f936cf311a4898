"""Decide from git's status what a capture has to do in the index.

Calls `lstat` on the changed paths; runs no git and writes nothing.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from siding.ground.git.paths import join, parents
from siding.ground.git.status import EntryKind, StatusEntry
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.record.snapshots.coverage import Skipped


class CaptureLimits(NamedTuple):
    """What a capture leaves out. ``ignored`` are patterns (as in .gitignore, `**` for all) of
    ignored files that are captured all the same."""

    max_file_bytes: int
    ignored: tuple[str, ...] = ()


class IndexPlan(NamedTuple):
    """What a capture has to do.

    ``update``: paths whose present state on disk git is to record, a missing one as deleted.
    ``drop``: paths to take out of the index although something is on disk there.
    ``opening``: repositories inside the worktree of which git shows only the name so far, with
    the gitlink that stands for them in the index, if any.
    ``staged``: the index already differs from the last snapshot.
    """

    update: list[bytes]
    drop: list[bytes]
    opening: dict[bytes, str]
    skipped: "list[Skipped]"
    ignored: list[bytes]
    staged: bool

    @property
    def changes_index(self) -> bool:
        return bool(self.update or self.drop)


def plan(
    root: bytes,
    entries: Iterable[StatusEntry],
    gitlinks: Mapping[bytes, str],
    limits: CaptureLimits,
) -> IndexPlan:
    """Decide about every entry of a status, and about the gitlinks of the index (path -> id).

    What git says of a gitlink is not enough: it does not look into a submodule's files.
    """
    made = IndexPlan(update=[], drop=[], opening={}, skipped=[], ignored=[], staged=False)
    deleted: list[bytes] = []
    staged = False
    for entry in entries:
        staged = staged or entry.staged != "."
        if entry.kind is EntryKind.IGNORED:
            made.ignored.append(entry.path.rstrip(b"/"))
        elif entry.path in gitlinks:
            pass  # looked at below
        elif entry.path.endswith(b"/"):
            made.opening[entry.path.rstrip(b"/")] = ""
        elif entry.unstaged == "D":
            deleted.append(entry.path)
        elif entry.kind is not EntryKind.TRACKED or entry.unstaged != ".":
            _consider(root, entry, limits, made)
    for path, sha in gitlinks.items():
        _consider_gitlink(root, path, sha, limits, made)
    _consider_deleted(root, deleted, made)
    return made._replace(staged=staged)


def _consider(root: bytes, entry: StatusEntry, limits: CaptureLimits, made: IndexPlan) -> None:
    """Decide about a path that is on disk, or was when git looked."""
    path, full = entry.path, join(root, entry.path)
    tracked = entry.kind is EntryKind.TRACKED
    try:
        found = os.lstat(full)
    except OSError:
        if tracked:
            made.update.append(path)
        return
    skipped = _obstacle(path, full, found, limits)
    if skipped is not None:
        made.skipped.append(skipped)
    elif stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
        made.update.append(path)
        return
    if tracked:  # what the index has is not what is on disk: a snapshot holds no stale bytes
        made.drop.append(path)


def _obstacle(
    path: bytes, full: bytes, found: os.stat_result, limits: CaptureLimits
) -> "Skipped | None":
    """Return why a path cannot be captured; None if it can."""
    is_refused = _git_refuses(path, link=stat.S_ISLNK(found.st_mode))
    is_file, size = stat.S_ISREG(found.st_mode), found.st_size
    is_too_large = is_file and size > limits.max_file_bytes
    if not (is_refused or is_too_large) and (not is_file or os.access(full, os.R_OK)):
        return None
    from siding.record.snapshots.coverage import Reason, Skipped

    if is_refused:
        return Skipped(path=path, reason=Reason.REFUSED_NAME, size=None)
    reason = Reason.TOO_LARGE if is_too_large else Reason.UNREADABLE
    return Skipped(path=path, reason=reason, size=size)


def _git_refuses(path: bytes, *, link: bool) -> bool:
    """Tell whether git takes the path for an attack: part of a `.git`, or `.gitmodules` a link."""
    parts = path.lower().split(b"/")
    return b".git" in parts or (link and parts[-1] == b".gitmodules")


def _consider_gitlink(
    root: bytes, path: bytes, sha: str, limits: CaptureLimits, made: IndexPlan
) -> None:
    """A submodule: empty as git leaves it, filled, gone, or something else in its place."""
    full = join(root, path)
    try:
        found = os.lstat(full)
        if not stat.S_ISDIR(found.st_mode):
            _consider(root, StatusEntry(kind=EntryKind.TRACKED, path=path), limits, made)
        elif _has_entries(full):
            made.opening[path] = sha
    except (FileNotFoundError, NotADirectoryError):
        made.drop.append(path)
    except OSError:
        from siding.record.snapshots.coverage import Reason, Skipped

        made.skipped.append(Skipped(path=path, reason=Reason.UNREADABLE))


def _has_entries(directory: bytes) -> bool:
    with os.scandir(directory) as entries:
        return next(entries, None) is not None


def _consider_deleted(root: bytes, deleted: list[bytes], made: IndexPlan) -> None:
    """Sort deletions by how git can be told of them.

    A path below one that is recorded anew goes with it. One that is still there, seen through a
    link or as a directory of ignored files, must be named as deleted outright.
    """
    recorded = set(made.update)
    for path in deleted:
        if any(above in recorded for above in parents(path)):
            continue
        if os.path.lexists(join(root, path)):
            made.drop.append(path)
        else:
            made.update.append(path)
