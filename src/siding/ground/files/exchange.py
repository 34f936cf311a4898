"""Put a file into a place so that whatever is there, in that very moment, is kept.

A rename over a file destroys what another process has just saved there: between any look and the
rename there is time for it. Linux can exchange two names in one step (`renameat2(2)` with
RENAME_EXCHANGE), or rename only if the new name is free (RENAME_NOREPLACE). macOS can as well
(`renameatx_np(2)` with RENAME_SWAP and RENAME_EXCL). Where it cannot be done (a file system without
these flags, another kernel), the same is done in steps: then nothing is lost either, but for a
moment there is no file in the place.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from siding.ground.namedtuples import NamedTuple

_ON_MACOS = sys.platform == "darwin"
_NOREPLACE, _EXCHANGE = 4 if _ON_MACOS else 1, 2
_NUMBERS = {"x86_64": 316, "aarch64": 276}  # for a C library without renameat2()
# EXDEV: overlayfs does not exchange a directory that comes from below.
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EXDEV}
NO_LINK = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


class Entry(NamedTuple):
    """A name in an open directory."""

    directory: int
    name: bytes


def put(new: Entry, place: Entry) -> bool:
    """Move `new` to `place`; return whether something was there.

    What was there has the name of `new` afterwards or, where names cannot be exchanged, that name
    with ``.0`` behind it (``.1`` and so on if others were made there meanwhile).
    """
    while True:
        try:
            _exchange(new, place)
        except FileNotFoundError:
            pass
        else:
            return True
        try:
            rename_new(new, place)
        except FileExistsError:
            continue  # it was made in this very moment
        return False


def rename_new(new: Entry, place: Entry) -> None:
    """Move `new` to `place`. Raises FileExistsError if something is there."""
    try:
        _renameat2(new, place, _NOREPLACE)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        _rename_new_by_link(new, place)


def _exchange(new: Entry, place: Entry) -> None:
    """Exchange two names. Raises FileNotFoundError if one of them is not there."""
    try:
        _renameat2(new, place, _EXCHANGE)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        _exchange_in_steps(new, place)


def _exchange_in_steps(new: Entry, place: Entry) -> None:
    """Rename what is in `place` out of the way, then `new` into it. If that fails, take it back."""
    for number in count():
        aside = Entry(new.directory, b"%b.%d" % (new.name, number))
        try:
            os.rename(
                place.name, aside.name, src_dir_fd=place.directory, dst_dir_fd=aside.directory
            )
        except FileNotFoundError:
            if number == 0:
                raise
        try:
            rename_new(new, place)
        except FileExistsError:
            continue
        except OSError:
            with suppress(OSError):
                rename_new(aside, place)
            raise
        return


def _rename_new_by_link(new: Entry, place: Entry) -> None:
    """Do the same through a second link, which is never made over anything."""
    directories = {"src_dir_fd": new.directory, "dst_dir_fd": place.directory}
    try:
        os.link(new.name, place.name, follow_symlinks=False, **directories)
    except OSError as error:
        if error.errno not in NO_LINK:
            raise
        # A directory, or a file system without links. The kernel replaces no file by a directory.
        if _is_there(new) and _is_there(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place.name) from None
        os.rename(new.name, place.name, **directories)
        return
    os.unlink(new.name, dir_fd=new.directory)


def _is_there(entry: Entry) -> bool:
    try:
        os.stat(entry.name, dir_fd=entry.directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _renameat2(source: Entry, target: Entry, flags: int) -> None:
    words = (source.directory, source.name, target.directory, target.name, flags)
    if _CALL(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), source.name, None, target.name)


def _found_call() -> Callable[..., int]:
    """Return the C library's function, or the system call that it would make."""
    if sys.platform not in ("linux", "darwin"):
        return _no_call
    library = ctypes.CDLL(None, use_errno=True)
    kinds: list[type[ctypes._SimpleCData[Any]]] = [ctypes.c_int, ctypes.c_char_p] * 2
    kinds.append(ctypes.c_uint)
    named = getattr(library, "renameatx_np" if _ON_MACOS else "renameat2", None)
    if named is not None:
        named.argtypes = kinds
        return named  # type: ignore[no-any-return]
    number = None if _ON_MACOS else _NUMBERS.get(os.uname().machine)
    if number is None:
        return _no_call
    library.syscall.argtypes = (ctypes.c_long, *kinds)
    return lambda *words: int(library.syscall(number, *words))


def _no_call(*_words: object) -> int:
    ctypes.set_errno(errno.ENOSYS)
    return -1


_CALL = _found_call()
