"""The panel's state: the measured cases, and laws over any keys."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.loop.effort import (
    EffortChoice,
    EffortFrom,
    EffortMistake,
    change_effort,
    effort_named,
)
from siding.faces.tui.effort.model import (
    POSITIONS,
    USUAL,
    Left,
    Outcome,
    Panel,
    Position,
    left,
    level_of,
    opened,
    press,
    right,
)
from unit.statusline.test_document import CASES

_OUTCOMES = {"apply": Outcome.APPLY, "ultracode-hint": Outcome.ULTRA}


def _position(word: str) -> Position:
    return Position.ULTRA if word == "ultracode" else Position(word)


def _cases(group: str) -> list[dict[str, Any]]:
    """Return the cases about positions that there are: the other program takes any text."""
    return [each for each in CASES[group] if each["args"] != ["bogus"]]


@pytest.mark.parametrize("case", _cases("effort.panel_left"), ids=str)
def test_measured_left(case: dict[str, Any]) -> None:
    assert left(_position(*case["args"])) is _position(case["result"])


@pytest.mark.parametrize("case", _cases("effort.panel_right"), ids=str)
def test_measured_right(case: dict[str, Any]) -> None:
    assert right(_position(*case["args"])) is _position(case["result"])


@pytest.mark.parametrize("case", CASES["effort.panel_start"], ids=str)
def test_measured_start(case: dict[str, Any]) -> None:
    (said,) = case["args"]
    override = "" if said["envOverride"] is None else str(said["envOverride"])
    assert opened(said["displayed"], override=override).cursor is Position(case["result"])


@pytest.mark.parametrize("case", CASES["effort.panel_confirm"], ids=str)
def test_measured_confirm(case: dict[str, Any]) -> None:
    at = _position(*case["args"])
    found = press(Panel(cursor=at), "enter")
    assert found == Left(_OUTCOMES[case["result"]["kind"]], at)


@pytest.mark.parametrize("case", CASES["effort.to_level"], ids=str)
def test_measured_levels(case: dict[str, Any]) -> None:
    """What is no level is shown as the usual one."""
    assert (level_of(str(case["args"][0])) or USUAL) is Position(case["result"])


# What is no effort is an error here, and a number is kept as a level is: decided so for the agent.
REFUSED = ("", "50.7", -1, True)
KEPT = {50: 50}


@pytest.mark.parametrize("case", CASES["effort.parse_value"], ids=str)
def test_measured_values(case: dict[str, Any]) -> None:
    (said,) = case["args"]
    if said in REFUSED:
        with pytest.raises(EffortMistake):
            effort_named(str(said))
    else:
        assert effort_named(str(said)) == case["result"]


@pytest.mark.parametrize("case", CASES["effort.persistable"], ids=str)
def test_measured_kept_efforts(case: dict[str, Any]) -> None:
    (said,) = case["args"]
    now = EffortChoice(None, EffortFrom.MODEL)
    assert change_effort(str(said), now).settings == KEPT.get(said, case["result"])


def test_a_word_is_a_level_in_either_case_and_ultra_is_none() -> None:
    assert level_of(" XHigh ") is Position.XHIGH
    assert level_of("ultra") is None
    assert level_of("") is None


def test_what_the_variable_says_is_active() -> None:
    panel = opened("low", variable="EFFORT", override="high")
    assert (panel.cursor, panel.active, panel.override) == (Position.HIGH, Position.HIGH, "high")
    assert opened("low", override="12").active is Position.LOW


def test_without_efforts_it_can_only_be_left() -> None:
    panel = Panel(refusal="it has none")
    for key in ("left", "right", "home", "end", "enter", "h", "l", "x"):
        assert press(panel, key) == panel
    for key in ("escape", "q", "ctrl+c"):
        assert press(panel, key) == Left(Outcome.CANCEL, USUAL)


_KEYS = st.sampled_from("left right up down h l j k home end x enter escape q ctrl+c".split())


@given(st.sampled_from(POSITIONS), st.lists(_KEYS, max_size=30))
def test_laws(start: Position, keys: list[str]) -> None:
    """The cursor stays among the positions, moves by one, and only enter takes anything."""
    panel = Panel(cursor=start, active=Position.LOW)
    for key in keys:
        after = press(panel, key)
        if isinstance(after, Left):
            assert after.position is panel.cursor
            assert (after.outcome is Outcome.CANCEL) == (key != "enter")
            assert (after.outcome is Outcome.ULTRA) == (
                key == "enter" and panel.cursor is Position.ULTRA
            )
            return
        step = POSITIONS.index(after.cursor) - POSITIONS.index(panel.cursor)
        assert abs(step) <= 1 or key in ("home", "end")
        assert after._replace(cursor=panel.cursor) == panel
        panel = after


def test_the_cases_are_there() -> None:
    path = Path(__file__).parents[3] / "statusline" / "cases.json"
    assert sum(map(len, json.loads(path.read_text("utf-8")).values())) == 51
