"""Follow a conversation's story as it grows: every viewer reads the same file."""

import re
from collections.abc import Iterator

from siding.chat.state import after
from siding.chat.store import Chat
from siding.chat.story import StoryReader, record_in
from siding.chat.talk import Talk
from siding.chat.watching import Watch

_SEQ = re.compile(rb'"seq":([0-9]+)')


def told(chat: Chat) -> Iterator[bytes]:
    """Yield the lines that are there, each with its newline."""
    reader = StoryReader(chat.story)
    try:
        yield from reader.lines()
    finally:
        reader.close()


def followed(chat: Chat) -> Iterator[bytes]:
    """Yield the lines that are there, and each new one, until nobody holds the agent any more."""
    watch, talk = Watch(chat), Talk()
    try:
        while True:
            watch.connect()
            for line in watch.lines():
                talk = after(talk, record_in(line))
                yield line
            if not watch.has_host and not (talk.is_held_by_host and chat.has_host()):
                yield from watch.lines()
                return
            watch.wait()
    finally:
        watch.close()


def number_of(line: bytes) -> int:
    """Return the number of a line."""
    found = _SEQ.search(line)
    return int(found[1]) if found else 0
