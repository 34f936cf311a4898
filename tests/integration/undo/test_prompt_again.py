"""`siding retry` of a prompt: the agent is given it again, from the state that it began with."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from integration.broker.inside import until
from sandbox import Sandbox

SESSION = "0f343741-ae22-4493-b1bd-08f9aa0f342b"
# Takes the command line of Claude Code and reports as that does; each prompt makes a file, in which
# is what was there before.
AGENT = """#!{python}
import json, os, socket, sys
words = sys.argv[1:]
ours = ("--settings", "--mcp-config")
with open(os.environ["SEEN"], "a") as seen:
    given = [word for word in words if word[0] != "{{" and word not in ours]
    seen.write(json.dumps(given) + "\\n")
session = words[words.index("--resume") + 1] if "--resume" in words else {session!r}
if session.startswith("/"):
    session = {session!r}
def report(event, **fields):
    payload = {{"session_id": session, "hook_event_name": event, **fields}}
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.environ["SIDING_SOCKET"])
    line.sendall(json.dumps({{"do": "report", "agent": "claude", "payload": payload}}).encode())
    line.sendall(b"\\n")
    line.recv(65536)
    line.close()
def answer(prompt):
    report("UserPromptSubmit", prompt=prompt, prompt_id=os.urandom(4).hex())
    there = " ".join(sorted(name for name in os.listdir(".") if name[0] == "m"))
    with open("m-" + prompt.split()[-1], "w") as file:
        file.write(there + "\\n" + os.urandom(4).hex())
    report("Stop")
if "-p" in words:
    answer(words[words.index("--") + 1] if "--" in words else words[words.index("-p") + 1])
else:
    for line in sys.stdin:
        line = line.replace("\\x1b[200~", "").replace("\\x1b[201~", "").strip()
        if line:
            answer(line)
"""


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    program = sandbox.directory / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(AGENT.format(python=sys.executable, session=SESSION))
    program.chmod(0o755)
    sandbox.env["PATH"] = f"{program.parent}:{sandbox.env['PATH']}"
    sandbox.env["SEEN"] = str(sandbox.directory / "seen")
    sandbox.siding("guard", "off")
    sandbox.siding("task", "start", "talks")
    return sandbox


def asked(task: Sandbox) -> list[str]:
    """Return the newest command line of the agent, without its program."""
    line = Path(task.env["SEEN"]).read_text().splitlines()[-1]
    found = json.loads(line)
    assert isinstance(found, list)
    return found


def made(task: Sandbox) -> dict[str, list[str]]:
    """Return what each prompt's file has: what was there before, and something new each time."""
    files = task.workspace().glob("m-*")
    return {path.name.removeprefix("m-"): path.read_text().split("\n") for path in files}


def turns(task: Sandbox) -> list[dict[str, Any]]:
    return [step for step in task.steps() if step.get("origin") == "turn"]


def test_an_agent_that_has_ended_is_started_again(task: Sandbox) -> None:
    task.siding("run", "--", "claude", "--model", "x", "-p", "Make one")
    task.siding("run", "--", "claude", "-p", "Make two", "--resume", SESSION, "--tools", "A", "B")
    first = made(task)
    assert first["two"][0] == "m-one"

    said = task.siding("retry", "3").stderr.decode()
    assert "leaving behind 0003 turn Make two" in said
    assert "from before step 0003: Make two · claude -p --resume" in said
    assert asked(task) == ["-p", "--resume", SESSION, "--tools", "A", "B", "--", "Make two"]
    second = made(task)
    assert second["one"] == first["one"]
    assert second["two"][0] == "m-one"
    assert second["two"] != first["two"]
    assert turns(task)[-1]["prompt"] == "Make two"
    assert task.steps()[-1]["retries"] == "0003"

    task.siding("retry", turns(task)[-1]["step_id"])
    assert asked(task) == ["-p", "--resume", SESSION, "--tools", "A", "B", "--", "Make two"]
    third = made(task)
    assert third["two"][0] == "m-one"
    assert third["two"] not in (first["two"], second["two"])
    task.siding("undo")
    assert set(made(task)) == {"one"}
    task.siding("undo")
    assert made(task) == second

    said = task.siding("retry", "1").stderr.decode()
    assert asked(task) == ["-p", "--model", "x", "--", "Make one"], "nothing was said before it"
    assert set(made(task)) == {"one"}
    task.siding("undo", "--force")
    task.siding("undo", "--force")
    assert made(task) == second
    assert "leaving behind 0006 turn Make two" in task.siding("retry", "-n").stderr.decode()
    task.siding("verify")


def test_an_agent_that_lives_is_sent_the_prompt(task: Sandbox) -> None:
    task.siding("run", "--detach", "--tty", "--name", "a", "--", "claude", "--model", "x")
    for number, prompt in enumerate(("Make one", "Make two", "Make three"), start=1):
        task.siding("send", "a", prompt)
        until(lambda n=number: len(turns(task)) == n)
    first = made(task)

    said = task.siding("retry", "2").stderr.decode()
    assert "was paused and goes on" in said
    assert "sent to r1: Make two" in said
    until(lambda: len(turns(task)) == 4)
    second = made(task)
    assert set(second) == {"one", "two"}
    assert second["two"][0] == "m-one"
    assert second["two"] != first["two"]

    task.siding("retry")
    until(lambda: len(turns(task)) == 5)
    log = task.siding("log").stdout.decode()
    assert len(re.findall("turn +Make ", log)) == 5, (
        "more than three: what was asked is shown all the same"
    )
    assert "siding log --turns" not in log
    newest = task.siding("log", "-n", "1").stdout.decode()
    assert re.findall("turn +(Make .*?)  ", newest) == ["Make two"]
    assert "4 turns of r1; siding log --turns" in newest
    assert "step      0001 turn" in task.siding("show", "1").stdout.decode()
    assert "step      r1 run" in task.siding("show", "r1").stdout.decode()
    assert made(task)["two"] != second["two"]
    task.siding("undo")
    assert set(made(task)) == {"one"}
    task.siding("stop", "a")
    task.siding("retry")
    assert asked(task) == ["-p", "--model", "x", "--", "Make one"], "it was the newest that stood"


def test_what_cannot_be_given_again_is_said_before_anything_goes(task: Sandbox) -> None:
    task.siding(
        "run", "--detach", "--name", "a", "--", "sh", "-c", "claude -p 'Make one'; sleep 60"
    )
    until(lambda: len(turns(task)) == 1)
    before = made(task)
    done = task.siding("retry", "1", status=1)
    assert b"cannot be sent a prompt: it has no terminal" in done.stderr
    assert b"--stop ends it, and starts it again" in done.stderr
    assert made(task) == before
    task.siding("stop", "a")
    token = "ghp_" + "a1B2c3D4e5" * 4
    task.siding("run", "--", "claude", "-p", f"Make {token} two")
    said = task.siding("retry", turns(task)[-1]["step_id"], status=2).stderr.decode()
    assert "a secret in the prompt" in said
    assert "siding rewind" in said
    task.siding("run", "--", "claude", "-p", "Make " + "very " * 900 + "three")
    said = task.siding("retry", turns(task)[-1]["step_id"], status=2).stderr.decode()
    assert "only the first 4000 characters" in said
