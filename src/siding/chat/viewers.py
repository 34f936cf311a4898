"""Whoever is connected to a host: each is sent one byte when the story has grown."""

from _socket import socket
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from siding.ground.process.control.frames import accept_from, listen_at

_READ = 4096
_MOST = 64


class Viewers:
    """The host's side of the socket. Raises OSError if nobody can listen there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listener = listen_at(path)
        self._viewers: dict[int, socket] = {}
        self._has_grown = False

    @property
    def fds(self) -> tuple[int, ...]:
        return (self._listener.fileno(), *self._viewers)

    def serve(self, ready: AbstractSet[int]) -> None:
        """Take note of who comes and of who has gone."""
        for fd in ready & self._viewers.keys():
            try:
                gone = not self._viewers[fd].recv(_READ)
            except BlockingIOError:
                gone = False
            except OSError:
                gone = True
            if gone:
                self._viewers.pop(fd).close()
        if self._listener.fileno() in ready:
            with suppress(OSError):
                viewer = accept_from(self._listener)
                if viewer is not None and len(self._viewers) < _MOST:
                    self._viewers[viewer.fileno()] = viewer

    def grown(self) -> None:
        """Take note that the story has grown; `tell` says so."""
        self._has_grown = True

    def tell(self) -> None:
        if not self._has_grown:
            return
        self._has_grown = False
        for viewer in self._viewers.values():
            with suppress(OSError):
                viewer.send(b".")  # one that has unread ones will look anyway

    def close(self) -> None:
        for viewer in self._viewers.values():
            viewer.close()
        self._path.unlink(missing_ok=True)
        self._listener.close()
