"""What the verbs of `siding phase` say of a move."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from unit.faces.cli.in_process import CommandLine

PHASES = """\
version: 1
phases:
  names: [plan, build, done]
"""


@pytest.fixture
def phases(desk: Desk) -> Path:
    """The settings of a task in a project with three phases; a test may add gates."""
    settings = desk.project.layout.config_yaml
    settings.write_text(PHASES, encoding="utf-8")
    return settings


def test_a_task_in_no_phase(desk: Desk, phases: Path, siding: CommandLine) -> None:
    assert "the task is in no phase" in siding("phase", "status").err
    assert siding.json("phase", "status", "--json") is None
    assert "siding: error: " in siding("phase", "next-step", "work", status=1).err


def test_each_move_says_where_the_task_is_and_its_commit(
    desk: Desk, phases: Path, siding: CommandLine
) -> None:
    moves = (
        (("start", "plan", "begin"), "phase plan"),
        (("next-step", "more"), "phase plan"),
        (("next-part", "build", "planned"), "phase build"),
        (("back-part", "plan", "not yet"), "phase plan"),
        (("error", "it broke"), "recorded in plan"),
    )
    commits: list[str] = []
    for number, (words, said) in enumerate(moves, 1):
        err = siding("phase", *words).err
        assert err.startswith(f"siding: work · {said}, step {number} · commit ")
        commits.append(err.split()[-1] + " " + words[-1])
    made = desk.git("log", "-5", "--reverse", "--format=%h %s", "--abbrev=7").splitlines()
    for commit, line in zip(commits, made, strict=True):
        sha, _, summary = commit.partition(" ")
        assert line.startswith(sha)
        assert line.endswith(summary)
    assert siding("phase", "status").out.splitlines()[1] == "[plan] > build > done · step 5"


def test_a_move_for_programs(desk: Desk, phases: Path, siding: CommandLine) -> None:
    siding("phase", "start", "plan", "begin")
    desk.write("new", "new\n")
    made = siding.json("phase", "next-step", "more", "--json")
    assert (made["task"], made["phase"], made["step"]) == (desk.task.id, "plan", 2)
    assert (made["action"], made["summary"], made["gates"]) == ("next-step", "more", [])
    assert made["git_commit"] == desk.git("rev-parse", "HEAD")
    assert desk.git("show", "--format=", "--name-only", "HEAD") == "new"


def test_a_phase_that_does_not_follow_is_refused(
    desk: Desk, phases: Path, siding: CommandLine
) -> None:
    siding("phase", "start", "plan", "begin")
    before = desk.git("rev-parse", "HEAD")
    refused = siding("phase", "next-part", "done", "planned", status=1).err
    assert "'done' does not follow 'plan'\n  hint: possible: build" in refused
    assert "siding: error: " in siding("phase", "back-part", "build", "why", status=1).err
    assert "siding: error: " in siding("phase", "next-part", "zzz", "what", status=1).err
    assert desk.git("rev-parse", "HEAD") == before


def test_a_gate_that_does_not_hold_is_named_and_nothing_moves(
    desk: Desk, phases: Path, siding: CommandLine
) -> None:
    phases.write_text(PHASES + "  gates:\n    plan:\n      - command: test -f plan.md\n")
    siding("phase", "start", "plan", "begin")
    said = siding("phase", "next-part", "build", "planned", status=1)
    assert "phase 'plan' cannot be left: gate 'test -f plan.md' ended with 1" in said.err
    assert siding.json("phase", "status", "--json")["current_phase"] == "plan"
    desk.write("plan.md", "a plan\n")
    assert " held · " in siding("phase", "next-part", "build", "planned").err
    assert siding.json("phase", "status", "--json")["current_phase"] == "build"


def test_commits_that_a_rollback_went_back_from_and_paths_that_are_left_out_are_named(
    desk: Desk, phases: Path, siding: CommandLine
) -> None:
    siding("phase", "start", "plan", "begin")
    desk.write("bad.txt", "bad\n")
    desk.git("add", "bad.txt")
    desk.git("commit", "-qm", "the wrong way")
    sha = desk.git("rev-parse", "--short=10", "HEAD")
    desk.checkpoint()
    siding("rollback", "--files", "--step", "1")
    said = siding("phase", "next-step", "another way").err
    assert f"the branch no longer has commit {sha} the wrong way: a rollback went back" in said
    assert "not in the commit" not in said
    desk.git("init", "-q", "inner")
    desk.git("-C", "inner", "commit", "--allow-empty", "-qm", "of its own")
    said = siding("phase", "next-step", "with a repository in it").err
    assert "1 path not in the commit:" in said
    assert said.splitlines()[-1] == "siding:   | inner: it is a repository of its own"
