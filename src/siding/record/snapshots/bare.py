"""The directories of a state that hold none of its files. git's trees do not have them.

They go into the snapshot beside the permissions (`modes.py`). The empty ones come back. The others
are what it takes to prove that a directory was not there: one that held only ignored files is in no
tree and is not empty, and what is in an ignored directory is not known at all.
"""

import os
from collections.abc import Collection, Iterable

from siding.ground.git.paths import parents
from siding.ground.namedtuples import NamedTuple

MOST = 10_000  # with more than that none is recorded, and none is ever taken away


class Bare(NamedTuple):
    """Directories in order. `empty` hold nothing, `other` nothing that is recorded.

    `unknown` are paths of which nothing else is known, ignored directories first of all. A
    directory that holds only such directories is not named.
    """

    empty: tuple[bytes, ...] = ()
    other: tuple[bytes, ...] = ()
    unknown: tuple[bytes, ...] = ()

    def with_unknown(self, paths: Iterable[bytes]) -> "Bare":
        """Return them with these paths that were there, too, and are in no snapshot.

        Ignored files come and go without a new snapshot: the report on the step names them.
        """
        return self._replace(unknown=(*self.unknown, *paths))

    def may_have(self) -> set[bytes]:
        """Return the directories that were there or may have been, as far as no tree says."""
        named = {*self.empty, *self.other, *self.unknown}
        return named | {above for path in named for above in parents(path)}


def bare_directories(
    empty: Iterable[bytes],
    unrecorded: Iterable[bytes],
    unknown: Iterable[bytes],
    *,
    directories: Collection[bytes],
) -> Bare | None:
    """Return them; None if they are too many.

    `unrecorded` are files and directories that are in no snapshot, `directories` all that are
    there.
    """
    other, below = set(), {*unknown}
    for path in unrecorded:
        if path in directories:
            below.add(path)
        elif b"/" in path:
            other.add(os.path.dirname(path))
    found = Bare(
        empty=tuple(sorted(empty)), other=tuple(sorted(other)), unknown=tuple(sorted(below))
    )
    return found if sum(map(len, found)) <= MOST else None
