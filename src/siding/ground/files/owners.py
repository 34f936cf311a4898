"""Tell who can write a file, or put another one in its place."""

import os
import stat
from pathlib import Path

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def only_root_writes(name: str) -> bool:
    """Tell whether a file and all directories above it belong to root, and nobody else writes them.

    Where a link leads counts as well. What is not there is not told: False.
    """
    try:
        real = os.path.realpath(name, strict=True)
        paths = {Path(name), *Path(name).parents, Path(real), *Path(real).parents}
        found = [os.stat(path) for path in paths]
    except OSError:
        return False
    return all(each.st_uid == 0 and not each.st_mode & _OTHERS for each in found)
