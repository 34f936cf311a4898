"""Who undoes a turn that is still being recorded waits for that moment."""

import os
import threading

from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.locks import RECORDS_TURN

from .desk import Desk


def test_an_undo_waits_for_a_turn_that_is_being_recorded_and_for_nothing_else(desk: Desk) -> None:
    desk.sandbox.siding("run", "--", "sh", "-c", "echo a >a.txt")
    lock = FileLock(desk.project.task_layout(desk.task.id).lock)

    def holder(what: str) -> Holder:
        return Holder(pid=os.getpid(), since="now", what=what)

    with lock.acquire(holder=holder("something long")):
        done = desk.sandbox.siding("undo", status=1)
        assert "is busy: `something long`" in done.stderr.decode()
    lock.acquire(holder=holder(f"{RECORDS_TURN} of r1"))
    release = threading.Timer(0.5, lock.release)
    release.start()
    desk.sandbox.siding("undo")
    release.join()
    assert not (desk.root / "a.txt").exists()
