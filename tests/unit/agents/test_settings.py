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
from siding.agents.settings import NotMergeable, OwnSettings

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


_SPACES = st.sampled_from(["", "", " ", "\n", "\n  ", "\n\t", "  \n\n ", "\r\n    "])
_REMARKS = st.sampled_from(["", "", "", ' // it\'s "mine" {,\n', "/* a, [b] */"])


@st.composite
def _laid(draw: st.DrawFn, value: Any, between: st.SearchStrategy[str]) -> str:
    """Return JSON with anything between its tokens that may be there."""
    if isinstance(value, dict | list):
        parts = []
        for each in value:
            name = ""
            if isinstance(value, dict):
                name = json.dumps(each, ensure_ascii=draw(st.booleans())) + draw(between) + ":"
            inner = draw(_laid(value[each] if isinstance(value, dict) else each, between))
            parts.append(draw(between) + name + draw(between) + inner + draw(between))
        inside = ",".join(parts) if parts else draw(between)
        return f"{{{inside}}}" if isinstance(value, dict) else f"[{inside}]"
    return json.dumps(value)


@st.composite
def _documents(draw: st.DrawFn, *, remarks: bool) -> tuple[str, dict[str, Any]]:
    """Return settings as somebody may have written them, and what they say."""
    says = draw(_settings)
    if draw(st.booleans()):
        says["hooks"] = draw(st.dictionaries(_events, st.lists(_group, max_size=2), max_size=3))
    between = st.builds(str.__add__, _SPACES, _REMARKS) if remarks else _SPACES
    text = draw(_laid(says, between))
    before = draw(st.sampled_from(["", "\ufeff"])) + draw(between)
    return before + text + draw(between), says


def _expected(says: dict[str, Any], added: dict[str, Any]) -> None:
    """All that was there is there, in its order; ours came behind it."""
    assert list(added)[: len(says)] == list(says)
    for name in says.keys() - {"hooks"}:
        assert added[name] == says[name]
    for event, groups in says.get("hooks", {}).items():
        assert added["hooks"][event][: len(groups)] == groups
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "StopFailure"):
        (entry,) = added["hooks"][event][-1]["hooks"]
        assert entry["command"] == OURS


@given(_documents(remarks=False))
def test_json_is_as_it_was_byte_for_byte(document: tuple[str, dict[str, Any]]) -> None:
    text, says = document
    added = CLAUDE.added(text, OURS, FILE)
    assert CLAUDE.commands(added) == {OURS}
    _expected(says, json.loads(added.removeprefix("\ufeff")))
    assert CLAUDE.removed(added) == text
    assert CLAUDE.removed(text) == text


@given(_documents(remarks=True))
def test_json_with_remarks_is_as_it_was_byte_for_byte(
    document: tuple[str, dict[str, Any]],
) -> None:
    text, says = document
    added = GEMINI.added(text, OURS, FILE)
    assert GEMINI.commands(added) == {OURS}
    before = dict(GEMINI.parsed(added))
    assert before.pop("hooks")["SessionStart"][-1]["hooks"][0]["command"] == OURS
    assert {name: before[name] for name in says.keys() - {"hooks", "general"}} == {
        name: value for name, value in says.items() if name not in ("hooks", "general")
    }
    assert GEMINI.removed(added) == text


@given(_documents(remarks=False), st.sampled_from([None, 2, "\t"]), st.booleans())
def test_what_was_laid_out_anew_says_what_it_said(
    document: tuple[str, dict[str, Any]], indent: int | str | None, tight: bool
) -> None:
    _, says = document
    separators = (",", ":") if tight else None
    added = json.loads(CLAUDE.added(json.dumps(says), OURS, FILE))
    again = json.dumps(added, indent=indent, separators=separators)
    removed = CLAUDE.removed(again)
    assert removed is not None
    assert not CLAUDE.commands(removed)
    # Empty lists of hooks cannot be told from what was put in, and go as well.
    kept = {event: groups for event, groups in says.get("hooks", {}).items() if groups}
    now = json.loads(removed)
    assert {event: groups for event, groups in now.get("hooks", {}).items() if groups} == kept
    assert {**now, "hooks": 0} == {**says, "hooks": 0}


