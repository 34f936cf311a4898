"""What was typed for a conversation and not sent: kept over leaving the screen, and over a kill."""

import os
from contextlib import suppress

from siding.chat.composed import Labels
from siding.chat.store import Chat
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.fields import mapping, text
from siding.ground.storage.writes import encode_document
from siding.record.runs.small_files import replace_small

_NAME, _VERSION = "unsent", 1


class Unsent(NamedTuple):
    """A text with its labels."""

    text: str
    labels: Labels


def unsent(chat: Chat) -> Unsent:
    """Return what was typed; nothing of a file that cannot be read."""
    try:
        record = read_document_or_none(
            chat.directory / _NAME, what="what was typed and not sent", version=_VERSION
        )
    except (SidingError, OSError):
        record = None
    if record is None:
        return Unsent("", Labels())
    pasted, paths = (
        {name: text(each) for name, each in mapping(record.get(field)).items()}
        for field in ("pasted", "pictures")
    )
    return Unsent(text(record.get("text")), Labels(pasted, paths))


def keep_unsent(chat: Chat, typed: str, labels: Labels) -> None:
    """Keep what is typed now. It is not flushed: a power cut may lose the last words."""
    if not typed.strip():
        with suppress(FileNotFoundError):
            os.unlink(chat.directory / _NAME)
        return
    pasted, pictures = labels.kept(typed)
    record = {"version": _VERSION, "text": typed, "pasted": pasted, "pictures": pictures}
    with suppress(FileNotFoundError):  # the conversation itself is gone
        replace_small(chat.directory / _NAME, encode_document(record))
