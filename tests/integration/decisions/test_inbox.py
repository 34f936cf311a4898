"""The inbox: what waits, until its cause is gone, and who is told."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from sandbox import SIDING, Sandbox

QUESTION = json.dumps(
    {"task": "t", "source": "s", "items": [{"id": 1, "title": "Which?", "kind": "text"}]}
)


def kinds(sandbox: Sandbox) -> list[str]:
    return [each["kind"] for each in sandbox.json("inbox", "--json")]


def entry(sandbox: Sandbox) -> dict[str, Any]:
    (found,) = sandbox.json("inbox", "--json")
    assert isinstance(found, dict)
    return found


def test_work_that_the_policy_stopped_waits_until_there_is_another_step(sandbox: Sandbox) -> None:
    (sandbox.repo / ".siding").mkdir()
    (sandbox.repo / ".siding/policy.yaml").write_text("version: 1\n")
    sandbox.siding("run", "--no-tty", "--", "sudo", "ls", status=None)
    found = entry(sandbox)
    assert (found["kind"], found["step_id"], found["detail"]) == ("policy", "0001", "sudo ls")
    assert "blocked by policy" in found["title"]
    shown = sandbox.siding(*found["command"].split()[1:])
    assert b"sudo" in shown.stdout
    sandbox.siding("run", "--no-tty", "--", "true")
    assert kinds(sandbox) == []


def test_a_conflict_waits_while_it_is_being_resolved(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo theirs >hello.txt")
    (sandbox.repo / "hello.txt").write_text("mine\n")
    sandbox.git("commit", "-qam", "mine")
    sandbox.siding("apply", status=1)
    sandbox.siding("apply", "--resolve")
    found = entry(sandbox)
    assert (found["kind"], found["task_name"]) == ("conflict", "T")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo both >hello.txt")
    assert kinds(sandbox) == []


def test_a_step_that_runs_does_not_wait_and_one_that_was_killed_does(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    running = subprocess.Popen(
        [*SIDING, "run", "--no-tty", "--", "sh", "-c", "echo on; sleep 60"],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"on\n"
    assert kinds(sandbox) == []
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert entry(sandbox)["title"].startswith("interrupted:")
    sandbox.siding("task", "close", "T", "--force")
    assert kinds(sandbox) == [], "a closed task waits for nobody"


def test_a_broken_project_is_named_and_hides_no_other(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    sandbox.siding("decide", QUESTION, "--no-wait")
    projects = sandbox.project.parent
    for name, text in (
        ("gone-1234", json.dumps({"repo_root": "/nowhere/at/all"})),
        ("bad-1234", "{"),
    ):
        (projects / name).mkdir()
        (projects / name / "project.json").write_text(text)
    said = sandbox.siding("inbox", cwd=sandbox.directory)
    assert b"siding decide answer" in said.stdout
    assert b"gone-1234" in said.stderr
    assert b"bad-1234" in said.stderr


def test_texts_of_agents_are_shown_inert(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    item = {"id": 1, "title": "\x1b]0;title\x07\u202ered\nline", "kind": "text"}
    text = json.dumps({"task": "t", "source": "s", "items": [item]})
    sandbox.siding("decide", text, "--no-wait")
    for words in (("inbox",), ("decide", "list"), ("decide", "show")):
        shown = sandbox.siding(*words).stdout.decode()
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        assert "\\x1b]0;title" in shown


def test_notify_hooks_of_a_repository_need_trust(sandbox: Sandbox) -> None:
    told = sandbox.directory / "told"
    (sandbox.repo / ".siding").mkdir()
    hook = f'echo "$SIDING_WAITS_TITLE" >>{told}'
    (sandbox.repo / ".siding/config.yaml").write_text(json.dumps({"hooks": {"notify": [hook]}}))
    sandbox.siding("decide", QUESTION, "--no-wait")
    assert not told.exists()
    sandbox.siding("trust")
    sandbox.siding("decide", QUESTION, "--key", "k", "--no-wait")
    assert told.read_text() == "Which?\n"
    sandbox.siding("decide", QUESTION, "--key", "k", "--no-wait")
    assert told.read_text() == "Which?\n", "the same question starts to wait once"


def test_what_an_agent_wrote_is_no_command(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    config = {"version": 1, "hooks": {"notify": ['printf %s "$SIDING_WAITS_TITLE" >"$HOME/said"']}}
    (sandbox.project / "config.yaml").write_text(json.dumps(config))
    title = "`touch $HOME/bad` $(touch $HOME/bad); touch $HOME/bad\n\x1b[31mred"
    item = {"id": 1, "title": title, "kind": "text"}
    sandbox.siding("decide", json.dumps({"task": "t", "source": "s", "items": [item]}), "--no-wait")
    home = Path(sandbox.env["HOME"])
    assert not (home / "bad").exists()
    said = (home / "said").read_text()
    assert said.startswith("`touch $HOME/bad` $(touch")
    assert said.isprintable()


def test_watching_says_what_starts_to_wait(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    watcher = subprocess.Popen(
        [*SIDING, "inbox", "--watch"],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert watcher.stderr is not None
    assert watcher.stdout is not None
    assert b"nothing waits" in watcher.stderr.readline()
    sandbox.siding("decide", QUESTION, "--no-wait")
    assert b"Which?" in watcher.stdout.readline()
    assert b"siding decide answer" in watcher.stdout.readline()
    time.sleep(0.1)
    os.kill(watcher.pid, signal.SIGINT)
    watcher.communicate(timeout=60)
    assert watcher.returncode == 130
