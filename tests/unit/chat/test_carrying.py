"""What of an agent's settings goes along to the next agent."""

import itertools

import pytest

from siding.agents.talking.port import TALKING, Meaning
from siding.chat.carrying import carried
from siding.chat.talk import Talk

_ORDER = list(Meaning)  # the one that asks most first


@pytest.mark.parametrize(
    ("before", "mode", "after", "along"),
    [
        ("claude", "plan", "codex", "plan"),
        ("claude", "default", "codex", "untrusted"),
        ("codex", "read-only", "claude", "default"),
        ("claude", "acceptEdits", "gemini", "autoEdit"),
        ("gemini", "autoEdit", "qwen", "auto-edit"),
        ("claude", "acceptEdits", "opencode", "build"),  # which asks
        ("claude", "bypassPermissions", "codex", ""),
        ("codex", "auto", "claude", ""),
        ("codex", "", "claude", ""),
    ],
)
def test_a_mode_goes_along_by_its_meaning(before: str, mode: str, after: str, along: str) -> None:
    found = carried(Talk(agent=before, mode=mode), after)
    assert found.mode == along
    is_same = bool(along) and along != "build"
    assert bool(found.left) is (bool(mode) and not is_same)


def test_no_agent_begins_in_a_mode_that_asks_less() -> None:
    for before, after in itertools.permutations(TALKING.agents, 2):
        one, other = TALKING.of(before), TALKING.of(after)
        assert one is not None
        assert other is not None
        for mode, meaning in one.means.items():
            found = carried(Talk(agent=before, mode=mode), after)
            its = other.means[found.mode]
            assert _ORDER.index(its) <= _ORDER.index(meaning)
            assert bool(found.left) is (its is not meaning)


@pytest.mark.parametrize(
    ("effort", "after", "along"),
    [("high", "codex", "high"), ("max", "codex", ""), ("high", "gemini", ""), ("", "codex", "")],
)
def test_an_effort_goes_along_where_it_is_the_same(effort: str, after: str, along: str) -> None:
    found = carried(Talk(agent="claude", mode="plan", effort=effort), after)
    assert found.effort == along
    assert bool(found.left) is (effort != along)
