"""`siding agent` as a run: prompts answered with a scripted model, turns that are taken back."""

import json
import os
import signal
import subprocess
from typing import Any, NamedTuple

import pytest

from sandbox import Sandbox

from . import killed

SCRIPT = r"""
answers:
  - match: fix (\S+)
    steps:
      - text: I look.
        tools: [{Read: {file_path: "{1}"}}]
      - results: 'return a - (?P<name>\w)'
        tools: [{Edit: {file_path: "{1}", old_string: "a - {name}", new_string: "a + {name}"}}]
        otherwise: {text: This is not the file that I know.}
      - text: "{1} is fixed."
  - match: look below
    steps:
      - tools: [{Read: {file_path: sub/a.py}}]
      - results: '(?s).*'
        text: "I know it."
  - match: die
    steps:
      - tools: [{Bash: {command: "sh kill.sh"}}]
      - text: I went on.
  - match: push
    steps:
      - tools: [{Bash: {command: "git push --force origin main"}}]
      - results: policy
        text: I may not.
        otherwise: {text: I did.}
  - match: object
    steps:
      - tools: [{StructuredOutput: {n: 3}}]
      - text: done
  - match: how are you
    text: Fine.
"""

# The shell of a tool need not be a child of the agent.
KILL = r"""
echo once >>ran
at=$PPID
until tr '\0' ' ' </proc/$at/cmdline | grep -q siding-agent; do
    at=$(sed 's/.*) . //; s/ .*//' /proc/$at/stat)
done
kill -9 $at
"""


@pytest.fixture
def agent(sandbox: Sandbox) -> Sandbox:
    (sandbox.repo / "kill.sh").write_text(KILL)
    (sandbox.repo / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "calc")
    (sandbox.directory / "script.yaml").write_text(SCRIPT)
    sandbox.siding("task", "start", "calc")
    return sandbox


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


def said(sandbox: Sandbox, *words: str, allowed: str = "Bash,Edit") -> Done:
    flags = ["--model", f"scripted:{sandbox.directory / 'script.yaml'}"]
    flags += ["--allowed-tools", allowed] if allowed else []
    done = sandbox.siding("agent", "-p", *words, *flags, status=None)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def whole(sandbox: Sandbox, *words: str, allowed: str = "Bash,Edit") -> dict[str, Any]:
    done = said(sandbox, *words, "--output-format", "json", allowed=allowed)
    assert done.status == 0, done
    found: dict[str, Any] = json.loads(done.out)
    return found


def fixed(sandbox: Sandbox) -> bool:
    return "a + b" in (sandbox.workspace() / "calc.py").read_text()


def prompts(sandbox: Sandbox, session: str) -> list[str]:
    """Return the prompts that a model would see if the conversation went on now."""
    shown = sandbox.json("session", "show", session, "--format", "json")
    return [
        each["message"]["content"]
        for each in shown["records"]
        if each.get("type") == "user" and isinstance(each["message"]["content"], str)
    ]


def test_a_prompt_is_answered_and_is_a_step(agent: Sandbox) -> None:
    found = said(agent, "fix calc.py")
    assert found.out == "calc.py is fixed.\n"
    assert fixed(agent)
    turn, run = agent.steps()
    assert (turn["prompt"], turn["diff_stat"]["file_list"]) == ("fix calc.py", ["calc.py"])
    assert (run["exit_code"], run["agent"]) == (0, "siding-agent")


def test_files_and_conversation_go_back_and_forth_together(agent: Sandbox) -> None:
    first = whole(agent, "fix calc.py")
    session = first["session_id"]
    agent.siding("undo")
    assert not fixed(agent)
    assert whole(agent, "-c", "how are you")["result"] == "Fine."
    assert prompts(agent, session) == ["how are you"]
    # The same task can be done again: the conversation does not believe that it is done.
    assert whole(agent, "-c", "fix calc.py")["result"] == "calc.py is fixed."
    assert prompts(agent, session) == ["how are you", "fix calc.py"]
    agent.siding("undo")
    agent.siding("redo")
    whole(agent, "-c", "how are you")
    assert prompts(agent, session) == ["how are you", "fix calc.py", "how are you"]


