"""Git's look at a workspace, once more if git could not read all of it.

Git goes on without a directory that cannot be read. It warns if the directory cannot be opened, and
its files would count as deleted. If reading fails half-way, git takes that for the end of the
directory and says nothing: new files in it would be missing without a word. The scan of the
directories has their names, and each must be in git's answer or in its index.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from siding.ground.git.command import Git, Place, output_of
from siding.ground.git.index_file import read_times
from siding.ground.git.paths import join, parents
from siding.ground.git.status import StatusEntry, parse
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import Completed
from siding.record.snapshots.directory_scan import Scan
from siding.record.snapshots.task_index import TaskIndex

_LOOKING = "looking for changes"


class Look(NamedTuple):
    """What git said. ``gitlinks`` are the index entries that stand for submodules. ``unlisted`` are
    files that are there, and that git did not name when it was asked twice."""

    entries: list[StatusEntry]
    gitlinks: Mapping[bytes, str]
    unlisted: tuple[bytes, ...] = ()


def look_through(
    index: TaskIndex, place: Place, arguments: Sequence[str], done: Completed, scan: Scan
) -> Look:
    """Return what a finished `git status` printed; git looks once more if it lacks files.

    A file may also have come after git had read its directory, as an agent works meanwhile.
    """
    first = Look(list(parse(looked(index.git, place, arguments, done))), index.gitlinks())
    if not _still_there(index, _unlisted(index, scan, first)):
        return first
    again = output_of(index.git.attempt(place, arguments), doing=_LOOKING)
    second = Look(list(parse(again)), index.gitlinks())
    return second._replace(unlisted=_still_there(index, _unlisted(index, scan, second)))


def looked(git: Git, place: Place, arguments: Sequence[str], done: Completed) -> bytes:
    """Return what a finished `git status` printed. If it has warned, git looks once more.

    A disk that failed for a moment answers now; one that fails for good stops our own look.
    """
    if done.returncode == 0 and _has_warned(done.stderr):
        done = git.attempt(place, arguments)
    return output_of(done, doing=_LOOKING)


def _has_warned(stderr: bytes) -> bool:
    """Tell whether git said more than that a setting of ours is deprecated (an older git needs it).

    Another wording only costs a second look.
    """
    return any(b"deprecated" not in line for line in stderr.splitlines())


def _still_there(index: TaskIndex, paths: list[bytes]) -> tuple[bytes, ...]:
    return tuple(path for path in paths if os.path.lexists(join(index.root, path)))


def _unlisted(index: TaskIndex, scan: Scan, look: Look) -> list[bytes]:
    """Return the files in directories that the scan has read which git does not name.

    An index that cannot be read here (another version of its form) says nothing.
    """
    if not scan.files:
        return []
    named = {entry.path for entry in look.entries}
    # git names a directory that is ignored, and a repository in the worktree, but not its files.
    whole = {path.rstrip(b"/") for path in named if path.endswith(b"/")} | look.gitlinks.keys()
    left = sorted(path for path in _files(scan, whole) if path not in named)
    data = index.data()
    if _are_entries(left, data):
        return []
    entries = read_times(data, index.store.repository.hash_size // 2)
    return [] if entries is None else [path for path in left if path not in entries]


def _files(scan: Scan, whole: set[bytes]) -> Iterator[bytes]:
    """Yield the files of the directories that are not in `whole`, nor below one that is."""
    for directory, names in scan.files.items():
        if whole and not whole.isdisjoint((directory, *parents(directory))):
            continue
        for name in names.split(b"\0"):
            yield join(directory, name) if directory else name


def _are_entries(paths: list[bytes], data: bytes) -> bool:
    """Tell whether each of the sorted paths stands in an index file, in one pass over its bytes.

    Its entries are sorted as well; each has the length of its path before it and a NUL behind. An
    entry with other flags ends the pass: then the file has to be read in full.
    """
    at = 0
    for path in paths:
        at = data.find(min(len(path), 0xFFF).to_bytes(2, "big") + path + b"\0", at)
        if at < 0:
            return False
    return True
