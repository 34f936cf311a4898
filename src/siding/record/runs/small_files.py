"""The small files beside the records of runs: replaced, removed, and never in the way.

A disk that was repaired, or a person, can leave a directory or a pipe where one of them belongs.
None of them is needed so much that a command should fail for it. So what no file can replace is set
aside under a name of its own, with all that is in it, and the work goes on.
"""

import os
import stat
from pathlib import Path

from siding.ground.errors import NotARegularFile
from siding.ground.files.durable import write_all
from siding.ground.files.regular import open_regular

NEW = ".new"
_ASIDE = ".damaged-"


def replace_small(path: Path, data: bytes) -> None:
    """Replace a file that only this process writes; what a killed writer left is written over."""
    temporary = path.with_name(path.name + NEW)
    fd = open_anew(temporary)
    try:
        write_all(fd, data)
    finally:
        os.close(fd)
    try:
        os.replace(temporary, path)
    except OSError:
        if not _is_directory(path):
            raise
        _set_aside(path)
        os.replace(temporary, path)


def open_anew(path: Path) -> int:
    """Return a descriptor of an empty file that is open for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        return open_regular(path, flags)
    except (NotARegularFile, PermissionError):
        remove_small(path)
        return open_regular(path, flags)


def remove_small(path: Path) -> None:
    """Take a file's name away; one that is not there is fine."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        if not _is_directory(path):
            raise
        _set_aside(path)


def _is_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _set_aside(path: Path) -> None:
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}{_ASIDE}{number}")):
        number += 1
    os.rename(path, aside)
