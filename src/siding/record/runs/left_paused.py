"""Let processes go on that an act stopped before it was killed."""

from collections.abc import Callable
from contextlib import suppress

from siding.ground.process.identity import boot_id
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.runs.paused import PausedFile


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
