"""The permissions, hard links and directories without files in a snapshot.

git's trees have only the executable bit. The others are kept beside the tree: the modes that files,
executable files and directories usually have in this workspace, and each one that is different.
The list is the message of a commit of its own, which the snapshot has as its last parent and names
in its message (``Modes: <id>``); snapshots of equal modes share one. A snapshot without it was made
before permissions were recorded: nothing is known of them. Files that are links to one another are
named there, too.

So are directories that hold none of the state's files, from the versions on that know of them. The
empty ones come back. The others are what it takes to prove that a directory was not there: one that
held only ignored files is in no tree and is not empty, and what is in an ignored directory is not
known at all.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping

from siding.ground.git.objects import Commit
from siding.ground.git.paths import parents, quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple

MOST = 10_000  # with more than that none is recorded, and none is ever taken away
EXECUTABLE, NOTHING = "100755", "000000"
_TRAILER = re.compile(r"^Modes: ([0-9a-f]+)$", re.MULTILINE)
TITLE = "permissions"
BARE = ("e", "o", "u")  # empty, other, unknown
Links = tuple[tuple[bytes, ...], ...]  # files that are one, in order; each group has two or more


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


class Usual(NamedTuple):
    """The modes that are not listed one by one."""

    file: int = 0o644
    executable: int = 0o755
    directory: int = 0o755

    def of_file(self, *, executable: bool) -> int:
        return self.executable if executable else self.file


class Modes(NamedTuple):
    """The permission bits of all that a snapshot holds. The root is the directory ``b""``.

    ``links`` are the groups of files that are hard links to one another, ``bare`` the directories
    that hold no file of the snapshot; None if nobody looked.
    """

    usual: Usual
    files: Mapping[bytes, int]
    directories: Mapping[bytes, int]
    links: Links | None = None
    bare: Bare | None = None

    def of_file(self, path: bytes, *, executable: bool) -> int:
        return self.files.get(path, self.usual.of_file(executable=executable))

    def of_directory(self, path: bytes) -> int:
        return self.directories.get(path, self.usual.directory)

    def text(self) -> str:
        """Return the form that is stored; equal modes have equal texts."""
        lines = [TITLE, "", "usual " + " ".join(f"{mode:o}" for mode in self.usual)]
        for letter, modes in (("d", self.directories), ("f", self.files)):
            lines += [f"{letter} {modes[path]:o} {quote_path(path)}" for path in sorted(modes)]
        if self.links is not None:
            lines.append("links")
            for number, group in enumerate(self.links):
                lines += [f"l {number} {quote_path(path)}" for path in group]
        if self.bare is not None:
            lines.append("bare")
            for letter, paths in zip(BARE, self.bare, strict=True):
                lines += [f"{letter} {quote_path(path)}" for path in paths]
        return "\n".join(lines)


def named_in(commit: Commit) -> Sha | None:
    """Return the commit that holds a snapshot's modes."""
    said = _TRAILER.search(commit.message)
    return Sha(said.group(1)) if said else None


def differ(before: Modes, now: Modes) -> bool:
    """Tell whether the second modes are another state than the first.

    Of directories only the empty ones make one: ignored files come and go unseen. What nobody
    looked for: there were no links, unless one is seen now; the directories were as they are now.
    """
    if before.links is None:
        before = before._replace(links=())
    if before.bare is None or (now.bare is not None and before.bare.empty == now.bare.empty):
        before = before._replace(bare=now.bare)
    return before != now
