"""What an act emits is in the journal first, and then with whoever listens in this process."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.ground.clock import SystemClock
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.event_log import EventLog
from siding.record.place.events import PolicyBlocked, WorkspaceChanged
from siding.record.place.wiring import Heard, Listeners


@pytest.fixture
def listeners() -> Listeners:
    return Listeners()


@pytest.fixture
def log(tmp_path: Path, listeners: Listeners) -> EventLog:
    def redact(record: Any) -> Any:
        return json.loads(json.dumps(record).replace("secret", "[REDACTED]"))

    return EventLog(ProjectLayout(tmp_path), SystemClock(), listeners, redact=redact)


def test_a_listener_finds_the_event_in_the_journal(log: EventLog, listeners: Listeners) -> None:
    found: list[tuple[Heard, list[dict[str, Any]]]] = []
    listeners.subscribe(lambda heard: found.append((heard, log.newest(1))))
    event = PolicyBlocked("t1", ["rule"])
    log.emit(event)
    ((heard, journal),) = found
    assert heard.event is event
    assert [(each["event"], each["task"], each["rules"]) for each in journal] == [
        ("policy.blocked", {"id": "t1"}, ["rule"])
    ]


def test_whoever_unsubscribed_hears_nothing(log: EventLog, listeners: Listeners) -> None:
    heard: list[Heard] = []
    other: list[Heard] = []
    end = listeners.subscribe(heard.append)
    listeners.subscribe(other.append)
    log.emit(PolicyBlocked("t1", []))
    end()
    log.emit(PolicyBlocked("t2", []))
    assert [each.event.task_id for each in heard] == ["t1"]
    assert [each.event.task_id for each in other] == ["t1", "t2"]


def test_the_journal_is_redacted_and_has_every_field(log: EventLog) -> None:
    log.emit(WorkspaceChanged("t1", "create.failed", {"name": "secret"}, error="secret!"))
    (line,) = log.newest(1)
    assert {name: line[name] for name in ("v", "event", "task", "worktree", "error")} == {
        "v": 1,
        "event": "worktree.create.failed",
        "task": {"id": "t1"},
        "worktree": {"name": "[REDACTED]"},
        "error": "[REDACTED]!",
    }
    assert line["at"]
    assert isinstance(line["ts"], float)


def test_one_that_cannot_be_written_is_heard_by_nobody(
    log: EventLog, listeners: Listeners, tmp_path: Path
) -> None:
    heard: list[Heard] = []
    listeners.subscribe(heard.append)
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(Exception, match="events"):
        log.emit(PolicyBlocked("t1", []))
    assert heard == []