def test_what_was_undone_and_done_again_after_a_prompt_comes_back(agent: Sandbox) -> None:
    session = whole(agent, "fix calc.py")["session_id"]
    agent.siding("undo")
    agent.siding("redo")
    assert fixed(agent)
    whole(agent, "-r", session, "how are you")
    assert prompts(agent, session) == ["fix calc.py", "how are you"]


def test_a_copy_goes_on_and_an_unkept_one_leaves_nothing(agent: Sandbox) -> None:
    session = whole(agent, "how are you")["session_id"]
    copy = whole(agent, "-r", session, "--fork-session", "fix calc.py")["session_id"]
    assert prompts(agent, session) == ["how are you"]
    assert prompts(agent, copy) == ["how are you", "fix calc.py"]
    before = agent.json("session", "list", "--format", "json")
    unkept = whole(agent, "--no-persist", "how are you")["session_id"]
    assert agent.json("session", "list", "--format", "json") == before
    assert unkept not in json.dumps(before)


def test_a_killed_agent_goes_on_and_does_nothing_twice(agent: Sandbox) -> None:
    assert said(agent, "die").status == 128 + signal.SIGKILL
    assert (agent.workspace() / "ran").read_text() == "once\n"
    before = killed.stored(agent)
    (call,) = killed.blocks(before, "tool_use")
    assert killed.blocks(before, "tool_result") == []
    found = whole(agent, "-c", "how are you")
    assert found["result"] == "Fine."
    assert (agent.workspace() / "ran").read_text() == "once\n"
    after = killed.stored(agent)
    assert after.startswith(before)
    assert killed.blocks(after, "tool_use") == [call]
    (result,) = killed.blocks(after, "tool_result")
    assert (result["tool_use_id"], result["is_error"]) == (call["id"], True)
    assert killed.CUT_OFF in result["content"]
    assert "It may have done all, a part or nothing" in result["content"]


def test_the_policy_judges_its_commands(agent: Sandbox) -> None:
    (agent.repo / ".siding").mkdir()
    policy = "version: 1\nactions: {git-rewrites: block}\n"
    (agent.repo / ".siding/policy.yaml").write_text(policy)
    found = whole(agent, "push")
    assert found["result"] == "I may not."
    (denied,) = found["permission_denials"]
    assert denied["tool_name"] == "Bash"


def test_in_the_mode_plan_nothing_is_changed(agent: Sandbox) -> None:
    found = whole(agent, "--permission-mode", "plan", "fix calc.py")
    assert [each["tool_name"] for each in found["permission_denials"]] == ["Edit"]
    assert not fixed(agent)


def test_an_object_is_handed_over(agent: Sandbox) -> None:
    schema = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}})
    assert json.loads(said(agent, "object", "--json-schema", schema).out) == {"n": 3}


