"""List a directory whose entries have ids as names.

Other programs leave files in it: `.DS_Store`, `desktop.ini`, a copy in conflict. What is no id is
passed over, by every command alike; `siding doctor` names it (`foreign_names`).
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

# Earlier versions and other tools gave ids of other forms, but never a blank or a dot.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")


def is_id(name: str) -> bool:
    """Tell whether a name has the form of an id: letters, digits, ``-`` and ``_``."""
    return _ID.match(name) is not None


def listed_ids(
    directory: Path, *, suffix: str = "", is_name: Callable[[str], bool] = is_id
) -> list[str]:
    """Return the ids in a directory, in order; none if it is not there.

    Entries are files named by the id and `suffix`. Without a suffix they are directories.
    """
    return sorted(_found(directory, suffix, is_name))


def foreign_names(
    directory: Path, *, suffix: str = "", is_name: Callable[[str], bool] = is_id
) -> list[str]:
    """Return the names of entries in a directory that `listed_ids` passes over, in order."""
    try:
        names = set(os.listdir(directory))
    except OSError:
        return []
    return sorted(names - {each + suffix for each in _found(directory, suffix, is_name)})


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _found(directory: Path, suffix: str, is_name: Callable[[str], bool]) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if not entry.name.endswith(suffix):
                    continue
                name = entry.name[: len(entry.name) - len(suffix)]
                if is_name(name) and (suffix or _is_directory(entry)):
                    yield name
    except (FileNotFoundError, NotADirectoryError):
        return
