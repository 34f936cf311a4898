"""The first agent at a terminal asks whether agents run guarded; the answer holds everywhere."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox
from terminal import Terminal

QUESTION = b"Run agents guarded, in all projects, from now on?"


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    """A task, and an agent that tries to write outside and tells whether it could."""
    programs = Path(sandbox.env["HOME"]) / ".local" / "bin"  # which a sandbox shows
    programs.mkdir(parents=True)
    claude = programs / "claude"
    claude.write_text('#!/bin/sh\necho hello >made.txt\necho x >"$HOME/outside"\necho "ran"\n')
    claude.chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    sandbox.siding("task", "start", "guarded")
    return sandbox


def at_terminal(task: Sandbox, *words: str) -> Terminal:
    return Terminal([*SIDING, *words], cwd=task.repo, env=task.env)


def ran(task: Sandbox, answers: Sequence[bytes], *words: str) -> bytes:
    """Run the agent at a terminal and answer what is asked; return what was shown."""
    person = at_terminal(task, "run", *words, "--", "claude", "-p", "x")
    for number, answer in enumerate(answers, 1):
        while person.seen.count(QUESTION) < number:
            person.until_quiet()
        person.until_quiet()
        person.type(answer)
    assert person.finish() == 0
    return person.seen


def outside(task: Sandbox) -> bool:
    """Tell whether the agent has written outside since this was asked last."""
    path = Path(task.env["HOME"]) / "outside"
    was_there = path.exists()
    path.unlink(missing_ok=True)
    return was_there


def newest(task: Sandbox) -> dict[str, object]:
    return dict(task.steps()[-1])


@needs_bwrap
def test_a_yes_is_asked_for_once_and_holds_in_scripts(task: Sandbox) -> None:
    task.siding("run", "--", "claude")  # nobody is at a terminal: nothing is different
    assert outside(task)
    shown = ran(task, [b"what?\n", b"y\n"])
    assert b"A sandbox works here (bwrap): recommended." in shown
    assert b"agents run guarded: sandboxed, and judged by the policy" in shown
    assert not outside(task)
    assert newest(task)["sandbox"]
    assert QUESTION not in ran(task, [])
    task.siding("run", "--", "claude", "-p", "x")
    assert not outside(task)
    task.siding("run", "--", "sh", "-c", 'echo x >"$HOME/outside"')
    assert outside(task), "it is about agents"
    task.siding("run", "--no-sandbox", "--", "claude")
    assert outside(task), "an option goes before it"
    assert task.siding("guard").stdout.startswith(b"on: ")


def test_a_no_is_kept_as_well(task: Sandbox) -> None:
    shown = ran(task, [b"n\n"])
    assert b"`siding guard on` changes that" in shown
    assert outside(task)
    assert QUESTION not in ran(task, [])
    assert outside(task)
    task.siding("guard", "ask")
    assert task.siding("guard").stdout.startswith(b"unasked: ")
    assert QUESTION in ran(task, [b"n\n"])


def test_the_own_agent_asks_as_others_do(task: Sandbox) -> None:
    script = Path(task.env["HOME"]) / "script.yaml"
    script.write_text("otherwise: {text: Fine.}\n")
    words = ("agent", "-p", "how are you", "--model", f"scripted:{script}")
    person = at_terminal(task, *words)
    while QUESTION not in person.seen:
        person.until_quiet()
    person.type(b"n\n")
    assert person.finish() == 0
    assert b"Fine." in person.seen
    assert task.siding("guard").stdout.startswith(b"off: ")


def test_no_answer_leaves_it_open(task: Sandbox) -> None:
    shown = ran(task, [b"\x04", b"n\n"][:1])
    assert b"the next agent asks again" in shown
    assert outside(task)
    assert task.siding("guard").stdout.startswith(b"unasked: ")


def test_where_all_of_it_is_set_nobody_is_asked(task: Sandbox) -> None:
    (Path(task.env["SIDING_HOME"]) / "config.yaml").write_text("sandbox: {mode: off}\n")
    (task.repo / ".siding").mkdir(exist_ok=True)
    (task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    assert QUESTION not in ran(task, [])


def test_what_a_guarded_agent_does_is_judged(task: Sandbox) -> None:
    task.siding("guard", "on")
    said = task.siding("run", "--no-sandbox", "--allow", "nonsense", "--", "claude", status=2)
    assert b"no rule in force has this name" in said.stderr, "the policy is in force for agents"
    task.siding("run", "--", "sh", "-c", "sudo -n true || true")  # and for nothing else
    (task.repo / ".siding").mkdir(exist_ok=True)
    (Path(task.project) / "config.yaml").write_text("policy: {enabled: false}\n")
    task.siding("run", "--no-sandbox", "--", "claude")


def test_an_agent_does_not_answer_for_a_person(task: Sandbox) -> None:
    inside = " ".join([*SIDING, "guard", "off"])
    task.siding("guard", "on")
    done = task.siding("run", "--", "sh", "-c", f"cd /; {inside}; {inside}", status=1)
    assert b"how agents run is for a person to say" in done.stderr
    assert json.loads((Path(task.env["SIDING_HOME"]) / "guard.json").read_text())["guard"] == "on"


@pytest.mark.parametrize("damage", [b"", b"{", b'{"version": 9}'])
def test_an_answer_that_cannot_be_read_stops_agents_alone(task: Sandbox, damage: bytes) -> None:
    """It may have been a yes."""
    path = Path(task.env["SIDING_HOME"]) / "guard.json"
    path.write_bytes(damage)
    assert b"guard.json" in task.siding("run", "--", "claude", status=1).stderr
    assert not outside(task)
    task.siding("run", "--", "true")
    assert path.read_bytes() == damage
    task.siding("guard", "off")
    task.siding("run", "--", "claude")
