"""Take secrets out of what an agent says piece by piece.

A secret may be cut anywhere, so the pieces of one text go through one stream. It holds back what
may be the beginning of a secret, mostly the last word, until the next piece, or until the text has
ended. What is noted beside a text while it goes on (a prompt that was given, tokens that were used)
does not end it.
"""

import codecs
from collections.abc import Iterator
from typing import Any

from siding.agents.talking.port import (
    Applied,
    CommandsChanged,
    InBackground,
    Offered,
    PromptTaken,
    Text,
    Thought,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    Used,
)
from siding.chat.events import (
    Dropped,
    Edited,
    Moved,
    Put,
    Queued,
    Requeued,
    Sending,
    SettingsAsked,
    WentOn,
)
from siding.record.place.redaction import Redaction, printable

# What says nothing about where a text ends.
_BESIDE = (
    *(Applied, CommandsChanged, InBackground, Offered, PromptTaken, Used),
    *(Dropped, Edited, Moved, Put, Queued, Requeued, Sending, SettingsAsked, WentOn),
)
Piece = Text | Thought | ToolOutput
PIECES = (Text, Thought, ToolOutput)
_Key = tuple[type[Any], str]


class Masker:
    """Masks the pieces of one conversation. Whole texts are not its business."""

    def __init__(self, redaction: Redaction) -> None:
        self._stream = redaction.filter  # None: nothing is masked
        self._open: dict[_Key, _Open] = {}

    def of(self, event: Any) -> Iterator[Any]:
        """Yield what can be noted now: ends of texts, and then the event, or a piece of it."""
        if not isinstance(event, PIECES):
            yield from self._ends(event)
            yield event
            return
        key = _key_of(event)
        if isinstance(event, Text | Thought):  # one of them ends the other
            yield from self._close((Thought if key[0] is Text else Text, key[1]))
        if self._stream is None:
            yield event._replace(text=printable(event.text))
            return
        found = self._open.get(key)
        if found is None:
            found = self._open[key] = _Open(event, self._stream())
        said = found.feed(event.text)
        if said:
            yield event._replace(text=said)

    def rest(self) -> Iterator[Any]:
        """Yield what is held back: nothing follows."""
        for key in list(self._open):
            yield from self._close(key)

    def _ends(self, event: Any) -> Iterator[Any]:
        if isinstance(event, _BESIDE):
            return
        if isinstance(event, ToolStarted):
            yield from self._close((Text, event.inside))
            yield from self._close((Thought, event.inside))
        elif isinstance(event, ToolEnded):
            for kind in PIECES:
                yield from self._close((kind, event.call))
        else:
            yield from self.rest()

    def _close(self, key: _Key) -> Iterator[Any]:
        found = self._open.pop(key, None)
        said = "" if found is None else found.close()
        if found is not None and said:
            yield found.event._replace(text=said)


class _Open:
    """A text that goes on."""

    def __init__(self, event: Piece, stream: Any) -> None:
        self.event = event
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, said: str) -> str:
        return self._decoder.decode(self._stream.feed(printable(said).encode()))

    def close(self) -> str:
        return self._decoder.decode(self._stream.close(), final=True)


def _key_of(event: Piece) -> _Key:
    return type(event), event.call if isinstance(event, ToolOutput) else event.inside
