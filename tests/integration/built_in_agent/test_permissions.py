"""`siding agent` and its permissions: what runs, what is asked about, what is denied."""

import json
from pathlib import Path

import pytest

from sandbox import SIDING, Sandbox
from terminal import Terminal

from .scripts import denied, fixed, whole


def test_where_nobody_can_be_asked_nothing_is_changed(agent: Sandbox) -> None:
    model = f"scripted:{agent.directory / 'script.yaml'}"
    done = agent.siding("agent", "-p", "fix", "--model", model)
    assert not fixed(agent)
    said = done.stderr.decode()
    assert "not allowed: Edit" in said
    assert "--permission-mode acceptEdits" in said


def test_modes_and_rules_of_the_command_line(agent: Sandbox) -> None:
    assert denied(whole(agent, "run touch a")) == ["Bash"]
    assert denied(whole(agent, "run git log -1")) == []
    allowed = whole(agent, "run touch a", "--allowed-tools", "Bash(touch:*)")
    assert denied(allowed) == []
    assert (agent.workspace() / "a").exists()
    both = ("--allowed-tools", "Bash", "--disallowed-tools", "Bash(touch b)")
    assert denied(whole(agent, "run /bin/touch b", *both)) == ["Bash"]
    found = whole(agent, "fix", "--permission-mode", "acceptEdits")
    assert (denied(found), fixed(agent)) == ([], True)


def test_without_a_sandbox_nobody_gets_the_mode_that_asks_nothing(agent: Sandbox) -> None:
    model = f"scripted:{agent.directory / 'script.yaml'}"
    words = ("agent", "-p", "fix", "--model", model, "--dangerously-skip-permissions")
    done = agent.siding(*words, status=2)
    assert b"needs a sandbox" in done.stderr


@pytest.mark.usefixtures("engine")
def test_in_a_sandbox_nobody_is_asked(agent: Sandbox) -> None:
    walled = ("--sandbox", "--read", str(agent.directory / "script.yaml"))
    found = whole(agent, "run touch a", *walled)
    assert denied(found) == []
    assert (agent.workspace() / "a").exists()
    found = whole(agent, "run touch b", *walled, "--permission-mode", "default")
    assert denied(found) == ["Bash"]
    config = "agent: {permissions: {deny: ['Bash(touch c)']}}\n"  # nobody sees it in there
    (Path(agent.env["SIDING_HOME"]) / "config.yaml").write_text(config)
    assert denied(whole(agent, "run touch c", *walled)) == ["Bash"]


def test_a_repository_forbids_and_a_person_allows(agent: Sandbox) -> None:
    (agent.repo / ".siding").mkdir()
    repository = "agent: {model: 'x:y', permissions: {allow: [Bash], deny: ['Read(other.py)']}}\n"
    (agent.repo / ".siding/config.yaml").write_text(repository)
    assert denied(whole(agent, "run touch a")) == ["Bash"]
    found = whole(agent, "search")["result"]
    assert "calc.py" in found
    assert "other.py" not in found
    mine = Path(agent.env["SIDING_HOME"]) / "config.yaml"
    mine.write_text("agent: {permissions: {allow: ['Bash(touch a)', 'Read(other.py)']}}\n")
    assert denied(whole(agent, "run touch a")) == []
    assert denied(whole(agent, "run cat other.py")) == ["Bash"]
    mine.write_text("agent: {permisions: {}}\n")
    model = f"scripted:{agent.directory / 'script.yaml'}"
    wrong = agent.siding("agent", "-p", "fix", "--model", model, status=2)
    assert b"permisions" in wrong.stderr


def test_a_command_of_the_settings_objects_to_the_end_of_a_turn(agent: Sandbox) -> None:
    check = "test -e a || { echo there is no a >&2; exit 2; }"
    config = {"agent": {"stop_hooks": [check, "echo x >>ends"]}}
    (Path(agent.env["SIDING_HOME"]) / "config.yaml").write_text(json.dumps(config))
    script = """
answers:
  - match: begin
    text: I am done.
  - match: objects to the end
    steps:
      - tools: [{Bash: {command: touch a}}]
      - text: Now I am.
"""
    (agent.directory / "script.yaml").write_text(script)
    found = whole(agent, "begin", "--allowed-tools", "Bash(touch:*)")
    assert found["result"] == "Now I am."
    assert (agent.workspace() / "ends").read_text() == "x\n"
    shown = agent.json("session", "show", found["session_id"], "--format", "json")
    hidden = [each["message"]["content"] for each in shown["records"] if each.get("isMeta")]
    assert len(hidden) == 1
    assert hidden[0].endswith("there is no a")


def test_a_mode_goes_on_with_its_conversation(agent: Sandbox) -> None:
    whole(agent, "run git log", "--permission-mode", "acceptEdits")
    assert denied(whole(agent, "fix", "-c")) == []
    agent.siding("undo")
    assert denied(whole(agent, "fix", "-c", "--permission-mode", "default")) == ["Edit"]
    assert denied(whole(agent, "fix", "-c")) == ["Edit"]


def test_a_person_at_a_terminal_is_asked(agent: Sandbox) -> None:
    model = f"scripted:{agent.directory / 'script.yaml'}"
    agent.siding("guard", "off")  # else the first question is about that
    window = Terminal([*SIDING, "agent", "--model", model], cwd=agent.repo, env=agent.env)
    window.wait_for(b"mode default")
    window.type(b"fix\n")
    window.wait_for(b"what to do instead: ")
    assert b"+ a + b" in window.seen
    window.type(b"1\n")
    window.wait_for(b"completed")
    assert fixed(agent)
    window.type(b"ask\n")
    window.wait_for(b"a number, or an answer: ")
    window.type(b"2\n")
    window.wait_for(b"blue it is")
    window.type(b"run touch a\n")
    window.wait_for(b"touch:*")
    window.type(b"not now\n")
    window.wait_for(b"I was told: not now")
    window.type(b"\x04")
    assert window.finish() == 0
    assert not (agent.workspace() / "a").exists()
