"""What works for an agent beside its own words, as its story tells it."""

from typing import Any

from siding.chat.beside import MOST_ENDED, Helper, Helpers, HelperState


def _at(second: int) -> str:
    return f"2026-11-28T10:00:{second:02d}Z"


def _said(event: str, second: int, **more: Any) -> dict[str, Any]:
    return {"event": event, "at": _at(second), **more}


def _told(*lines: dict[str, Any]) -> Helpers:
    helpers = Helpers()
    for each in lines:
        helpers.take(each)
    return helpers


def _found(*lines: dict[str, Any]) -> tuple[Helper, ...]:
    return _told(*lines).found(is_live=True)


TASK = _said(
    "tool-started",
    1,
    call="t1",
    name="Task",
    title="Task Research src/hooks",
    input={"subagent_type": "Explore"},
)
INSIDE = _said("tool-started", 2, call="t2", name="Read", title="hooks.py", inside="t1")


def test_a_call_in_which_something_is_said_or_called_is_a_helper() -> None:
    assert _found(TASK) == ()
    helper = Helper("call:t1", "Explore", "Research src/hooks", _at(1), part="c-t1")
    assert _found(TASK, INSIDE) == (helper,)
    assert _found(TASK, _said("text", 2, text="I look", inside="t1")) == (helper,)
    assert _found(TASK, _said("text", 2, text="I look", inside="other")) == ()
    ended = _said("tool-ended", 9, call="t1")
    assert _found(TASK, INSIDE, ended) == (helper.over(_at(9)),)
    failed = helper.over(_at(9), HelperState.FAILED)
    assert _found(TASK, INSIDE, {**ended, "failed": True}) == (failed,)
    assert _found(TASK, INSIDE, _said("turn-ended", 9, how="stopped")) == (helper.over(_at(9)),)


def test_a_helper_of_a_helper_is_shown_below_the_outermost_call() -> None:
    deep = _said("tool-started", 3, call="t3", name="Grep", title="x", inside="t2")
    deeper = _said("thought", 4, text="hm", inside="t3")
    assert [each.part for each in _found(TASK, INSIDE, deep, deeper)] == ["c-t1"] * 3


def test_what_is_in_the_background_is_listed_until_it_is_not() -> None:
    first = _said("in-background", 1, running=["npm run dev"])
    both = _said("in-background", 5, running=["npm run dev", "tail -f log"])
    found = _found(first, both, _said("in-background", 9, running=["tail -f log"]))
    told = [(each.about, each.started_at, each.ended_at, each.part) for each in found]
    assert told == [("npm run dev", _at(1), _at(9), ""), ("tail -f log", _at(5), "", "")]
    again = _said("in-background", 7, running=["npm run dev"])
    found = _found(first, _said("in-background", 5, running=[]), again)
    assert [each.ended_at for each in found] == [_at(5), ""]
    assert len({each.key for each in found}) == 2
    assert [each.ended_at for each in _found(first, _said("ended", 7))] == [_at(7)]


def test_what_a_killed_host_left_ended_when_the_agent_was_heard_last() -> None:
    """Neither a prompt that is given later nor the next host makes it end anew."""
    helpers = _told(TASK, INSIDE, _said("queued", 20, prompt="p2", text="more"))
    left = helpers.found(is_live=False)
    assert [(each.state, each.ended_at) for each in left] == [(HelperState.DONE, _at(2))]
    helpers.take(_said("hosted", 30))
    assert helpers.found(is_live=True) == left


def test_of_a_long_story_the_newest_are_told() -> None:
    lines = []
    for number in range(MOST_ENDED + 20):
        call = f"n{number}"
        lines.append({**TASK, "call": call})
        lines.append(_said("text", 2, text="x", inside=call))
        lines.append(_said("tool-ended", 3, call=call))
    found = _found(*lines)
    assert len(found) == MOST_ENDED
    assert found[-1].key == f"call:n{MOST_ENDED + 19}"
