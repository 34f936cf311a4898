"""Follow a conversation's story as it grows: every viewer reads the same file."""

import re
import select
from _socket import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from siding.chat.state import after
from siding.chat.store import Chat
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.ground.process.control.frames import connect_to
from siding.ground.storage.codec import NotJson, parse_object

_READ = 4096
_LOOKS_EVERY_S = 1.0  # while no host is there to say that the story has grown
_SEQ = re.compile(rb'"seq":([0-9]+)')


def told(chat: Chat) -> Iterator[bytes]:
    """Yield the lines that are there, each with its newline."""
    reader = StoryReader(chat.story)
    try:
        yield from reader.lines()
    finally:
        reader.close()


def followed(chat: Chat) -> Iterator[bytes]:
    """Yield the lines that are there, and each new one, until nobody holds the agent any more.

    What wakes it is a byte of the host; one that was not read says the same. A host that is killed
    closes its socket.
    """
    reader = StoryReader(chat.story)
    host: socket | None = None
    talk = Talk()
    try:
        while True:
            if host is None:
                with suppress(OSError):
                    host = connect_to(chat.socket)
                    host.setblocking(False)
            for line in reader.lines():
                talk = after(talk, record_in(line))
                yield line
            if host is None:
                if not talk.is_held_by_host or not chat.has_host():
                    yield from reader.lines()
                    return
                select.select([], [], [], _LOOKS_EVERY_S)
                continue
            select.select([host], [], [])
            try:
                gone = not host.recv(_READ)
            except BlockingIOError:
                gone = False
            except OSError:
                gone = True
            if gone:
                host.close()
                host = None
    finally:
        reader.close()
        if host is not None:
            host.close()


def record_in(line: bytes) -> Mapping[str, Any]:
    """Return a line as its record; an empty one if it cannot be read."""
    try:
        return parse_object(line)
    except NotJson:
        return {}


def number_of(line: bytes) -> int:
    """Return the number of a line."""
    found = _SEQ.search(line)
    return int(found[1]) if found else 0
