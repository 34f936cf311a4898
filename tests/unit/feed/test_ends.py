"""Ends of processes are told once, however they are found out."""

import os
import select
import signal
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from siding.feed import ends
from siding.feed.ends import Ends, EndsOfProcesses, KqueueEnds, Looks, Pidfds


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["pidfds", "looks"])
def tried(request: pytest.FixtureRequest) -> Iterator[tuple[Ends, Callable[[], set[int]]]]:
    clock = _Clock()
    found: Ends = Pidfds() if request.param == "pidfds" else Looks(clock)

    def take() -> set[int]:
        clock.now += ends.EVERY_S
        return found.ended()

    yield found, take
    found.close()


def test_a_killed_process_is_told_once(tried: tuple[Ends, Callable[[], set[int]]]) -> None:
    found, take = tried
    pid, other = _child(), _child()
    found.follow({pid, other})
    assert take() == set()
    _kill(pid)
    assert take() == {pid}
    assert take() == set()
    found.follow({pid, other})
    assert take() == set(), "it is gone, and that was told"
    found.follow({other})
    _kill(other)
    assert take() == {other}


def test_one_that_has_ended_before_is_told(tried: tuple[Ends, Callable[[], set[int]]]) -> None:
    found, take = tried
    pid = _child()
    _kill(pid)
    found.follow({pid})
    assert (found.due is None) is False
    assert take() == {pid}
    assert (found.due is None) is True
    found.follow(set())
    found.follow({pid})
    assert take() == {pid}, "it was followed anew"


def test_one_that_is_followed_no_more_is_not_told(
    tried: tuple[Ends, Callable[[], set[int]]],
) -> None:
    found, take = tried
    pid = _child()
    found.follow({pid})
    found.follow(set())
    _kill(pid)
    assert take() == set()


def test_a_pidfd_can_be_read_when_a_process_ends() -> None:
    found = Pidfds()
    pid = _child()
    found.follow({pid})
    assert select.select([found.fileno()], [], [], 0)[0] == []
    os.kill(pid, signal.SIGKILL)  # nobody has waited for it: a host can be such a zombie
    assert select.select([found.fileno()], [], [], 30)[0] == [found.fileno()]
    assert found.ended() == {pid}
    os.waitpid(pid, 0)
    found.close()


def test_without_descriptors_processes_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    found = EndsOfProcesses()
    pid = _child()

    def fails(_pid: int) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", fails)
    found.follow({pid})
    assert found.fileno() == -1
    assert found.due is not None
    found.close()
    assert isinstance(ends.open_ends(), KqueueEnds if hasattr(select, "kqueue") else Looks)
    _kill(pid)


def test_kqueue_tells_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[SimpleNamespace] = []

    class Queue:
        def control(
            self, changes: list[SimpleNamespace] | None, most: int, _wait: int = 0
        ) -> object:
            for each in changes or ():
                os.kill(each.ident, 0)  # as kevent: there is no such process
            taken = waiting[:most]
            del waiting[:most]
            return taken

    system = SimpleNamespace(
        kqueue=Queue,
        kevent=lambda ident, *_what: SimpleNamespace(ident=ident),
        KQ_FILTER_PROC=0,
        KQ_EV_ADD=1,
        KQ_EV_ONESHOT=2,
        KQ_NOTE_EXIT=4,
    )
    monkeypatch.setattr(ends, "_system", system)
    found = KqueueEnds()
    gone, pid = _child(), _child()
    _kill(gone)
    found.follow({gone, pid})
    assert found.due is not None
    assert found.ended() == {gone}
    waiting.append(SimpleNamespace(ident=pid))
    assert found.ended() == {pid}
    found.follow({gone, pid})
    assert found.ended() == set()
    _kill(pid)


def _child() -> int:
    pid = os.fork()
    if pid == 0:
        signal.pause()
    return pid


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
