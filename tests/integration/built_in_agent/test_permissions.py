"""`siding agent` and its permissions: what runs, what is asked about, what is denied."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import SIDING, Sandbox
from terminal import Terminal

SCRIPT = r"""
answers:
  - match: fix
    steps:
      - tools: [{Read: {file_path: calc.py}}]
      - tools: [{Edit: {file_path: calc.py, old_string: "a - b", new_string: "a + b"}}]
      - text: Done.
  - match: run (.*)
    steps:
      - tools: [{Bash: {command: "{1}"}}]
      - results: 'person did not allow this: (?P<why>.*)'
        text: "I was told: {why}"
        otherwise: {text: Done.}
  - match: search
    steps:
      - tools: [{Grep: {pattern: word, output_mode: files_with_matches}}]
      - results: '(?s)(?P<found>.*)'
        text: "{found}"
  - match: ask
    steps:
      - tools:
          - AskUserQuestion:
              questions:
                - question: Which one?
                  header: one
                  options:
                    - {label: red, description: the first}
                    - {label: blue, description: the second}
      - results: '→ (?P<which>\w+)'
        text: "{which} it is"
        otherwise: {text: Nobody said.}
"""


@pytest.fixture
def agent(sandbox: Sandbox) -> Sandbox:
    (sandbox.repo / "calc.py").write_text("def add(a, b):\n    return a - b  # word\n")
    (sandbox.repo / "other.py").write_text("word\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "calc")
    (sandbox.directory / "script.yaml").write_text(SCRIPT)
    sandbox.siding("task", "start", "calc")
    return sandbox


def whole(sandbox: Sandbox, prompt: str, *flags: str) -> dict[str, Any]:
    model = f"scripted:{sandbox.directory / 'script.yaml'}"
    words = ("agent", "-p", prompt, "--model", model, "--output-format", "json", *flags)
    found: dict[str, Any] = json.loads(sandbox.siding(*words).stdout)
    return found


def fixed(sandbox: Sandbox) -> bool:
    return "a + b" in (sandbox.workspace() / "calc.py").read_text()


def denied(found: dict[str, Any]) -> list[str]:
    return [each["tool_name"] for each in found["permission_denials"]]


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


class Client:
    """A program that drives the agent over two streams of JSON."""

    def __init__(self, sandbox: Sandbox, *flags: str) -> None:
        words = ["siding", "agent", "-p", "--input-format", "stream-json"]
        words += ["--output-format", "stream-json", "--permission-prompt-tool", "stdio"]
        words += ["--model", f"scripted:{sandbox.directory / 'script.yaml'}", *flags]
        self.process = subprocess.Popen(
            words,
            cwd=sandbox.repo,
            env=sandbox.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, **line: Any) -> None:
        self.stdin.write(json.dumps(line) + "\n")
        self.stdin.flush()

    def prompt(self, text: str) -> None:
        self.send(type="user", message={"role": "user", "content": text})

    def until(self, kind: str) -> dict[str, Any]:
        for line in self.stdout:
            found: dict[str, Any] = json.loads(line)
            if found["type"] == kind:
                return found
        raise AssertionError(f"no {kind} came")

    def asked(self) -> dict[str, Any]:
        return self.until("control_request")

    def answer(self, request: dict[str, Any], **fields: Any) -> None:
        response = {"subtype": "success", "request_id": request["request_id"], "response": fields}
        self.send(type="control_response", response=response)

    def end(self) -> int:
        self.stdin.close()
        self.stdout.close()
        return self.process.wait(timeout=60)


def test_a_person_at_a_terminal_is_asked(agent: Sandbox) -> None:
    model = f"scripted:{agent.directory / 'script.yaml'}"
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


@pytest.fixture
def client(agent: Sandbox) -> Iterator[Client]:
    found = Client(agent)
    yield found
    found.end()


def test_a_client_is_asked_and_its_answers_count(agent: Sandbox, client: Client) -> None:
    client.prompt("run touch a")
    request = client.asked()
    asked = request["request"]
    assert (asked["subtype"], asked["tool_name"]) == ("can_use_tool", "Bash")
    assert asked["input"] == {"command": "touch a"}
    suggestion = asked["permission_suggestions"][-1]
    client.answer(
        request,
        behavior="allow",
        updatedInput={"command": "touch b"},
        updatedPermissions=[{**suggestion, "destination": "session"}],
    )
    assert client.until("result")["permission_denials"] == []
    assert (agent.workspace() / "b").exists()
    assert not (agent.workspace() / "a").exists()
    client.prompt("run touch c")  # what was remembered allows it
    assert client.until("result")["permission_denials"] == []
    assert (agent.workspace() / "c").exists()
    client.prompt("run rm c")
    client.answer(client.asked(), behavior="deny", message="keep it")
    found = client.until("result")
    assert found["result"] == "I was told: keep it"
    assert denied(found) == ["Bash"]
    client.prompt("run rm c")
    client.answer(client.asked(), behavior="deny", message="stop", interrupt=True)
    assert denied(client.until("result")) == ["Bash"]
    assert (agent.workspace() / "c").exists()


def test_a_client_answers_questions_and_changes_the_mode(agent: Sandbox, client: Client) -> None:
    client.prompt("ask")
    request = client.asked()
    assert request["request"]["tool_name"] == "AskUserQuestion"
    given = request["request"]["input"]
    answers = {"Which one?": "blue"}
    client.answer(request, behavior="allow", updatedInput={**given, "answers": answers})
    assert client.until("result")["result"] == "blue it is"
    mode = {"subtype": "set_permission_mode", "mode": "acceptEdits"}
    client.send(type="control_request", request_id="m", request=mode)
    assert client.until("control_response")["response"]["subtype"] == "success"
    client.prompt("fix")
    assert client.until("system")["permissionMode"] == "acceptEdits"
    assert client.until("result")["permission_denials"] == []
    assert fixed(agent)
    mode = {"subtype": "set_permission_mode", "mode": "bypassPermissions"}
    client.send(type="control_request", request_id="b", request=mode)
    assert client.until("control_response")["response"]["subtype"] == "error"


def test_an_interrupt_takes_a_question_back(agent: Sandbox, client: Client) -> None:
    client.prompt("run touch a")
    request = client.asked()
    client.send(type="control_request", request_id="i", request={"subtype": "interrupt"})
    taken_back = client.until("control_cancel_request")
    assert taken_back["request_id"] == request["request_id"]
    assert client.until("result")["subtype"] == "error_during_execution"
    assert not (agent.workspace() / "a").exists()
