"""Work that goes on in the background: what is said of it, and how it ends before it says so."""

import os
import signal

import pytest

from siding.ground.process.detach import Background, Begun, in_background


@pytest.mark.parametrize("status", [0, 1, 7])
def test_work_that_ends_first_has_its_status(status: int) -> None:
    assert in_background(lambda _going: status) == status


def test_work_apart_is_nobodys_child_and_in_a_session_of_its_own() -> None:
    def told(going: Background) -> int:
        going.begin(f"{os.getppid()} {os.getsid(0)}")
        return 0

    before = os.getsid(0)
    begun = in_background(told, apart=True)
    assert isinstance(begun, Begun)
    parent, session = map(int, begun.said.split())
    assert parent != os.getpid()
    assert session != before
    assert in_background(lambda _going: 0, apart=True) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_work_that_is_killed_first_has_failed() -> None:
    def killed(_going: Background) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert in_background(killed) == 1
