"""Where the steps of a conversation stand between its messages."""

from datetime import UTC, datetime
from typing import Any

import pytest

from siding.agents.transcripts.kinds import Record
from siding.ground.errors import NotFound
from siding.record.ledger.step import step_from
from siding.sessions.steps import LedStep, part_of, with_steps

BEGAN = datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp()


def at(seconds: float) -> str:
    return datetime.fromtimestamp(BEGAN + seconds, UTC).isoformat()


def led(number: int, seconds: float, moment: str, call: str = "") -> LedStep:
    fields = {"origin": "turn", "run": "r1", "moment": moment, "session": "s", "call": call}
    line = {"step_id": f"{number:04d}", "kind": "checkpoint", "started_at": at(seconds), **fields}
    return LedStep(int((BEGAN + seconds) * 1000), "t1", "talked", call, step_from(line))


def asked(seconds: float, text: str) -> Record:
    return {"type": "user", "timestamp": at(seconds), "message": {"content": text}}


def called(seconds: float, call: str) -> Record:
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": call}}
    return {"type": "assistant", "timestamp": at(seconds), "message": {"content": [block]}}


def answered(seconds: float, call: str) -> Record:
    block = {"type": "tool_result", "tool_use_id": call, "content": "done"}
    return {"type": "user", "timestamp": at(seconds), "message": {"content": [block]}}


def shown(records: list[Record], steps: list[LedStep]) -> list[str]:
    return [_word(record) for record in with_steps(records, steps)]


def _word(record: Record) -> str:
    if "content" in record:
        return str(record["content"]).split(" of ")[0]
    content: Any = record["message"]["content"]
    if isinstance(content, str):
        return content
    return str(content[0].get("id") or f"result of {content[0]['tool_use_id']}")


def test_a_call_is_followed_by_its_step_whenever_its_result_was_written() -> None:
    records = [asked(0, "Work"), called(1, "a"), answered(4, "a"), called(5, "b"), answered(6, "b")]
    steps = [led(1, 3, "call", "a"), led(2, 6.1, "call", "b"), led(3, 7, "stopped")]
    assert shown(records, steps) == [
        "Work",
        "a",
        "result of a",
        "step 0001",
        "b",
        "result of b",
        "step 0002",
        "step 0003",
    ]


def test_a_turn_that_told_no_end_stands_before_the_prompt_that_followed() -> None:
    stopped = "[Request interrupted by user]"
    records = [asked(0, "One"), called(1, "a"), asked(8, stopped), asked(9, "Two")]
    steps = [led(1, 9.2, "prompt"), led(2, 12, "stopped")]
    assert shown(records, steps) == ["One", "a", stopped, "step 0001", "Two", "step 0002"]


def test_a_step_of_a_call_whose_result_is_gone_comes_before_the_end_of_its_turn() -> None:
    records = [asked(0, "One"), asked(30, "Two")]
    steps = [led(1, 3, "call", "a"), led(2, 4, "stopped")]
    assert shown(records, steps) == ["One", "step 0001", "step 0002", "Two"]


def test_what_led_to_a_step_begins_behind_the_one_before() -> None:
    records = [asked(0, "One"), asked(10, "Two"), called(11, "a"), asked(30, "Three")]
    steps = [led(1, 3, "stopped"), led(2, 14, "stopped")]
    part = part_of(with_steps(records, steps), 2)
    assert [_word(each) for each in part] == ["Two", "a", "step 0002"]
    with pytest.raises(NotFound):
        part_of(with_steps(records, steps), 3)