@pytest.mark.parametrize("before", [None, "", "\n", "{}", "{}\n", '{"hooks": {}}', "{ }"])
@pytest.mark.parametrize("agent", [CLAUDE, GEMINI, CODEX], ids=["claude", "gemini", "codex"])
def test_nothing_is_nothing_again(agent: OwnSettings, before: str | None) -> None:
    if agent is CODEX and before and "{" in before:
        before = before.replace("{", "# {")
    added = agent.added(before, OURS, FILE)
    assert agent.removed(added) == before
    assert agent.removed(before) == before


def test_what_a_person_writes_meanwhile_stays() -> None:
    """Before ours, behind it, into our objects, and remarks beside it."""
    text = '{\n  "model": "opus" // the good one\n}\n'
    added = GEMINI.added(text, OURS, FILE)
    edited = added.replace('"model"', '"a": [1,2], // first\n  "model"', 1)
    edited = edited.replace(" // the good one\n}", ', // last\n  "z":1\n}')
    assert GEMINI.parsed(edited)["z"] == 1
    assert GEMINI.removed(edited) == (
        '{\n  "a": [1,2], // first\n  "model": "opus", // last\n  "z":1\n}\n'
    )
    mine = '"Mine": [{"hooks": [{"type": "command", "command": "x"}]}],\n    "SessionStart"'
    edited = added.replace('"SessionStart"', mine, 1)
    removed = GEMINI.removed(edited)
    assert removed is not None
    assert list(GEMINI.parsed(removed)["hooks"]) == ["Mine"]
    remark = added.replace(',\n  "hooks"', ', /* hooks: */\n  "hooks"', 1)
    assert "/* hooks: */" in str(GEMINI.removed(remark))
    assert GEMINI.parsed(str(GEMINI.removed(remark))) == {"model": "opus"}


def test_what_goes_in_is_laid_out_like_the_rest() -> None:
    added = CLAUDE.added('{\r\n\t"a": 1,\r\n\t"hooks": {}\r\n}', OURS, FILE)
    assert added.count("\n") == added.count("\r\n") > 20
    assert '\r\n\t\t"Stop": [\r\n\t\t\t{' in added
    assert "\n" not in CLAUDE.added('{"a":1}', OURS, FILE)


def test_a_name_that_is_there_twice_loses_nothing() -> None:
    text = '{"hooks": {"Stop": []}, "x": 1, "hooks": {"Stop": [], "Stop": []}, "x": 2}'
    added = CLAUDE.added(text, OURS, FILE)
    assert CLAUDE.removed(added) == text
    assert CLAUDE.removed('{"hooks": {"Stop": [' + "1, " * 3 + "2]}}") is not None


def test_an_earlier_layout_is_found_too() -> None:
    """Settings that were dumped whole, as Siding did before it edited them in place."""
    whole = json.loads(CLAUDE.added('{"a": 1}', OURS, FILE))
    for indent in (None, 2, "\t"):
        assert json.loads(str(CLAUDE.removed(json.dumps(whole, indent=indent)))) == {"a": 1}


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
    assert GEMINI.removed(GEMINI.added(text, OURS, FILE)) == text


def test_what_a_person_makes_of_the_setting_later_stays() -> None:
    added = json.loads(GEMINI.added("{}", OURS, FILE))
    added["general"]["sessionRetention"]["maxAge"] = "7d"
    assert _removed(added) == {"general": added["general"]}
    added["general"] = {"sessionRetention": {"enabled": False}, "vimMode": True}
    assert _removed(added) == {"general": {"vimMode": True}}
    added["general"] = 1
    assert _removed(added) == {"general": 1}


def _removed(settings: dict[str, Any]) -> Any:
    return json.loads(str(GEMINI.removed(json.dumps(settings))))


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


_DEEP = '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": 1}}', "// x\n{}", '{"a": 1,}', _DEEP],
    ids=range(7),
)
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
