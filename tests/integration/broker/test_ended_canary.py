"""What waited for an answer does not run, in whatever way its run ends: a canary would say so.

The agent is the worst that there may be: it minds no signal, does not end with its run, and takes a
hook that a signal has ended for one that has no objection, as Claude Code does. If the hook does
not say no, the canary is there. `run.py prove` tries all ways (row `ended`), the suite one.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from sandbox import SIDING, Sandbox

from .inside import until

SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
AGENT = f"""#!{sys.executable}
import json, os, signal, subprocess, sys
ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
def as_usual():
    for each in ENDS:
        signal.signal(each, signal.SIG_DFL)
for each in ENDS:
    signal.signal(each, signal.SIG_IGN)
settings = json.loads(sys.argv[sys.argv.index("--settings") + 1])
(group,) = settings["hooks"]["PreToolUse"]
(hook,) = group["hooks"]
said = {{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c",
        "tool_input": {{"command": "git push --force"}}}}
files = os.environ["FILES"]
running = subprocess.Popen(hook["command"], shell=True, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, preexec_fn=as_usual)
open(files + "/pids", "w").write(f"{{os.getpid()}} {{running.pid}}")
output, _ = running.communicate(json.dumps(said).encode())
refused = running.returncode == 2
if running.returncode == 0 and output.strip():
    specific = json.loads(output).get("hookSpecificOutput", {{}})
    refused = specific.get("permissionDecision") == "deny"
open(files + ("/refused" if refused else "/canary"), "w").close()
"""
SIGNALS = ("TERM", "HUP", "INT")
WAYS = (
    "stop",
    "stop --now",
    *(f"{each} host" for each in (*SIGNALS, "KILL")),
    *(f"{each} hook" for each in SIGNALS),
    *(f"{each} group" for each in SIGNALS),
    "KILL broker",
    "KILL keeper",
    "KILL host and keeper",
    "KILL all but the agent",
)


class Waiting(NamedTuple):
    """A run whose agent waits for a person. `agent` and `hook` are process ids."""

    run: "subprocess.Popen[bytes]"
    agent: int
    hook: int
    files: Path


@contextmanager
def waiting(sandbox: Sandbox) -> Iterator[Waiting]:
    programs, files = sandbox.directory / "programs", sandbox.directory / "files"
    programs.mkdir()
    files.mkdir()
    (programs / "claude").write_text(AGENT)
    (programs / "claude").chmod(0o755)
    path = os.pathsep.join([str(programs), sandbox.env["PATH"]])
    run = subprocess.Popen(
        [*SIDING, "run", "--ask", "wait", "--", "claude"],
        cwd=sandbox.repo,
        env={**sandbox.env, "PATH": path, "FILES": str(files)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    agent = 0
    try:
        until(lambda: sandbox.json("decide", "list", "--json"))
        agent, hook = map(int, (files / "pids").read_text().split())
        yield Waiting(run, agent, hook, files)
    finally:
        run.kill()
        run.wait()
        with suppress(ProcessLookupError):
            os.kill(agent or run.pid, signal.SIGKILL)


def children(pid: int, *named: bytes) -> list[int]:
    """Return the children of a process whose command line has one of these words."""
    found = []
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            if not named or any(each in words for each in named):
                found.append(int(child))
    return found


def descendants(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        found += children(each)
    return found


def ends(sandbox: Sandbox, it: Waiting, way: str) -> None:
    """End the run, or what the hook needs to live, in one of the ways."""
    word, _, whom = way.partition(" ")
    if word == "stop":
        subprocess.Popen(
            [*SIDING, "stop", "--all", *whom.split()], cwd=sandbox.repo, env=sandbox.env
        ).wait(60)
        return
    number = signal.Signals[f"SIG{word}"]
    host = it.run.pid
    parent = int(Path(f"/proc/{it.agent}/stat").read_text().rpartition(")")[2].split()[1])
    victims = {
        "host": [host],
        "hook": [*children(it.hook), it.hook],
        "broker": children(host, b"__broker"),
        "keeper": [parent] if parent != host else [],
        "host and keeper": [host, parent],
        "all but the agent": [
            each for each in descendants(host) if each not in descendants(it.agent)
        ],
    }
    if whom == "group":
        os.killpg(os.getpgid(it.agent), number)
    else:
        assert victims[whom] or whom == "keeper", f"there is no {whom}"
        for pid in victims[whom]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def is_over(it: Waiting) -> bool:
    """Tell whether the agent has an answer, or is gone with its run."""
    done = (it.files / "refused").exists() or (it.files / "canary").exists()
    with suppress(OSError):
        state = Path(f"/proc/{it.agent}/stat").read_text().rpartition(")")[2].split()[0]
        return done or state == "Z"
    return True


@pytest.mark.timeout(300)
@pytest.mark.parametrize("way", WAYS)
def test_what_waited_does_not_run(sandbox: Sandbox, way: str) -> None:
    sandbox.siding("task", "start", "canary")
    (sandbox.repo / ".siding").mkdir(exist_ok=True)
    (sandbox.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    with waiting(sandbox) as it:
        time.sleep(random.Random(f"{SEED} {way}").uniform(0, 0.5))
        ends(sandbox, it, way)
        if way.startswith("KILL"):
            time.sleep(1)  # another host or broker may take its place: the hook goes on waiting
            stop = [*SIDING, "stop", "--all"]
            subprocess.run(stop, cwd=sandbox.repo, env=sandbox.env, check=False)
        with suppress(AssertionError):  # what waits on has not run either
            until(lambda: is_over(it), 10 if way.startswith("KILL") else 60)
        time.sleep(0.2)
        assert way.startswith("KILL") or is_over(it)
        assert not (it.files / "canary").exists(), "what waited for an answer has run"
