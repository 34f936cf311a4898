"""Let processes go on that an act stopped before it was killed."""

from siding.process.identity import boot_id
from siding.process.pausing.pauser import Mark, let_them_go_on
from siding.runs.paused import PausedFile
from siding.storage.layout import TaskLayout


def let_what_was_left_go_on(layout: TaskLayout) -> int:
    """Let them go on, and return how many there were. The caller holds the task's lock."""
    file = PausedFile(layout)
    left = file.read(boot_id())
    let_them_go_on([Mark(*mark) for mark in left])
    file.remove()
    return len(left)
