"""What a watcher would say: the entries of the watched directories that came, went or changed."""

import os
from collections.abc import Iterable
from pathlib import Path

Entries = dict[Path, dict[str, tuple[int, ...]]]


def entries(directories: Iterable[Path]) -> Entries:
    """Return the entries of each directory; of a directory in it only that it is there."""
    found: Entries = {}
    for directory in directories:
        found[directory] = {}
        try:
            with os.scandir(directory) as names:
                for each in names:
                    is_file = each.is_file(follow_symlinks=False)
                    stat = each.stat(follow_symlinks=False)
                    stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size) if is_file else ()
                    found[directory][each.name] = stamp
        except FileNotFoundError:
            continue
    return found


def hints(before: Entries, after: Entries) -> list[Path]:
    """Return the paths whose entries differ."""
    return [
        directory / name
        for directory, names in before.items()
        for name in {*names, *after[directory]}
        if names.get(name) != after[directory].get(name)
    ]
