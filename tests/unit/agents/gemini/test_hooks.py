"""How the Gemini CLI is told to report: settings of a system, merged with those that are there."""

import json
from typing import Any

import pytest

from siding.agents.gemini.hooks import ADAPTER
from siding.agents.hooks import Moment, Reach

OURS = "/run/siding-1/settings.json"
SYSTEM = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"


def reach(files: dict[str, str], **more: Any) -> Reach:
    """Return what can be reached where root alone writes these files, and our directory."""

    def read(name: str) -> str:
        if name not in files:
            raise FileNotFoundError(name)
        return files[name]

    return Reach(
        program=("/a python", "hook.py", "gemini"),
        read=read,
        settings=OURS,
        of_root=lambda name: name in files or name == "/run/siding-1",
        **more,
    )


def test_without_a_place_of_roots_it_does_not_report() -> None:
    found = ADAPTER.injected(("gemini",), Reach(program=("x",), settings="/tmp/s/settings.json"))
    assert (found.argv, found.env, found.settings) == (("gemini",), {}, "")
    assert "nobody but root" in found.why_not


def test_times_are_milliseconds_and_all_moments_are_told() -> None:
    found = ADAPTER.injected(("gemini", "-p", "x"), reach({}, judges=True, requires=True))
    assert (found.argv, found.env[SYSTEM]) == (("gemini", "-p", "x"), OURS)
    hooks = json.loads(found.settings)["hooks"]
    told = "SessionStart BeforeAgent Notification AfterAgent BeforeTool AfterTool"
    assert " ".join(hooks) == told
    (judging,) = hooks["BeforeTool"][0]["hooks"]
    assert judging["timeout"] == 24 * 3600 * 1000
    assert judging["command"] == "'/a python' hook.py gemini --closed"
    assert hooks["BeforeTool"][0]["matcher"] == "*"


@pytest.mark.parametrize("named", ["", "/opt/gemini/s.json"])
def test_settings_of_the_system_go_on_counting(named: str) -> None:
    old = named or "/etc/gemini-cli/settings.json"
    theirs = (
        '{"hooks": {"AfterAgent": [1]}, /* kept */ "url": "a//b", "mcpServers": {"x": 2}} // end'
    )
    env = {SYSTEM: named} if named else {}
    found = ADAPTER.injected(("gemini",), reach({old: theirs}, env=env, tools=("serve",)))
    merged = json.loads(found.settings)
    assert merged["url"] == "a//b"
    assert merged["hooks"]["AfterAgent"][0] == 1
    assert len(merged["hooks"]["AfterAgent"]) == 2
    assert set(merged["mcpServers"]) == {"siding", "x"}
    defaults = found.env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"]
    assert defaults == old.rpartition("/")[0] + "/system-defaults.json"


def test_settings_that_others_can_write_do_not_count_through_us() -> None:
    theirs = {SYSTEM: "/tmp/theirs.json"}
    given = reach({}, env=theirs)._replace(read=lambda _name: '{"hooks": {"BeforeTool": [1]}}')
    assert "BeforeTool" not in json.loads(ADAPTER.injected(("gemini",), given).settings)["hooks"]


def test_settings_that_cannot_be_read_are_not_replaced() -> None:
    found = ADAPTER.injected(("gemini",), reach({"/etc/gemini-cli/settings.json": "{"}))
    assert (
        found.why_not == "/etc/gemini-cli/settings.json cannot be read, and would no longer count"
    )


KEPT = '{"general": {"x": 1, "sessionRetention": {"maxAge": "7d"}}}'


def test_conversations_are_kept_if_the_person_does_not_say_how_long() -> None:
    theirs = {"/etc/gemini-cli/settings.json": '{"general": {"x": 1}}'}
    found = ADAPTER.injected(("gemini",), reach(theirs))
    general = json.loads(found.settings)["general"]
    assert general == {"x": 1, "sessionRetention": {"enabled": False}}


@pytest.mark.parametrize(
    ("file", "env"),
    [
        ("/etc/gemini-cli/settings.json", {}),
        ("/home/me/.gemini/settings.json", {"HOME": "/home/me"}),
        ("/there/.gemini/settings.json", {"HOME": "/home/me", "GEMINI_CLI_HOME": "/there"}),
    ],
)
def test_how_long_the_person_keeps_conversations_counts(file: str, env: dict[str, str]) -> None:
    found = ADAPTER.injected(("gemini",), reach({file: f"// mine\n{KEPT}"}, env=env))
    general = json.loads(found.settings).get("general")
    assert general == (json.loads(KEPT)["general"] if file.startswith("/etc") else None)


def test_what_a_hook_said_is_no_part_of_the_prompt() -> None:
    written = "Write <b>\n<hook_context>x</hook_context>"
    said = f"<hook_context>You are recorded.</hook_context>\n\n{written}"
    payload = {"hook_event_name": "BeforeAgent", "session_id": "s", "prompt": said}
    found = ADAPTER.read(payload)
    assert found is not None
    assert found.moment is Moment.PROMPT
    assert found.text == written
    found = ADAPTER.read({**payload, "prompt": "Explain <hook_context>x</hook_context>"})
    assert found is not None
    assert found.text == "Explain <hook_context>x</hook_context>"


def test_a_command_is_judged_where_it_runs() -> None:
    given = {"command": "rm x", "dir_path": "sub"}
    payload = {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "cwd": "/w"}
    found = ADAPTER.read({**payload, "tool_input": given})
    assert found is not None
    assert (found.moment, found.command, found.cwd) == (Moment.TOOL, "rm x", "/w/sub")
    assert ADAPTER.read({**payload, "tool_name": "list_directory", "tool_input": given}) is None
