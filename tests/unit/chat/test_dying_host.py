"""A host that was killed has its lock a moment longer: what is asked then is not left to it."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from integration.undo.desk import Desk
from siding.chat import conversations
from siding.chat.store import HOST_WORK
from siding.ground.process.detach import Begun
from siding.ground.storage.locks import FileLock, Holder


class Case:
    """A conversation whose lock is held, and a clock that moves when somebody waits."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project = desk.project
        self.task = desk.task
        self.chat = conversations.begin(self.project, self.task, "claude")
        self.lock = FileLock(self.chat.lock)
        self.begun: list[str] = []
        self.now = 0.0
        self.meanwhile: Callable[[], None] = lambda: None
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self._sleep, time_ns=lambda: 1)
        monkeypatch.setattr(conversations, "time", clock)
        monkeypatch.setattr(conversations, "in_background", self._begin)

    def held(self, what: str) -> None:
        self.lock.acquire(holder=Holder(self.project.app.pid, "", what))

    def ensured(self) -> bool:
        return conversations.ensure_host(self.project, self.task, self.chat)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.meanwhile()

    def _begin(self, _work: object, **_more: Any) -> Begun:
        assert not self.lock.is_held
        self.begun.append("r2")
        return Begun("r2")


@pytest.fixture
def case(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    made = Case(desk, monkeypatch)
    yield made
    made.lock.release()


def test_a_prompt_that_a_dying_host_has_not_taken_gets_another_host(case: Case) -> None:
    case.held(HOST_WORK)
    conversations.give(case.project, case.chat, "go on", by="test")
    case.meanwhile = case.lock.release
    assert case.ensured()
    assert case.begun == ["r2"]


def test_a_host_that_lives_gets_no_other_one(case: Case) -> None:
    case.held(HOST_WORK)
    assert not case.ensured()
    assert case.now == 0, "nothing is asked of it"
    conversations.give(case.project, case.chat, "go on", by="test")
    (asked,) = case.chat.requests.waiting()
    case.meanwhile = lambda: case.chat.requests.done(asked.id, durably=True)
    assert not case.ensured()
    assert not case.chat.requests.waiting()
    conversations.give(case.project, case.chat, "go on", by="test")
    case.meanwhile = lambda: None
    assert not case.ensured(), "it is stopped, and lives"
    assert case.begun == []


def test_nobody_waits_for_a_screen_that_holds_the_conversation(case: Case) -> None:
    case.held("the agent's own screen")
    conversations.give(case.project, case.chat, "go on", by="test")
    assert not case.ensured()
    assert case.now == 0
