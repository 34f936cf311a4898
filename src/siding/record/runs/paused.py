"""The processes that an act has stopped: ``runs/paused``, one line of JSON each.

A line is written before its process is stopped, and the file is removed when all go on. So if the
act's process is killed, the next command in the task knows which ones have to go on, and lets them.
The holder of the task's lock writes it. It is not flushed: after a power cut none of the processes
is there.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import write_all
from siding.ground.files.regular import read_small
from siding.ground.process.identity import boot_id
from siding.ground.storage.codec import NotJson, encode_line, parse_object
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.runs.file_names import PAUSED
from siding.record.runs.run import ProcessMark
from siding.record.runs.small_files import open_anew, remove_small

_VERSION = 1
_LARGEST = 1 << 20  # some ten thousand processes


class PausedFile:
    """The file of one task."""

    def __init__(self, layout: TaskLayout) -> None:
        self._path: Path = layout.runs_dir / PAUSED
        self._fd: int | None = None

    def begin(self, boot: str) -> None:
        """Begin the file; `boot` tells this start of the machine from others."""
        self.remove()
        self._fd = open_anew(self._path)
        self._write(encode_line({"version": _VERSION, "boot": boot}))

    def note(self, pid: int, started: int) -> None:
        """Write down a process that is going to be stopped."""
        self._write(encode_line(ProcessMark(pid, started)._asdict()))

    def remove(self) -> None:
        """Remove the file: everything goes on."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)
        with suppress(OSError):
            remove_small(self._path)

    def is_there(self) -> bool:
        return os.path.lexists(self._path)

    def read(self, boot: str) -> list[ProcessMark]:
        """Return the processes in the order in which they were stopped.

        Those of another start of the machine are not returned. A line that was cut off belongs to a
        process that was not stopped yet.
        """
        lines = (read_small(self._path, _LARGEST) or b"").split(b"\n")[:-1]
        records = []
        for line in lines:
            with suppress(NotJson):
                records.append(parse_object(line))
        if not records or records[0].get("boot") != boot:
            return []
        marks = map(ProcessMark.from_record, records[1:])
        return [mark for mark in marks if mark.pid > 0]

    def _write(self, line: bytes) -> None:
        assert self._fd is not None
        write_all(self._fd, line + b"\n")


def let_what_was_left_go_on(layout: TaskLayout) -> int:
    """Let them go on, and return how many there were. The caller holds the task's lock."""
    from siding.ground.process.pauser import Mark, let_them_go_on

    file = PausedFile(layout)
    left = file.read(boot_id())
    let_them_go_on([Mark(*mark) for mark in left])
    file.remove()
    return len(left)


class PauseOfTask:
    """The pause of a task's runs, as the host of one of them sees it.

    `first` is what has to be done before processes that were left paused go on.
    """

    def __init__(self, layout: TaskLayout, first: Callable[[], None]) -> None:
        self._layout = layout
        self._first = first

    def is_there(self) -> bool:
        """Tell whether an act has stopped the processes of the task's runs."""
        return PausedFile(self._layout).is_there()

    def end_if_left_behind(self) -> None:
        """Let the processes go on if nobody holds the task: the act that stopped them was killed.

        If the disk fails, the next command in the task does it.
        """
        with suppress(OSError, LockBusy):
            lock = FileLock(self._layout.lock).acquire(timeout_s=0)
            try:
                self._first()
                let_what_was_left_go_on(self._layout)
            finally:
                lock.release()
