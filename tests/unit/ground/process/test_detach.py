"""Work that goes on in the background: what is said of it, and how it ends before it says so."""

import os
import signal

import pytest

from siding.ground.process.detach import Background, in_background


@pytest.mark.parametrize("status", [0, 1, 7])
def test_work_that_ends_first_has_its_status(status: int) -> None:
    assert in_background(lambda _going: status) == status


def test_work_that_is_killed_first_has_failed() -> None:
    def killed(_going: Background) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert in_background(killed) == 1
