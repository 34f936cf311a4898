"""Where a conversation stands, kept beside its story: who asks need not read a story of 100 MB.

The host replaces the file when something changes that a list shows, and after so many bytes. It
says up to which byte of the story it holds; a reader folds what follows. So a host that is killed
leaves nothing that is wrong. It can be deleted: then the whole story is read.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from siding.chat.events import plain
from siding.chat.state import folded
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.fields import mapping, whole
from siding.ground.storage.writes import encode_document
from siding.record.runs.small_files import replace_small

_VERSION = 1
_AFTER = 1 << 20  # bytes of story, though nothing changed that a list shows


class Kept(NamedTuple):
    """Where a conversation stood after so many bytes of its story."""

    talk: Talk = Talk()
    offset: int = 0


class Keeper:
    """Keeps the file of one conversation up to date. Only its host has one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shown: Talk | None = None
        self._offset = 0

    def keep(self, talk: Talk, offset: int) -> bool:
        """Replace the file if there is a reason; tell whether there was. Raises OSError."""
        # What changes with each word of an agent is no reason to replace the file.
        shown = talk._replace(
            seq=0, input_tokens=0, output_tokens=0, cached_tokens=0, dollars=0.0, context=0
        )
        if shown == self._shown and offset < self._offset + _AFTER:
            return False
        self._shown, self._offset = shown, offset
        replace_small(self._path, encode_document(_record_of(Kept(talk, offset))))
        return True


def talk_in(path: Path, story: Path, *, is_live: bool = False) -> Talk:
    """Return where a conversation stands. `path` is the file, which may not be there.

    With `is_live` a host keeps the file: what may follow in the story is nothing that a list shows.
    """
    kept = _read(path)
    try:
        reader = StoryReader(story, kept.offset)
    except FileNotFoundError:
        return Talk()
    try:
        if not _fits(reader, kept.offset):
            kept = Kept()
            reader.offset = 0
        if is_live and kept.offset:
            return kept.talk
        return folded(reader.records(), kept.talk)
    finally:
        reader.close()


def _fits(reader: StoryReader, offset: int) -> bool:
    """Tell whether a line of the story ends there: after a power cut it may be shorter."""
    return offset == 0 or reader.at(offset - 1) == b"\n"


def _record_of(kept: Kept) -> dict[str, Any]:
    fields = list(Talk._fields)
    return {
        "version": _VERSION,
        "fields": fields,
        "offset": kept.offset,
        "talk": plain(kept.talk),
    }


def _read(path: Path) -> Kept:
    """Return what is kept; nothing of a file that another version of Siding wrote."""
    try:
        record = read_document_or_none(path, what="where a conversation stands", version=_VERSION)
    except (SidingError, OSError):
        return Kept()
    if record is None or record.get("fields") != list(Talk._fields):
        return Kept()
    try:
        talk = _value(Talk, record.get("talk"))
    except (TypeError, ValueError, LookupError, AttributeError):
        return Kept()
    return Kept(talk, max(0, whole(record.get("offset"))))


def _value(kind: Any, value: Any) -> Any:
    """Return a value of JSON as what an annotation says. Raises TypeError or ValueError."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _value(inner[0], value)  # one that is None is left out of the record
    if origin is tuple:
        return tuple(_value(inner[0], each) for each in value)
    if origin is Mapping:
        found = mapping(value)
        is_plain = inner[1] is Any
        return found if is_plain else {n: _value(inner[1], v) for n, v in found.items()}
    if hasattr(kind, "_fields"):
        kinds = get_type_hints(kind)
        return kind(**{name: _value(kinds[name], each) for name, each in value.items()})
    if issubclass(kind, StrEnum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(value)
    return value
