"""Hooks of ours go into a person's settings and out again, and leave everything else."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.claude.settings import SETTINGS as CLAUDE
from siding.agents.codex.settings import SETTINGS as CODEX
from siding.agents.gemini.settings import SETTINGS as GEMINI
from siding.agents.settings import NotMergeable

OURS = "[ ! -f '/opt/siding/ground/process/broker/integrated.py' ] || python3 x.py claude"
FILE = Path("/home/somebody/.codex/config.toml")

_leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
_entry = st.builds(lambda words: {"type": "command", "command": words}, st.text(max_size=9))
_group = st.builds(lambda entries: {"matcher": "*", "hooks": entries}, st.lists(_entry, min_size=1))
_events = st.sampled_from(["SessionStart", "UserPromptSubmit", "Stop", "PreToolUse", "Other"])
_hooks = st.dictionaries(_events, st.lists(_group, min_size=1, max_size=2), min_size=1)
_settings = st.builds(
    lambda rest, hooks: {**rest, **({"hooks": hooks} if hooks else {})},
    st.dictionaries(st.text(max_size=6).filter(lambda name: name != "hooks"), _values, max_size=4),
    st.none() | _hooks,
)
_toml = st.lists(
    st.sampled_from(
        [
            'model = "gpt-5.5"  # mine',
            "# a remark",
            "[tui]\ntheme = 1",
            '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "theirs"',
            "[mcp_servers.x]\ncommand = 'y'",
            "",
        ]
    ),
    unique=True,
).map(lambda parts: sorted(parts, key=lambda part: part.startswith("[")))


@given(_settings, st.sampled_from([None, "  ", "    ", "\t"]), st.booleans())
def test_json_is_as_it_was(settings: dict[str, Any], indent: str | None, ends: bool) -> None:
    text = json.dumps(settings, indent=indent, ensure_ascii=False) + "\n" * ends
    added = CLAUDE.added(text, OURS, FILE)
    assert CLAUDE.commands(added) == {OURS}
    now = json.loads(added)
    assert {name: value for name, value in now.items() if name != "hooks"} == {
        name: value for name, value in settings.items() if name != "hooks"
    }
    for event, groups in settings.get("hooks", {}).items():
        assert now["hooks"][event][: len(groups)] == groups
    removed = CLAUDE.removed(added)
    assert json.loads(removed) == settings
    if len(settings) and (indent is None or "\n" in text.strip()):
        assert removed == text


_GENERAL: tuple[dict[str, Any] | None, ...] = (
    None,
    {},
    {"vimMode": True},
    {"vimMode": True, "sessionRetention": {"enabled": False}},
    {"sessionRetention": {"enabled": False}},
    {"sessionRetention": {"enabled": True, "maxAge": "7d"}},
    {"sessionRetention": None},
)


@given(_settings, st.sampled_from(_GENERAL), st.sampled_from([None, "  ", "\t"]))
def test_gemini_keeps_conversations_unless_the_person_says_how_long(
    settings: dict[str, Any], general: dict[str, Any] | None, indent: str | None
) -> None:
    settings.pop("general", None)
    settings |= {} if general is None else {"general": general}
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    now = json.loads(GEMINI.added(text, OURS, FILE))["general"]
    assert now == {"sessionRetention": {"enabled": False}, **(general or {})}
    assert json.loads(GEMINI.removed(GEMINI.added(text, OURS, FILE))) == settings
    if len(settings) and (indent is None or "\n" in text):
        assert GEMINI.removed(GEMINI.added(text, OURS, FILE)) == text


def test_what_a_person_makes_of_it_later_stays() -> None:
    added = json.loads(GEMINI.added("{}", OURS, FILE))
    added["general"]["sessionRetention"]["maxAge"] = "7d"
    assert json.loads(GEMINI.removed(json.dumps(added))) == {"general": added["general"]}
    added["general"] = {"sessionRetention": {"enabled": False}, "vimMode": True}
    assert json.loads(GEMINI.removed(json.dumps(added))) == {"general": {"vimMode": True}}
    added["general"] = 1
    assert json.loads(GEMINI.removed(json.dumps(added))) == {"general": 1}


@pytest.mark.parametrize("general", ["1", "null", "[]"])
def test_a_section_that_is_none_is_left_alone(general: str) -> None:
    text = f'{{"general": {general}}}'
    assert GEMINI.removed(GEMINI.added(text, OURS, FILE)) == text


@given(_toml, st.sampled_from(["", "\n"]))
def test_toml_is_as_it_was_byte_for_byte(parts: list[str], end: str) -> None:
    text = "\n".join(parts) + end
    added = CODEX.added(text, OURS, FILE)
    assert added.startswith(text)
    assert CODEX.removed(added) == text
    assert CODEX.commands(added) == {OURS}
    hooks = tomllib.loads(added)["hooks"]
    theirs = len(tomllib.loads(text).get("hooks", {}).get("Stop", []))
    assert [group["hooks"][0]["command"] for group in hooks["Stop"]] == ["theirs"] * theirs + [OURS]
    assert f"{FILE}:stop:{theirs}:0" in hooks["state"]


def test_what_a_person_writes_after_our_part_stays() -> None:
    added = CODEX.added("a = 1\n", OURS, FILE) + "[tui]\ntheme = 2\n"
    assert CODEX.removed(added) == "a = 1\n[tui]\ntheme = 2\n"


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": 1}}', "// x\n{}"])
def test_json_that_cannot_be_merged_is_refused(text: str) -> None:
    with pytest.raises(NotMergeable):
        CLAUDE.added(text, OURS, FILE)


@pytest.mark.parametrize("text", ["a = ", "hooks = {}\n", "hooks = 1\n", "[hooks]\nStop = 1\n"])
def test_toml_that_cannot_be_merged_is_refused(text: str) -> None:
    with pytest.raises(NotMergeable):
        CODEX.added(text, OURS, FILE)


def test_our_part_without_its_end_is_not_guessed() -> None:
    added = CODEX.added("", OURS, FILE).replace("# siding integrate: end\n", "")
    with pytest.raises(NotMergeable, match="by hand"):
        CODEX.removed(added)


def test_a_hook_may_take_seconds_in_the_unit_of_its_agent() -> None:
    for agent, unit in ((CLAUDE, 1), (GEMINI, 1000)):
        hooks = json.loads(agent.added("", OURS, FILE))["hooks"]
        (session,) = hooks["SessionStart"][0]["hooks"]
        assert session["timeout"] == 30 * unit
        assert "Notification" not in hooks  # whom it waits for matters in a run alone
