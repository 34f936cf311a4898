"""Cases in which the repository and the home are on two file systems: no rename leads across.

`case/repo` is a link to a directory on the other file system. Copies of a case take it along.
`SIDING_FAULTS_APART=1` makes all gates begin like that.
"""

import os
import tempfile
from collections.abc import Callable
from functools import cache
from inspect import isfunction
from pathlib import Path

from .copies import copy_tree, remove_tree

ALWAYS = os.environ.get("SIDING_FAULTS_APART") == "1"
_SUFFIX = ".apart"


@cache
def other_file_system(place: Path) -> Path | None:
    """Return a directory on another file system than `place`; None if this machine has none."""
    here = os.stat(place).st_dev
    for each in ("/dev/shm", tempfile.gettempdir(), "/var/tmp"):
        if os.access(each, os.W_OK) and os.stat(each).st_dev != here:
            return Path(each)
    return None


def apart_of(case: Path) -> Path:
    """Return the directory of a case on the other file system, whether it is there or not."""
    place = other_file_system(case.parent)
    assert place is not None, "there is no second file system that can be written to"
    return place / ("siding" + str(case).replace("/", "-"))


def has_apart(case: Path) -> bool:
    """Tell whether a case has its repository on the other file system."""
    return (case / "repo").is_symlink()


def on_two_file_systems(setup: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return a setup that does the same with the repository on another file system."""

    def made(case: Path) -> None:
        if not has_apart(case):  # in the row `apart` all gates begin so
            apart = apart_of(case)
            remove_tree(apart)
            (apart / "repo").mkdir(parents=True)
            (case / "repo").symlink_to(apart / "repo")
        setup(case)

    if isfunction(setup):
        made.__module__ = setup.__module__
        made.__qualname__ = f"apart:{setup.__qualname__}"
    return made


def save_apart(case: Path, copy: Path) -> None:
    """Copy what a case has on the other file system, beside the copy of the case."""
    target = copy.with_name(copy.name + _SUFFIX)
    remove_tree(target)
    if has_apart(case):
        copy_tree(apart_of(case), target)


def restore_apart(case: Path, copy: Path) -> None:
    """Put back what `save_apart` has copied. The case itself was put back already."""
    if has_apart(case):
        remove_tree(apart_of(case))
        copy_tree(copy.with_name(copy.name + _SUFFIX), apart_of(case))


def remove_apart(case: Path) -> None:
    """Remove what a case has on the other file system."""
    if other_file_system(case.parent.parent) is not None and case.is_dir() and has_apart(case):
        remove_tree(apart_of(case))
