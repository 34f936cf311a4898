"""Which files of a checkout were changed since a moment: one git process, whatever the size.

git lists what the checkout has differently from its index, and what the index does not know; of
these the file system tells when each was last changed, which a program cannot set back. So nothing
has to be remembered from before. A file that was changed and put back byte for byte, times and all,
is not seen; one that lies in a directory git ignores is not looked at.

git gets a directory of ours as its own: nothing the checkout or its configuration names is run.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siding.files.regular import read_small
from siding.git.index_file import entry_count
from siding.git.snapshots.store import SnapshotStore, TaskDirectory
from siding.process.capture import Running

MOST_LOOKED_AT = 20_000  # files of directories that git does not know
_LIST = ("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", "--directory")


class CheckoutLook(NamedTuple):
    """A look that git is at."""

    root: Path
    since_ns: int
    running: Running


def tracked_count(index: Path) -> int | None:
    """Return how many files an index names; None when there is none that can be read."""
    return entry_count(read_small(index, 12) or b"")


def start(
    store: SnapshotStore, task: TaskDirectory, *, root: Path, index: Path, since_ns: int
) -> CheckoutLook:
    """Let git begin to look; `since_ns` is a time of the file system's own clock."""
    place = store.place(
        task,
        work_tree=root,
        index_file=index,
        settings=(*store.place().settings, f"core.excludesFile={task.excludes}"),
    )
    return CheckoutLook(root=root, since_ns=since_ns, running=store.git.start(place, _LIST))


def finish(look: CheckoutLook) -> list[bytes] | None:
    """Return the paths that changed since then, relative to the root; None: git could not tell."""
    done = look.running.finish()
    if done.returncode != 0:
        return None
    names = set(done.stdout.split(b"\0")) - {b""}
    return sorted(name for name in _spread(look.root, names) if _changed(look, name))


def _spread(root: Path, names: set[bytes]) -> Iterator[bytes]:
    """Yield the names, and for a directory that git does not know what lies in it."""
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
                if left > 0:
                    yield os.path.relpath(os.path.join(directory, file), os.fsencode(root))


def _changed(look: CheckoutLook, name: bytes) -> bool:
    path = os.path.join(os.fsencode(look.root), name)
    try:
        return os.lstat(path).st_ctime_ns >= look.since_ns
    except OSError:
        return _removed_since(path, look)


def _removed_since(path: bytes, look: CheckoutLook) -> bool:
    """Of a file that is gone, the directory above it knows when its names last changed."""
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
