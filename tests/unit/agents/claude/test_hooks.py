"""How Claude Code is told to report: its flags, merged with what the person gave."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.claude.hooks import ADAPTER
from siding.agents.hooks import Moment, Reach

REACH = Reach(program=("/a python", "hook.py", "claude"), read=lambda name: Path(name).read_text())
JUDGES = REACH._replace(judges=True)
REQUIRES = REACH._replace(judges=True, requires=True)


def settings_of(argv: tuple[str, ...]) -> dict[str, Any]:
    assert argv.count("--settings") == 1
    found = json.loads(argv[argv.index("--settings") + 1])
    assert isinstance(found, dict)
    return found


WORDS = st.lists(
    st.text(min_size=1, max_size=8).filter(lambda w: not w.startswith("-")), max_size=4
)


@given(words=WORDS)
def test_the_persons_words_stay_as_they_are(words: list[str]) -> None:
    found = ADAPTER.injected(("/bin/claude", "-p", *words), REACH)
    assert found.why_not == ""
    assert found.argv[:2] == ("/bin/claude", "--settings")
    assert found.argv[3:] == ("-p", *words)


@given(
    theirs=st.dictionaries(st.sampled_from(["model", "env", "x"]), st.integers() | st.text()),
    events=st.lists(st.sampled_from(["Stop", "PreToolUse", "PostToolUse"]), unique=True),
    joined=st.booleans(),
)
def test_their_settings_are_merged_with_ours(
    theirs: dict[str, Any], events: list[str], joined: bool
) -> None:
    hook = {"hooks": [{"type": "command", "command": "theirs"}]}
    given_ = json.dumps({**theirs, "hooks": {event: [hook] for event in events}})
    words = (f"--settings={given_}",) if joined else ("--settings", given_)
    found = settings_of(ADAPTER.injected(("claude", *words, "-p", "x"), JUDGES).argv)
    assert {name: found[name] for name in theirs} == theirs
    ours = settings_of(ADAPTER.injected(("claude", "-p", "x"), JUDGES).argv)["hooks"]
    for event in events:
        assert found["hooks"][event][0] == hook
    for event, wanted in ours.items():
        assert found["hooks"][event][-len(wanted) :] == wanted


def test_settings_in_a_file_and_the_last_ones_count(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"model": "m"}')
    words = ("claude", "--settings", '{"model": "other"}', "--settings", str(path))
    assert settings_of(ADAPTER.injected(words, REACH).argv)["model"] == "m"


def test_what_follows_two_dashes_is_no_option_of_it() -> None:
    words = ("claude", "-p", "--", "--settings", "x")
    assert ADAPTER.injected(words, REACH).argv[3:] == ("-p", "--", "--settings", "x")


@pytest.mark.parametrize(
    "words",
    [
        ("mcp", "list"),
        ("--version",),
        ("--bare", "-p", "x"),
        ("-p", "x", "--safe-mode"),
        ("--settings", "/nowhere/at/all.json"),
        ("--settings", "[1]"),
        ("--settings", "{"),
    ],
)
def test_where_it_cannot_report_nothing_is_changed(words: tuple[str, ...]) -> None:
    found = ADAPTER.injected(("claude", *words), REACH)
    assert found.argv == ("claude", *words)
    assert found.why_not


def test_commands_are_only_reported_if_they_are_judged() -> None:
    hooks = settings_of(ADAPTER.injected(("claude",), REACH).argv)["hooks"]
    always = {"SessionStart", "UserPromptSubmit", "Notification", "Stop", "StopFailure"}
    assert set(hooks) == {*always, "PostToolUse"}  # the last tells that nobody is waited for
    alone = settings_of(ADAPTER.injected(("claude", "-p", "x"), REACH).argv)["hooks"]
    assert set(alone) == always
    (judging,) = settings_of(ADAPTER.injected(("claude",), JUDGES).argv)["hooks"]["PreToolUse"]
    assert "--closed" not in judging["hooks"][0]["command"]
    (closed,) = settings_of(ADAPTER.injected(("claude",), REQUIRES).argv)["hooks"]["PreToolUse"]
    assert closed["hooks"][0]["command"] == "'/a python' hook.py claude --closed"
    assert closed["hooks"][0]["onFailure"] == "block"
    assert "matcher" not in closed, "it is started for a tool that nobody has heard of, too"
    tools = judging["matcher"].split("|")
    assert {"Bash", "Write", "EnterWorktree", "CronCreate"} <= set(tools)
    assert "TodoWrite" not in tools


def test_the_tools_of_a_run_are_given_and_allowed() -> None:
    reach = REACH._replace(tools=("/py", "-m", "siding", "mcp"), socket="/run/s")
    theirs = json.dumps({"permissions": {"allow": ["Read"], "deny": ["Bash"]}})
    argv = ADAPTER.injected(("claude", "--settings", theirs, "fix it"), reach).argv
    assert argv[1] == "--mcp-config"
    server = json.loads(argv[2])["mcpServers"]["siding"]
    assert (server["command"], server["args"]) == ("/py", ["-m", "siding", "mcp"])
    assert server["env"] == {"SIDING_SOCKET": "/run/s"}
    # `--mcp-config` takes all words that follow: the prompt must not be one of them.
    assert argv[3] == "--settings"
    assert argv[5:] == ("fix it",)
    wanted = {"allow": ["Read", "mcp__siding"], "deny": ["Bash"]}
    assert settings_of(argv)["permissions"] == wanted


def test_servers_that_the_person_gives_are_left_alone() -> None:
    reach = REACH._replace(tools=("/py",), socket="/run/s")
    found = ADAPTER.injected(("claude", "--mcp-config", "theirs.json"), reach)
    assert found.argv.count("--mcp-config") == 1
    assert "permissions" not in settings_of(found.argv)


def test_only_commands_of_the_shell_are_read_as_commands() -> None:
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c"}
    said = ADAPTER.read({**payload, "tool_input": {"command": "ls"}, "cwd": "/w"})
    assert said is not None
    assert (said.moment, said.command, said.call, said.cwd) == (Moment.TOOL, "ls", "c", "/w")
    assert ADAPTER.read({**payload, "tool_name": "TodoWrite"}) is None
    assert ADAPTER.read({"hook_event_name": "PreCompact"}) is None
