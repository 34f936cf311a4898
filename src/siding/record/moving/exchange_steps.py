"""Finish, or take back, an exchange of two names that was cut off between two of its steps.

Where a file system cannot exchange two names, `ground/files/exchange.py` renames what is in the
place to the name of the entry with ``.0`` behind it, makes a link to the new file in the place, and
unlinks the entry. On the way back the displaced file is ``<entry>.0``, so the new one becomes
``<entry>.0.0``. Killed in between, a file has two names, or the place has none. The identities in
the list (`displaced_list.py`) tell which step was the last, as neither a rename nor a link changes
them. Afterwards each entry is pending or exchanged, as where the kernel exchanges names.
"""

import os
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path

from siding.ground.files.durable import flush_names
from siding.ground.files.exchange import Entry, rename_new
from siding.ground.git.paths import join
from siding.ground.git.treewalk import OpenTree
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.checkout import CheckoutPlace
from siding.record.restoring.displaced_list import UNKNOWN, Listed, identity_at, read_names


class Displacing(NamedTuple):
    """A checkout and the open directory of what is displaced in it."""

    place: CheckoutPlace
    tree: OpenTree
    directory: Path
    fd: int

    def at_place(self, each: Listed) -> str:
        return identity_at(join(os.fsencode(self.place.root), each.path))

    def at(self, entry: bytes) -> str:
        return identity_at(os.path.join(os.fsencode(self.directory), entry))

    def put(self, entry: bytes, each: Listed) -> None:
        """Put an entry into its empty place, unless somebody fills that in this very moment."""
        above, name = os.path.split(each.path)
        with suppress(FileExistsError):
            rename_new(Entry(self.fd, entry), Entry(self.tree.writable(above), name))

    def unlink(self, entry: bytes) -> None:
        os.unlink(entry, dir_fd=self.fd)


def end_steps(place: CheckoutPlace, directory: Path) -> None:
    """Finish or take back what was cut off between two steps; durable on return. Can be repeated.

    A file that somebody has put into a place meanwhile stays there.
    """
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with OpenTree(place.root, unlock=False) as tree:
            here = Displacing(place, tree, directory, fd)
            listed = read_names(directory).values()
            touched = {os.path.dirname(each.path) for each in listed if end_one(here, each)}
            if touched:
                flush_names(fd)
                tree.flush(touched)
    finally:
        os.close(fd)


def end_one(here: Displacing, each: Listed) -> bool:
    """Do this for one entry; return whether there was something to do. Not durable."""
    entry, place = here.at(each.entry), here.at_place(each)
    if entry == place != UNKNOWN:  # linked: the unlink was still to come
        here.unlink(each.entry)
        return True
    if each.is_deletion:
        return False
    if entry == UNKNOWN:
        return _end_way_back(here, each)
    if entry == here.at(_on_way_back(each)):  # linked: the new file has its first name again
        here.unlink(_on_way_back(each))
        return True
    aside = _newest(here, each.entry)
    if aside is None:
        return False
    if place == UNKNOWN:
        here.put(aside, each)
    elif place == here.at(aside):
        here.unlink(aside)
    return True


def _end_way_back(here: Displacing, each: Listed) -> bool:
    """Finish giving a displaced file back: the new one has its first name again then."""
    old, new = each.entry + b".0", _on_way_back(each)
    if here.at(new) != each.new or each.new == UNKNOWN:
        return False
    if here.at(old) != UNKNOWN and here.at_place(each) == UNKNOWN:
        here.put(old, each)
    elif here.at(old) == here.at_place(each) != UNKNOWN:
        here.unlink(old)
    rename_new(Entry(here.fd, new), Entry(here.fd, each.entry))
    return True


def _on_way_back(each: Listed) -> bytes:
    """Return the name of the new file from when it leaves its place until the way back is ended."""
    return each.entry + b".0.0"


def _newest(here: Displacing, entry: bytes) -> bytes | None:
    """Return the last of the names ``<entry>.0``, ``.1`` and so on that are there."""
    names = (b"%b.%d" % (entry, number) for number in count())
    there = list(takewhile(lambda name: here.at(name) != UNKNOWN, names))
    return there[-1] if there else None
