"""`siding run --meter` with a plain client: what is in the step, whoever ends first."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.models import ModelServer
from sandbox import Sandbox, alive

CLIENT = """
import json, os, sys, time, urllib.error, urllib.request

def ask():
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    body = json.dumps({"model": "a-model", "stream": True, "messages": []}).encode()
    request = urllib.request.Request(url, body, {"x-api-key": "sk-ant-of-a-test"})
    try:
        urllib.request.urlopen(request).read()
        print("answered", flush=True)
    except OSError as error:
        print(type(getattr(error, "reason", error)).__name__, flush=True)

for word in sys.argv[1:]:
    if word == "ask":
        ask()
    else:
        while not os.path.exists(word):
            time.sleep(0.01)
"""


@pytest.fixture
def model() -> Iterator[ModelServer]:
    made = ModelServer([["hello"]] * 50, answers_all=True)
    yield made
    made.close()


@pytest.fixture
def task(sandbox: Sandbox, model: ModelServer) -> Sandbox:
    sandbox.siding("task", "start", "metered")
    sandbox.env["ANTHROPIC_BASE_URL"] = model.url
    return sandbox


def client(*words: str) -> list[str]:
    return [sys.executable, "-c", CLIENT, *words]


def run_of(task: Sandbox) -> dict[str, Any]:
    return [step for step in task.steps() if step["kind"] == "run"][-1]


def proxy_of(task: Sandbox) -> int:
    """Return the process of the proxy of the one run that lives."""
    home = f"SIDING_HOME={task.env['SIDING_HOME']}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if (
                b"siding.sandbox.wire.program" in words
                and home in (process / "environ").read_bytes()
            ):
                found.append(int(process.name))
        except OSError:
            continue
    (pid,) = found
    return pid


def until(task: Sandbox, run: str, text: str) -> None:
    """Wait until a run has printed a text."""
    for _ in range(1000):
        if text in task.siding("output", run, status=None).stdout.decode():
            return
        time.sleep(0.02)
    raise AssertionError(f"{run} has not printed {text!r}")


def test_what_passed_is_in_the_step_and_in_a_file(task: Sandbox, model: ModelServer) -> None:
    task.siding("run", "--meter", "--", *client("ask", "ask"))
    step = run_of(task)
    assert step["wire"]["usage"] == {"a-model": {"input": 203, "output": 40, "calls": 2}}
    assert (step["wire"]["requests"], step["wire"]["statuses"]) == (2, {"200": 2})
    lines = (task.project / "tasks").glob(f"*/{step['artifacts']['wire']}")
    (passed,) = ([json.loads(line) for line in path.read_text().splitlines()] for path in lines)
    assert [line["tokens"] for line in passed] == [
        {"input": 101, "output": 20},
        {"input": 102, "output": 20},
    ]
    assert task.siding("verify").returncode == 0


def test_metered_runs_are_listed_and_added_to_nothing(task: Sandbox) -> None:
    task.siding("run", "--meter", "--", *client("ask", "ask"))
    task.siding("run", "--", *client("ask"))
    (row,) = task.json("usage", "--wire", "--format", "json")
    assert (row["requests"], row["input"], row["output"], row["agent_says"]) == (2, 203, 40, None)
    assert "metered" in task.siding("usage", "--wire").stdout.decode()
    assert task.json("usage", "--wire", "--since", "2031-01-01", "--format", "json") == []
    assert task.json("usage", "--format", "json") == []  # what an agent says: there is none


def test_a_file_that_was_changed_is_found(task: Sandbox) -> None:
    task.siding("run", "--meter", "--", *client("ask"))
    (path,) = (task.project / "tasks").glob("*/artifacts/*.wire")
    path.write_text(path.read_text().replace('"input": 101', '"input": 1'))
    assert b"wire" in task.siding("verify", status=1).stdout


def test_without_it_nothing_is_pointed(task: Sandbox, model: ModelServer) -> None:
    said = task.siding("run", "--", "sh", "-c", 'echo "$ANTHROPIC_BASE_URL"').stdout.decode()
    assert said.strip() == model.url
    assert "wire" not in run_of(task)


def test_the_setting_is_about_agents(task: Sandbox) -> None:
    config = task.project / "config.yaml"
    config.write_text("agents: {meter: true}\n")
    agent = task.directory / "bin" / "claude"
    agent.parent.mkdir()
    agent.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{CLIENT}' ask\n")
    agent.chmod(0o755)
    task.env["PATH"] = f"{agent.parent}:{task.env['PATH']}"
    task.siding("run", "--", "claude")
    assert run_of(task)["wire"]["requests"] == 1
    task.siding("run", "--no-meter", "--", "claude")
    assert "wire" not in run_of(task)
    task.siding("run", "--", *client("ask"))
    assert "wire" not in run_of(task)


def test_a_killed_proxy_is_said_and_the_client_is_refused(task: Sandbox) -> None:
    go_on = task.directory / "go-on"
    words = client("ask", str(go_on), "ask")
    task.siding("run", "--detach", "--name", "killed", "--meter", "--", *words)
    until(task, "killed", "answered")
    killed = proxy_of(task)
    os.kill(killed, signal.SIGKILL)
    while alive(killed):
        time.sleep(0.01)
    go_on.touch()
    said = task.siding("output", "killed", "--follow").stdout.decode()
    assert said.split() == ["answered", "ConnectionRefusedError"]
    step = run_of(task)
    assert step["wire"]["requests"] == 1
    assert step["wire"]["ended_at"]
    assert any(note.startswith("metering ended at ") for note in step["notes"])
    assert "the proxy ended at" in task.siding("show", "last").stdout.decode()


def test_a_host_that_is_killed_leaves_what_had_passed(task: Sandbox) -> None:
    never = str(task.directory / "never")
    begun = task.json("run", "--detach", "--json", "--meter", "--", *client("ask", never))
    until(task, begun["run"], "answered")
    (live,) = task.json("runs", "--format", "json")
    record = next((task.project / "tasks").glob(f"*/runs/{begun['run']}.json"))
    os.kill(json.loads(record.read_text())["host"]["pid"], signal.SIGKILL)
    assert live
    for _ in range(500):
        task.siding("checkpoint", "-m", "x", status=None)
        runs = [step for step in task.steps() if step["kind"] == "run"]
        if runs and runs[-1]["status"] == "interrupted":
            break
        time.sleep(0.02)
    assert runs[-1]["wire"]["usage"] == {"a-model": {"input": 101, "output": 20, "calls": 1}}
    assert task.siding("verify").returncode == 0


def test_runs_that_live_at_once_are_counted_apart(task: Sandbox) -> None:
    go_on = task.directory / "go-on"
    names = {"one": ["ask"], "two": ["ask", "ask"]}
    for name, asks in names.items():
        words = client(*asks, str(go_on), "ask")
        task.siding("run", "--detach", "--name", name, "--meter", "--", *words)
    for name in names:
        until(task, name, "answered")
    go_on.touch()
    for name in names:
        task.siding("output", name, "--follow")
    for _ in range(500):
        found = {step.get("name"): step for step in task.steps() if step["kind"] == "run"}
        if len(found) == 2 and all("wire" in step for step in found.values()):
            break
        time.sleep(0.02)
    assert {name: step["wire"]["requests"] for name, step in found.items()} == {"one": 2, "two": 3}


def test_turns_that_are_asked_for_have_their_part(task: Sandbox) -> None:
    checkpoint = (
        "import subprocess; subprocess.run(['siding', 'checkpoint', '-m', 'a'], check=True)"
    )
    script = f"{CLIENT}\n{checkpoint}\nask(); ask()\n"
    task.siding("run", "--meter", "--", sys.executable, "-c", script, "ask")
    turn = next(step for step in task.steps() if step.get("origin") == "turn")
    assert turn["wire"]["requests"] == 1
    assert run_of(task)["wire"]["requests"] == 3


def test_what_is_not_recorded_is_not_metered(task: Sandbox) -> None:
    refused = task.siding("run", "--no-record", "--meter", "--", "true", status=2)
    assert b"--meter keeps what it counts in the step" in refused.stderr
