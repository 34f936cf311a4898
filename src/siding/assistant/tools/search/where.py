"""Where a search may be made.

A rule or the policy judges the one path that a call names, and a search reads all below it. So
directories are searched only where the agent works; other files are searched one by one.
"""

import os
import stat
from pathlib import Path

from siding.assistant.tools.files.paths import PathRefused, Paths
from siding.assistant.tools.files.texts import is_binary
from siding.assistant.tools.place import Place
from siding.ground.namedtuples import NamedTuple

_LOOKED_AT = 8192


class Where(NamedTuple):
    """A directory to be searched, or one file in it. `ignores`: ignored files are left out."""

    directory: Path
    file: str = ""
    ignores: bool = True


def where(place: Place, paths: Paths, given: str) -> Where:
    """Return where a call is to search. Raises PathRefused, and OSError if nothing is there."""
    real = paths.as_judged(given)
    mode = os.stat(real).st_mode
    if stat.S_ISREG(mode):
        with real.open("rb") as file:
            if is_binary(file.read(_LOOKED_AT)):
                raise PathRefused(f"{given} is a binary file; it was not searched.")
        return Where(real.parent, real.name)
    if not stat.S_ISDIR(mode):
        raise PathRefused(f"{given} is neither a file nor a directory.")
    if real.is_relative_to(place.results):
        return Where(real, ignores=False)
    if not any(real.is_relative_to(root) for root in place.roots):
        roots = ", ".join(map(str, place.roots))
        raise PathRefused(
            f"{given} is not searched: directories are searched only below {roots}. Search single "
            "files, or use rg or find in Bash."
        )
    return Where(real)