def test_a_client_talks_over_streams_of_json(agent: Sandbox) -> None:
    words = ["siding", "agent", "-p", "--input-format", "stream-json"]
    words += ["--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"]
    words += ["--model", f"scripted:{agent.directory / 'script.yaml'}"]
    process = subprocess.Popen(
        words,
        cwd=agent.repo,
        env=agent.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def send(**line: Any) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()

    def until(kind: str) -> dict[str, Any]:
        assert process.stdout is not None
        for line in process.stdout:
            found: dict[str, Any] = json.loads(line)
            if found["type"] == kind:
                return found
        raise AssertionError(f"no {kind} came")

    send(type="control_request", request_id="1", request={"subtype": "initialize"})
    assert until("control_response")["response"]["request_id"] == "1"
    for prompt, answer in (("fix calc.py", "calc.py is fixed."), ("how are you", "Fine.")):
        send(type="user", message={"role": "user", "content": prompt})
        assert until("result")["result"] == answer
    send(type="control_request", request_id="2", request={"subtype": "unheard of"})
    assert until("control_response")["response"]["subtype"] == "error"
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    assert fixed(agent)
    assert [step.get("prompt") for step in agent.steps()][:2] == ["fix calc.py", "how are you"]


def test_what_is_wrong_is_said_before_a_run_begins(agent: Sandbox) -> None:
    env = {name: value for name, value in agent.env.items() if not name.endswith("_API_KEY")}
    assert env == agent.env, "the tests have no keys"
    wrong = agent.siding("agent", "-p", "x", status=2)
    assert b"no model is named" in wrong.stderr
    both = said(agent, "x", "-c", "-r", "abc")
    assert both.status == 2
    assert said(agent, "x", "-r", "nobody").status == 1
    assert agent.steps() == []
    nobody = said(agent, "an unknown question")
    assert nobody.status == 1
    assert "no answer for" in nobody.err


def test_its_conversation_is_of_its_workspace_alone(agent: Sandbox) -> None:
    whole(agent, "how are you")
    agent.siding("task", "start", "other")
    found = said(agent, "-c", "how are you")
    assert found.status == 1
    assert "no conversation in this workspace" in found.err
    assert os.fspath(agent.workspace()) not in found.out


def test_instructions_of_a_directory_come_when_it_is_looked_into(agent: Sandbox) -> None:
    below = agent.workspace() / "sub"
    below.mkdir()
    (below / "a.py").write_text("x = 1\n")
    (below / "AGENTS.md").write_text("Names are in capitals here.\n")
    session = whole(agent, "look below")["session_id"]
    shown = agent.json("session", "show", session, "--format", "json")
    hidden = [each for each in shown["records"] if each.get("isMeta")]
    assert [each["type"] for each in hidden] == ["user"]
    assert "Names are in capitals here." in json.dumps(hidden)
    whole(agent, "-c", "look below")  # another process: the model may have forgotten
    assert prompts(agent, session)[-1].startswith("<system-reminder>")


USED = """
prices: {input: 1000, output: 10000}
answers:
  - {match: first, steps: [{tools: [{Bash: {command: "echo a >a"}}], used: {input: 70, output: 7}},
      {text: one, used: {input: 100, output: 10}}]}
  - {match: second, text: two, used: {input: 30, output: 3}}
"""


def test_what_a_turn_used_is_in_its_step(agent: Sandbox) -> None:
    (agent.directory / "script.yaml").write_text(USED)
    whole(agent, "first")
    whole(agent, "-c", "second")
    used = [each["usage"]["scripted"] for each in agent.steps()]
    # Each prompt is a turn, and its run.
    assert [(each["input"], each["output"]) for each in used] == [(170, 17)] * 2 + [(30, 3)] * 2


def test_in_a_sandbox_the_conversation_is_kept_and_taken_back(agent: Sandbox, engine: str) -> None:
    walled = ("--sandbox", "--read", str(agent.directory / "script.yaml"))
    session = whole(agent, "fix calc.py", *walled)["session_id"]
    assert fixed(agent)
    assert agent.steps()[-1]["sandbox"]["engine"] == engine
    assert whole(agent, "-c", "how are you", *walled)["session_id"] == session
    agent.siding("undo")
    assert not fixed(agent)
    assert whole(agent, "-c", "how are you", *walled)["session_id"] == session
    assert prompts(agent, session) == ["how are you"]
    seen = "ls $SIDING_HOME $SIDING_HOME/projects/*"
    (agent.directory / "script.yaml").write_text(f"""
answers:
  - match: look
    steps:
      - tools: [{{Bash: {{command: "{seen}"}}}}]
      - results: '(?s)(?P<all>.*)'
        text: "{{all}}"
""")
    found = whole(agent, "look", *walled)["result"].split()
    assert ("sessions" in found) is (engine == "bwrap")  # with Landlock nothing can be listed
    assert not {"config.yaml", "tasks", "events"} & set(found)
