"""A program that brings a directory to another state by exchanging files: it loses nothing.

    toy_exchange.py ROOT WANTED TRASH [--flush]

The files of ROOT become those of WANTED. What is displaced, the inode and not a copy, ends in a
directory in TRASH, whose name is printed. With --flush everything is durable by then. The gates of
aimed writers and of the power cut have to pass this program.
"""

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

NOREPLACE, EXCHANGE = 1, 2  # renameat2(2)
FLUSHES = "--flush" in sys.argv
_libc = ctypes.CDLL(None, use_errno=True)


def bring(root: Path, wanted: Path, place: Path) -> None:
    """Bring the files of `root` to those of `wanted`; what they displace goes to `place`."""
    for path in sorted(_files(root) - _files(wanted)):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        os.rename(root / path, place / path)
        with suppress(OSError):  # the root itself, or somebody has put a file there
            os.rmdir((root / path).parent)
    for path in sorted(_files(wanted)):
        if not _same(root / path, wanted / path):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(wanted / path, place / path)
            _flush((place / path, *_above(place / path, place.parents[1])))
            _put(place / path, root / path)
            _flush({*_above(root / path, root), *_above(place / path, place)})


def _put(new: Path, path: Path) -> None:
    """Exchange, or rename where nothing is; whatever comes or goes meanwhile."""
    path.parent.mkdir(exist_ok=True)
    while True:
        for how, otherwise in ((EXCHANGE, errno.ENOENT), (NOREPLACE, errno.EEXIST)):
            arguments = (-100, os.fsencode(new), -100, os.fsencode(path), how)
            if _libc.renameat2(*arguments) == 0:
                return
            if ctypes.get_errno() != otherwise:
                raise OSError(ctypes.get_errno(), "renameat2")


def _above(path: Path, top: Path) -> list[Path]:
    """The directories of a path, up to `top`."""
    return [each for each in path.parents if each.is_relative_to(top)]


def _flush(paths: Iterable[Path]) -> None:
    for path in paths if FLUSHES else ():
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


def _files(root: Path) -> set[str]:
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {str(path) for path in found if path.parts[0] != ".git"}


def _same(one: Path, other: Path) -> bool:
    with suppress(FileNotFoundError):
        modes = one.stat().st_mode == other.stat().st_mode
        return modes and one.read_bytes() == other.read_bytes()
    return False


if __name__ == "__main__":
    kept = Path(sys.argv[3]) / "displaced-1"
    kept.mkdir(parents=True)
    bring(Path(sys.argv[1]), Path(sys.argv[2]), kept)
    print(f"what was displaced is in {kept}")
