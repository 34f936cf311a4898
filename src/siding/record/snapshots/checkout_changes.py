"""Find the files of a checkout that changed since a moment, with one git process.

git lists the files that differ from the checkout's index and the untracked ones. Their ctime, which
no program can set back, tells whether they changed since the moment. So no earlier state has to be
stored. A file that was changed and restored byte for byte, with its times, is not found. Files in
ignored directories are not looked at.

git is given a git directory of ours, so no program that the checkout's configuration names is run.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git.index_file import entry_count
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import Running
from siding.record.snapshots.store import SnapshotStore, TaskDirectory

MOST_LOOKED_AT = 20_000  # files of directories that git does not know
_LIST = ("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", "--directory")


class CheckoutLook(NamedTuple):
    """A running git process that lists the changed files; `finish` waits for it."""

    root: Path
    since_ns: int
    running: Running


def tracked_count(index: Path) -> int | None:
    """Return how many files an index names; None when there is none that can be read."""
    return entry_count(read_small(index, 12) or b"")


def start(
    store: SnapshotStore, task: TaskDirectory, *, root: Path, index: Path, since_ns: int
) -> CheckoutLook:
    """Start git in the background. `since_ns` is a time of the file system's clock, in
    nanoseconds."""
    place = store.place(
        task,
        work_tree=root,
        index_file=index,
        settings=(*store.place().settings, f"core.excludesFile={task.excludes}"),
    )
    return CheckoutLook(root=root, since_ns=since_ns, running=store.git.start(place, _LIST))


def finish(look: CheckoutLook) -> list[bytes] | None:
    """Return the paths that changed, relative to the root; None if git failed."""
    done = look.running.finish()
    if done.returncode != 0:
        return None
    names = set(done.stdout.split(b"\0")) - {b""}
    return sorted(name for name in _spread(look.root, names) if _changed(look, name))


def _spread(root: Path, names: set[bytes]) -> Iterator[bytes]:
    """Yield the files, and for an untracked directory the files in it (`MOST_LOOKED_AT` at
    most)."""
    left = MOST_LOOKED_AT
    for name in names:
        if not name.endswith(b"/"):
            yield name
            continue
        top = os.path.join(os.fsencode(root), name)
        for directory, directories, files in os.walk(top):
            if b".git" in directories or b".git" in files:
                directories.clear()
                continue  # a repository of its own
            for file in files:
                left -= 1
                if left >= 0:
                    yield os.path.relpath(os.path.join(directory, file), os.fsencode(root))


def _changed(look: CheckoutLook, name: bytes) -> bool:
    path = os.path.join(os.fsencode(look.root), name)
    try:
        return os.lstat(path).st_ctime_ns >= look.since_ns
    except OSError:
        return _removed_since(path, look)


def _removed_since(path: bytes, look: CheckoutLook) -> bool:
    """Tell whether a missing file may have been removed since then: its directory's ctime tells."""
    above = os.path.dirname(path)
    while len(above) > len(os.fsencode(look.root)):
        try:
            return os.lstat(above).st_ctime_ns >= look.since_ns
        except OSError:
            above = os.path.dirname(above)
    try:
        return os.lstat(above).st_ctime_ns >= look.since_ns
    except OSError:
        return True
