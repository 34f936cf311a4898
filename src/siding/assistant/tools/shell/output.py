"""Keeping what a command prints: the beginning and the end in memory, all of it in a file."""

import os
from contextlib import suppress
from pathlib import Path

_MOST_IN_MEMORY = 1 << 20  # bytes; what is more goes to the file from there on
_MOST_STORED = 256 << 20  # bytes of a file
_TAIL = 1 << 18


class OutputKeeper:
    """The output of one stream. It is in memory until it is too large, then also in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._head = bytearray()
        self._tail = bytearray()
        self._file: int | None = None
        self._failed = self._is_stored = self._is_closed = False
        self._has_gap = False  # between the beginning and the end that are in memory
        self.size = 0
        self._shown = 0  # how much `fresh` has returned

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        self.size += len(data)
        if self.size <= _MOST_IN_MEMORY:
            self._head += data
            if self._is_stored:
                self._store(data)
            return
        if not self._is_stored:
            self._store(bytes(self._head))
        self._tail += data
        if len(self._tail) > 2 * _TAIL:
            del self._tail[:-_TAIL]
            self._has_gap = True
        self._store(data)

    def text(self, most: int) -> str:
        """Return the output; of more than `most` characters the beginning and the end."""
        whole = _decoded(bytes(self._head + self._tail))
        if self.size <= _MOST_IN_MEMORY and len(whole) <= most:
            return whole
        half = most // 2
        end = whole[-half:]
        left_out = (
            "" if self.size > _MOST_IN_MEMORY else f"{len(whole) - 2 * half:,} characters of "
        )
        where = self.keep()
        told = f" All of it is in {where}: look there with Read or Grep." if where else ""
        return f"{whole[:half]}\n\n[… {left_out}the output is left out here.{told}]\n\n{end}"

    @property
    def has_news(self) -> bool:
        """Tell whether there is output that `fresh` has not returned."""
        return self.size > self._shown

    def fresh(self, most: int) -> str:
        """Return what was printed since the last call, its end if it is more than `most`."""
        new = self.size - self._shown
        self._shown = self.size
        if not new:
            return ""
        text = _decoded(bytes((self._head + self._tail)[-new:]))
        if len(text) <= most and not (self._has_gap and new > len(self._tail)):
            return text
        where = self.keep()
        return f"[… only the end is shown. All of it is in {where}.]\n{text[-most:]}"

    def keep(self) -> Path | None:
        """Store all of the output; return where, None if that failed."""
        if not self._is_stored:
            self._store(bytes(self._head))
            if self._is_closed:
                self.close()
        return self.path

    @property
    def path(self) -> Path | None:
        """Where all of the output is; None if it was not stored."""
        return self._path if self._is_stored and not self._failed else None

    def close(self) -> None:
        """Close the file: no more output comes."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._is_closed = True

    def _store(self, data: bytes) -> None:
        if self._failed:
            return
        try:
            if self._file is None:
                self._is_stored = True
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
                self._file = os.open(self._path, flags, 0o600)
            if os.lseek(self._file, 0, os.SEEK_CUR) < _MOST_STORED:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._file, view) :]
        except OSError:  # no space: the command goes on, and its end is still shown
            self._failed = True
            if self._file is not None:
                with suppress(OSError):
                    os.close(self._file)
                self._file = None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
