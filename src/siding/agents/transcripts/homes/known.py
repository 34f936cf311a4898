"""Remember the summaries of found transcripts, so that a list reads only what has changed.

A cache: it can be deleted at any time, and a damaged one is made again. An entry counts for the
path, size and time of change that it was made of.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.transcripts.homes.found import FoundTranscript
from siding.agents.transcripts.homes.summaries import Summary, summary_of
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, replace_bytes
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple

VERSION = 3  # 3: prompts that were typed while the model worked
_MOST_BYTES = 256 * 1024 * 1024


class _Entry(Struct, array_like=True):
    size: int
    mtime_ns: int
    summary: Summary


class _Cache(Struct):
    version: int
    entries: dict[str, _Entry]


_DECODER = msgspec.json.Decoder(_Cache)


class Summarised(NamedTuple):
    """A found transcript, and what it is about."""

    transcript: FoundTranscript
    summary: Summary


def summarised(cache: Path, transcripts: Iterable[FoundTranscript]) -> list[Summarised]:
    """Return the transcripts with their summaries; read only those that changed since.

    Files that cannot be read, and are gone, are left out. The cache is written if something
    changed and it can be.
    """
    known = _read(cache)
    entries: dict[str, _Entry] = {}
    found: list[Summarised] = []
    changed = False
    for each in transcripts:
        name = str(each.path)
        entry = known.get(name)
        if entry is None or (entry.size, entry.mtime_ns) != (each.size, each.mtime_ns):
            try:
                summary = summary_of(each, None if entry is None else entry.summary)
            except (OSError, SidingError):
                continue
            entry = _Entry(size=each.size, mtime_ns=each.mtime_ns, summary=summary)
            changed = True
        entries[name] = entry
        found.append(Summarised(transcript=each, summary=entry.summary))
    if changed or len(entries) != len(known):
        _write(cache, entries)
    return found


def _read(cache: Path) -> dict[str, _Entry]:
    try:
        found = _DECODER.decode(read_bytes(cache, limit=_MOST_BYTES))
    except (OSError, SidingError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return found.entries if found.version == VERSION else {}


def _write(cache: Path, entries: dict[str, _Entry]) -> None:
    storable = {name: entry for name, entry in entries.items() if _is_utf8(name)}
    with suppress(OSError):  # a full disk, a home that cannot be written: the next list reads again
        make_dirs(cache.parent)
        replace_bytes(cache, msgspec.json.encode(_Cache(version=VERSION, entries=storable)))


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
