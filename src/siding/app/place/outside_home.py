"""Leave Siding's home out where a checkout is looked at that has it inside."""

import os
from collections.abc import Iterable
from pathlib import Path

from siding.app.place.project import Project


def outside_home(project: Project, root: Path, paths: Iterable[bytes]) -> list[bytes]:
    """Return the paths of a checkout that are not Siding's home or in it.

    The home can be in a checkout, as `~/.siding` is where somebody keeps dotfiles in a
    repository; it is never a part of it. A directory that holds the home and no other file is
    left out as well.
    """
    home = os.fsencode(os.path.realpath(project.app.home.root))
    place = os.path.relpath(home, os.fsencode(os.path.realpath(root))) + b"/"
    if place.startswith((b"./", b"../")):
        return list(paths)

    def is_home(path: bytes) -> bool:
        above = path.endswith(b"/") and place.startswith(path)
        return (path.rstrip(b"/") + b"/").startswith(place) or (
            above and _holds_only(os.path.join(os.fsencode(root), path), home)
        )

    return [path for path in paths if not is_home(path)]


def _holds_only(directory: bytes, home: bytes) -> bool:
    """Tell whether there is no file in a directory but those in the home; stop at the first one."""
    for above, directories, files in os.walk(directory):
        if files:
            return False
        directories[:] = [
            each for each in directories if os.path.realpath(os.path.join(above, each)) != home
        ]
    return True
