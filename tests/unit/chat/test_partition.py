"""A story as parts: what a screen shows of it, however often it looks."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from siding.chat import partition as of_partition
from siding.chat.partition import Partition
from siding.chat.parts import (
    Call,
    CallState,
    Given,
    Notice,
    Plan,
    Shift,
    Speech,
    Thinking,
    all_of,
)
from siding.chat.prompts import Fate

_BEGUN = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


def story(*events: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return events as lines, 100 ms apart."""
    return [
        {"seq": n, "at": (_BEGUN + timedelta(milliseconds=100 * n)).isoformat(), **each}
        for n, each in enumerate(events, start=1)
    ]


def said(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": event, **fields}


EDIT = {"path": "a.py", "old": "one\n", "new": "two\nthree\n"}
DAY = story(
    said("queued", prompt="p1", text="fix it", by="desk"),
    said("sending", prompt="p1"),
    said("turn-started", prompt="p1"),
    said("prompt-taken", prompt="p1"),
    said("thought", text="it "),
    said("thought", text="is\nhard"),
    said("text", text="\nI "),
    said("text", text="see."),
    said("tool-started", call="1", name="Bash", title="make", kind="execute"),
    said("asked", ask="a1", call="1", title="make", command="make"),
    said("answered", ask="a1", allows=True, by="terminal"),
    said("tool-output", call="1", text="one\n"),
    said("tool-ended", call="1", text="one\ntwo\n"),
    said("tool-started", call="2", name="Edit", title="Edit a.py", kind="edit", edits=[EDIT]),
    said("tool-ended", call="2"),
    said("planned", steps=[{"text": "first", "status": "pending"}]),
    said("text", text="And "),
    said("planned", steps=[{"text": "first", "status": "completed"}]),
    said("tool-started", call="3", name="Task", title="look around", kind="other"),
    said("text", text="inside", inside="3"),
    said("tool-started", call="4", name="Read", title="Read b.py", kind="read", inside="3"),
    said("tool-ended", call="4", text="x"),
    said("queued", prompt="p2", text="and that", files=["f.png"], steers=True),
    said("sending", prompt="p2", steers=True),
    said("requeued", prompt="p2"),
    said("used", input=1200, output=40, context=5000, window=10000),
    said("turn-ended", how="stopped", reason="you said so"),
    said("recorded", step=3),
    said("sending", prompt="p2"),
    said("unsure", prompt="p2"),
    said("ended", exit_code=1),
)


def test_the_parts_of_a_day() -> None:
    partition = Partition()
    for line in DAY:
        partition.take(line)
    parts = all_of(partition.shifts())
    first, thought, words, make, ask, edit = [*parts.values()][:6]
    assert isinstance(make, Call)
    assert isinstance(ask, Notice)
    assert isinstance(edit, Call)
    assert first == Given("fix it", "desk", fate=Fate.TAKEN)
    assert thought == Thinking("it is\nhard")
    assert words == Speech("I see.")
    assert (make.name, make.about, make.state, make.result) == ("Run", "make", "good", "two")
    assert (make.output, make.took_ms) == (("one", "two"), 300)  # not what a person took
    assert [line.said for line in ask.lines] == ["? may it do that?", "  allowed by terminal"]
    assert (edit.about, edit.result, edit.is_patch) == ("a.py", "+2 -1", True)
    assert [line for line in edit.output if line[:1] in "+-"] == ["-one", "+two", "+three"]
    (plan,) = (each for each in parts.values() if isinstance(each, Plan))
    assert [step.said for step in plan.steps] == ["[x] first"]
    (helper,) = (part for part in parts.values() if isinstance(part, Call) and part.name == "Task")
    assert helper.state is CallState.FAILED, "its turn is over, and it has not ended"
    assert helper.output == ("inside", "· Read b.py")
    assert parts["p-p2"] == Given("and that", pictures=1, fate=Fate.UNSURE)
    assert [*parts].index("p-p2") > [*parts].index("n-27"), "it is where it was sent last"
    notes = [
        line.said for part in parts.values() if isinstance(part, Notice) for line in part.lines
    ]
    assert "the turn was stopped: you said so" in notes
    assert "2.5 s · first word after 0.3 s · 18 tokens/s · 1.2k in · 40 out · context 50 %" in notes
    assert "recorded as step 3" in notes
    assert notes[-1] == "the agent has ended (exit status 1)"


def test_whoever_looks_often_sees_the_same_as_who_looks_once() -> None:
    once = Partition()
    for line in DAY:
        once.take(line)
    wanted = all_of(once.shifts())
    chance = random.Random(5)
    for _time in range(200):
        partition, seen = Partition(), list[Shift]()
        for line in DAY:
            partition.take(line)
            if chance.random() < 0.4:
                seen += partition.shifts()
        found = all_of([*seen, *partition.shifts()])
        assert found == wanted
        assert [*found] == [*wanted]


def test_of_a_long_story_the_newest_parts_are_all_of(monkeypatch: Any) -> None:
    monkeypatch.setattr(of_partition, "MOST", 10)
    partition = Partition()
    for line in story(*(said("recorded", step=n) for n in range(25))):
        partition.take(line)
    parts = all_of(partition.shifts())
    assert (len(parts), partition.left_out) == (10, 15)
    last = [*parts.values()][-1]
    assert isinstance(last, Notice)
    assert last.lines[0].said == "recorded as step 24"
