"""The effort: what is one, who goes before whom, and what is kept."""

import pytest

from siding.assistant.loop.effort import (
    EffortChoice,
    EffortFrom,
    EffortMistake,
    change_effort,
    effort_in_force,
    effort_named,
    told_effort,
)
from siding.assistant.loop.model import Effort

LEFT = EffortChoice(None, EffortFrom.MODEL)
BY_FLAG = EffortChoice(Effort.LOW, EffortFrom.FLAG)
BY_VARIABLE = EffortChoice(Effort.LOW, EffortFrom.ENVIRONMENT)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *((level.value, level) for level in Effort),
        (" HIGH ", Effort.HIGH),
        ("auto", None),
        ("Unset", None),
        ("4096", 4096),
        ("1", 1),
    ],
)
def test_levels_numbers_and_auto_are_efforts(text: str, found: Effort | int | None) -> None:
    assert effort_named(text) == found


@pytest.mark.parametrize(
    "text", ["", "hi", "12abc", "50.7", "-1", "0", "99999999", "ultracode", "٣"]
)
def test_anything_else_is_told_what_there_is(text: str) -> None:
    with pytest.raises(EffortMistake) as caught:
        effort_named(text)
    assert caught.value.hint is not None
    assert all(level in caught.value.hint for level in (*Effort, "auto"))


def test_a_flag_goes_before_the_environment_the_session_the_settings_and_the_model() -> None:
    found = [
        effort_in_force(flag="low", variable="medium", session=Effort.HIGH, settings=Effort.XHIGH),
        effort_in_force(variable="medium", session=Effort.HIGH, settings=Effort.XHIGH),
        effort_in_force(session=Effort.HIGH, settings=Effort.XHIGH),
        effort_in_force(settings=Effort.XHIGH),
        effort_in_force(),
    ]
    assert [each.effort for each in found] == ["low", "medium", "high", "xhigh", None]
    assert [each.by for each in found] == list(EffortFrom)


def test_auto_leaves_it_to_the_model_and_an_empty_variable_is_none() -> None:
    assert effort_in_force(variable="auto", settings=Effort.LOW).effort is None
    assert effort_in_force(variable="", settings=Effort.LOW).effort is Effort.LOW
    with pytest.raises(EffortMistake, match="SIDING_AGENT_EFFORT: 'much'"):
        effort_in_force(variable="much")


def test_what_is_in_force_is_told_with_who_asks_for_it() -> None:
    assert told_effort(LEFT) == "The effort is auto (as the model is used to)."
    told = told_effort(EffortChoice(4096, EffortFrom.ENVIRONMENT))
    assert told == "The effort is 4,096 tokens, by SIDING_AGENT_EFFORT."


@pytest.mark.parametrize(
    ("wanted", "now", "session", "settings", "clears", "says"),
    [
        ("high", LEFT, Effort.HIGH, Effort.HIGH, False, "also in later sessions"),
        ("2000", LEFT, 2000, 2000, False, "2,000 tokens"),
        ("max", LEFT, Effort.MAX, None, False, "not kept"),
        ("auto", LEFT, None, None, True, "left to the model"),
        ("high", BY_VARIABLE, "high", "high", False, "SIDING_AGENT_EFFORT asks"),
        ("low", BY_VARIABLE, "low", "low", False, "also in later"),
        ("max", BY_FLAG, None, None, False, "Not changed: --effort asks for low"),
        ("auto", BY_FLAG, None, None, True, "but --effort asks for low"),
    ],
)
def test_a_wish_is_kept_for_later_but_max_is_not(
    wanted: str, now: EffortChoice, session: object, settings: object, clears: bool, says: str
) -> None:
    change = change_effort(wanted, now)
    assert (change.session, change.settings, change.clears) == (session, settings, clears)
    assert says in change.message
