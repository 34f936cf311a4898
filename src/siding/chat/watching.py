"""Look at a conversation's story as it grows.

What wakes a viewer is a byte of the host; one that was not read says the same. A host that is
killed closes its socket. `following` is for those who do nothing else.
"""

import select
from _socket import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from siding.chat.store import Chat
from siding.chat.story import StoryReader, record_in
from siding.ground.process.control.frames import connect_to

_READ = 4096
_LOOKS_S = 0.05  # where there is no host to say that there is more


class Watch:
    """One viewer, who reads from a byte of the story on at which a line begins.

    Its `fileno` is readable when there may be more to read; -1 is no host.
    """

    def __init__(self, chat: Chat, offset: int = 0) -> None:
        self._chat = chat
        self._reader = StoryReader(chat.story, offset)
        self._host: socket | None = None

    def fileno(self) -> int:
        return -1 if self._host is None else self._host.fileno()

    def connect(self) -> None:
        """Connect to the host if there is one, and this is not connected."""
        if self._host is None:
            with suppress(OSError):
                self._host = connect_to(self._chat.socket)
                self._host.setblocking(False)

    def let_go(self) -> None:
        """Give the connection up, so that a process that is forked now does not have it."""
        if self._host is not None:
            self._host.close()
            self._host = None

    @property
    def has_host(self) -> bool:
        """Whether this is connected to one."""
        return self._host is not None

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that were not read yet, each with its newline."""
        self._drain()
        return self._reader.lines()

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield them as records. A line that cannot be read is passed over."""
        return filter(None, map(record_in, self.lines()))

    def wait(self, seconds: float | None = None) -> None:
        """Wait until there may be more to read; no longer than so."""
        if self._host is None:
            select.select([], [], [], _LOOKS_S if seconds is None else min(seconds, _LOOKS_S))
        else:
            select.select([self._host], [], [], seconds)

    def close(self) -> None:
        self.let_go()
        self._reader.close()

    def _drain(self) -> None:
        while self._host is not None:
            try:
                if not self._host.recv(_READ):
                    self.let_go()
            except BlockingIOError:
                return
            except OSError:
                self.let_go()
