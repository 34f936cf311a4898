"""Find out with git at which side of a move the files of a checkout are, and bring them to one.

For moves of which no staged files are known: cut off by an earlier version, or after somebody
removed git's lock. What is known of the others is in their list (`staged_checkout.py`).
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from siding.ground.git.paths import GITLINK, NOTHING, join
from siding.ground.git.settings import filter_environment
from siding.ground.ids import Sha
from siding.record.moving.checkout import (
    CheckoutGit,
    copy_index,
    discard_index,
    is_real_directory,
    put_in_place,
)
from siding.record.moving.model import Trees
from siding.record.moving.staged_checkout import exchange, identities, stage
from siding.record.snapshots.patches import Change


def set_entries(where: CheckoutGit, private: Path, sides: Mapping[bytes, tuple[str, Sha]]) -> None:
    """Set entries of a copy of the index, given as path -> (mode, object id)."""
    zeros = "0" * where.repository.paths.hash_size
    lines = []
    for path, (mode, sha) in sides.items():
        about = f"0 {zeros}" if mode == NOTHING else f"{mode} {sha}"
        lines.append(about.encode("ascii") + b"\t" + path + b"\0")
    if lines:
        where.repository.git.run(
            where.at(private),
            ["update-index", "--replace", "-z", "--index-info"],
            doing="preparing the index",
            stdin=b"".join(lines),
        )


def settle(
    where: CheckoutGit,
    token: str,
    trees: Trees,
    changes: Sequence[Change],
    *,
    directory: Path,
    publish: bool,
    whatever: bool = False,
) -> bool:
    """Bring the files to the new of the `trees`. Each may be as in the old, as in the new, or half
    written.

    What is replaced goes into the new `directory`. The caller holds the lock. Returns False, and
    changes no file, if the person has changed one of them meanwhile. With `whatever` such a file is
    left as it is and the others are changed.
    """
    discard_index(where.place, token)
    private = copy_index(where.place, token)
    here = _Files(where, private, changes)
    at_old, at_new = here.at(new=False), here.at(new=True)
    lost = {c.path for c in changes if c.path not in at_old | at_new and here.is_lost(c)}
    others = {c.path for c in changes} - at_old - at_new - lost
    if others and not whatever:
        discard_index(where.place, token)
        return False
    discard_index(where.place, token)
    copy_index(where.place, token)
    here.set_entries(
        {
            c.path: (c.old_mode, c.old_sha) if c.path in at_old else (c.new_mode, c.new_sha)
            for c in changes
        }
    )
    here.refresh()
    going = [c for c in changes if c.path in at_old or c.path in lost]
    stage(
        where,
        trees,
        going,
        directory,
        index=private,
        before=identities(where.place, going),
        whole=[c for c in going if c.path in lost],
    )
    exchange(where.place, directory, going)
    if publish:
        put_in_place(where.place, private)
    discard_index(where.place, token)
    return True


def unstaged_at(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> set[bytes]:
    """Return the paths that were written and neither changed, staged nor committed since.

    `changes` lead back: the file must equal the old side, the index entry the new side.
    """
    sides = {c.path: None if c.new_mode == NOTHING else (c.new_mode, c.new_sha) for c in changes}
    with _seen(where, token, changes) as here:
        entries = here.entries()
        return {path for path in here.at(new=False) if entries.get(path) == sides[path]}


def stands_at(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> bool:
    """Tell whether every file equals the new side of its change. Writes only a copy of the
    index."""
    with _seen(where, token, changes) as here:
        return here.at(new=True) == {change.path for change in changes}


def is_untouched(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> bool:
    """Tell whether every path equals the old side of its change, in the index and on disk."""
    sides = {c.path: None if c.old_mode == NOTHING else (c.old_mode, c.old_sha) for c in changes}
    with _seen(where, token, changes) as here:
        entries = here.entries()
        staged = {path for path, side in sides.items() if entries.get(path) == side}
        return bool(sides) and len(staged) == len(sides) and here.at(new=False) == set(sides)


@contextmanager
def _seen(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> "Iterator[_Files]":
    """Yield the changed paths seen through a copy of the index, which is removed afterwards."""
    private = copy_index(where.place, token)
    try:
        yield _Files(where, private, changes)
    finally:
        discard_index(where.place, token)


class _Files:
    """The changed paths as they are on disk, seen through a copy of the index."""

    def __init__(self, where: CheckoutGit, private: Path, changes: Sequence[Change]) -> None:
        self._git = where.repository.git
        self._repository, self._user = where.repository, where.user
        self._where, self._private = where, private
        self._place = where.at(private)
        self._changes = changes
        self._root = os.fsencode(where.place.root)

    def at(self, *, new: bool) -> set[bytes]:
        """Return the paths whose files equal the new (or old) side, as git would store them."""
        sides = {
            c.path: (c.new_mode, c.new_sha) if new else (c.old_mode, c.old_sha)
            for c in self._changes
        }
        absent = {path for path, (mode, _) in sides.items() if mode == NOTHING}
        links = {path for path, (mode, _) in sides.items() if mode == GITLINK}
        self.set_entries(sides)
        self.refresh()
        output = self._git.run(
            self._place,
            ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"],
            doing="comparing the files of the checkout",
        )
        different = set(output.split(b"\0")[1::2])
        present = {p for p in sides if p not in absent and p not in links and p not in different}
        gone = {
            p
            for p in absent
            if not os.path.lexists(join(self._root, p)) or is_real_directory(join(self._root, p))
        }
        return present | gone | links

    def is_lost(self, change: Change) -> bool:
        """Tell whether the path has nothing of the person's: no file, or one that git was writing
        when it died."""
        full = join(self._root, change.path)
        if not os.path.lexists(full):
            return True
        if os.path.islink(full) or not os.path.isfile(full):
            return False
        for mode, sha in ((change.new_mode, change.new_sha), (change.old_mode, change.old_sha)):
            if mode not in (NOTHING, GITLINK) and self._begins(full, change.path, sha):
                return True
        return False

    def entries(self) -> dict[bytes, tuple[str, str]]:
        """Return the index entries of the changed paths as path -> (mode, object id)."""
        output = self._git.run(self._place, ["ls-files", "-s", "-z"], doing="reading the index")
        wanted = {change.path for change in self._changes}
        found: dict[bytes, tuple[str, str]] = {}
        for line in output.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            if path in wanted:
                mode, sha, _stage = about.decode("ascii").split(" ")
                found[path] = (mode, sha)
        return found

    def refresh(self) -> None:
        self._git.attempt(self._place, ["update-index", "-q", "--refresh"])

    def set_entries(self, sides: dict[bytes, tuple[str, Sha]]) -> None:
        """Set these index entries, given as path -> (mode, object id)."""
        set_entries(self._where, self._private, sides)

    def _begins(self, full: bytes, path: bytes, sha: str) -> bool:
        size = os.lstat(full).st_size
        if size == 0:
            return True
        shown = os.fsdecode(path)
        done = self._git.attempt(
            self._place,
            ["cat-file", "--filters", f"--path={shown}", sha],
            env=filter_environment(self._git, self._user),
        )
        if done.returncode or size >= len(done.stdout):
            return False
        with open(full, "rb") as file:
            return file.read() == done.stdout[:size]
