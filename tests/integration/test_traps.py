"""Traps: what a run leaves that a program outside runs later. Listed, held, seen once."""

import json
import shlex
import sys
from typing import Any

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox
from siding.forks.forks import fork
from siding.forks.state import recorded
from siding.record.place.project import require_project
from siding.record.place.selection import select
from siding.record.place.wiring import open_app
from terminal import Terminal

SCRIPTS = json.dumps({"name": "app", "version": "1", "scripts": {"test": "true"}})


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "demo")
    return sandbox


def run(sandbox: Sandbox, script: str, *options: str) -> dict[str, Any]:
    """Run a script in the task; return its step."""
    sandbox.siding("-q", "run", *options, "--", "sh", "-c", script)
    step: dict[str, Any] = sandbox.steps()[-1]
    return step


def named(step: dict[str, Any]) -> dict[str, str]:
    return {each["path"]: each["how"] for each in step.get("traps", [])}


def test_a_step_lists_what_it_left_and_no_more(task: Sandbox) -> None:
    first = run(task, "echo 'use flake' >.envrc; mkdir .vscode; echo {} >.vscode/tasks.json; ls >x")
    assert named(first) == {".envrc": "made", ".vscode/tasks.json": "made"}
    assert {each["by"] for each in first["traps"]} == {"direnv", "VS Code"}
    assert "traps" not in run(task, "echo more >>x; rm .vscode/tasks.json")
    assert named(run(task, "chmod +x .envrc")) == {".envrc": "changed"}
    assert named(run(task, "git mv -f x y; mkdir sub; mv .envrc sub/.envrc")) == {
        "sub/.envrc": "made"
    }
    assert "trap      .envrc (direnv, when somebody enters the directory)" in shown(task, "1")
    assert "(2 traps)" in task.siding("log").stdout.decode()


def shown(sandbox: Sandbox, step: str) -> str:
    return sandbox.siding("show", step).stdout.decode()


def test_of_some_files_only_the_part_that_runs_counts(task: Sandbox) -> None:
    run(task, f"echo '{SCRIPTS}' >package.json; echo '* text' >.gitattributes")
    other = SCRIPTS.replace('"1"', '"2"')
    assert "traps" not in run(task, f"echo '{other}' >package.json")
    evil = SCRIPTS.replace('"true"', '"curl"')
    assert named(run(task, f"echo '{evil}' >package.json")) == {"package.json": "changed"}
    line = "*.bin filter=lfs"
    assert named(run(task, f"echo '{line}' >>.gitattributes")) == {".gitattributes": "changed"}


def test_links_that_lead_out_are_listed(task: Sandbox) -> None:
    step = run(
        task,
        "mkdir d; ln -s /etc/passwd out; ln -s ../../x d/up; ln -s ../.git/config d/git; "
        "ln -s ../hello.txt d/in; ln -s d/in also",
    )
    assert named(step) == {"out": "made", "d/up": "made", "d/git": "made"}


def test_the_table_can_be_changed_in_the_settings(task: Sandbox) -> None:
    home = task.directory / "siding" / "config.yaml"
    home.write_text("traps:\n  remove: [conftest.py]\n")
    (task.project / "config.yaml").write_text(
        "traps:\n  add:\n  - {pattern: deploy/*.sh, by: our deploy, when: on the server}\n"
    )
    step = run(task, "mkdir deploy; touch deploy/a.sh conftest.py Makefile deploy/b.txt")
    assert {each["path"]: each["by"] for each in step["traps"]} == {
        "deploy/a.sh": "our deploy",
        "Makefile": "make",
    }


def test_a_mistake_in_the_settings_is_told_and_stops_no_recording(task: Sandbox) -> None:
    (task.project / "config.yaml").write_text("traps:\n  remove: [nothing]\n")
    done = task.siding("run", "--", "true", status=2)
    assert b"traps.remove" in done.stderr
    (task.workspace() / "Makefile").touch()
    done = task.siding("checkpoint")
    assert b"traps.remove" in done.stderr
    assert named(task.steps()[-1]) == {"Makefile": "made"}


def test_many_are_counted_and_the_first_are_named(task: Sandbox) -> None:
    step = run(task, "mkdir .husky; for i in $(seq 130); do echo $i >.husky/$i; done")
    assert len(step["traps"]) == 100
    assert step["trap_count"] == 130
    assert "and 110 more" in shown(task, "1")


# -- held until somebody has seen them ------------------------------------------------------------

LEFT = "echo evil >.envrc; echo 'all: x' >Makefile; echo ok >ok.txt"


@pytest.fixture
def held(task: Sandbox) -> Sandbox:
    """A task in which every trap is held, whether or not a sandbox works on this machine."""
    (task.directory / "siding" / "config.yaml").write_text("traps: {hold: always}\n")
    return task


def told(sandbox: Sandbox, *arguments: str) -> str:
    """Return what a command says that is held."""
    done = sandbox.siding(*arguments, status=5)
    return done.stderr.decode()


def test_an_apply_is_held_until_somebody_has_seen_what_is_in_it(held: Sandbox) -> None:
    run(held, LEFT)
    before = held.git("rev-parse", "main")
    for how in ((), ("--mode", "squash"), ("--mode", "patch"), ("--if", "touch ran"), ("--json",)):
        said = told(held, "apply", *how)
        assert ".envrc, Makefile were left for other programs to run" in said
        assert "`siding trust -t demo --show`" in said
        assert "`siding trust -t demo`" in said
    assert told(held, "apply", "--mode", "patch", "-o", "-")
    assert held.git("rev-parse", "main") == before
    assert held.git("status", "--porcelain") == ""
    plan = held.json("apply", "--dry-run", "--json")
    assert [each["path"] for each in plan["traps"]] == [".envrc", "Makefile"]
    assert plan["held"] is True
    shows = held.siding("trust", "-t", "demo", "--show")
    assert shows.stdout.count(b"not seen yet") == 2
    assert b"siding diff -t demo .envrc Makefile" in shows.stderr
    held.siding("trust", "-t", "demo")
    held.siding("apply")
    assert (held.repo / ".envrc").read_text() == "evil\n"


def test_what_was_seen_is_not_asked_again_and_what_changed_is(held: Sandbox) -> None:
    run(held, LEFT)
    held.siding("trust", "-t", "demo")
    held.siding("apply", "--no-close")
    run(held, "echo ok >>ok.txt; echo '{\"a\": 1}' >package.json")
    held.siding("apply", "--no-close")  # nothing new that anybody runs
    (held.workspace() / ".envrc").write_text("other\n")
    assert ".envrc was left for other programs to run, and nobody has seen it yet" in told(
        held, "apply"
    )
    (held.workspace() / ".envrc").write_text("evil\n")  # as it was seen
    held.siding("apply", "--no-close")
    held.siding("task", "start", "other")
    run(held, "git rm -q .envrc")
    held.siding("apply", "--no-close")  # a file that is removed is run by nobody
    run(held, "echo evil >.envrc")
    held.siding("apply")  # the same content in another task


def test_only_what_is_applied_is_held(held: Sandbox) -> None:
    run(held, "echo ok >ok.txt")
    run(held, "echo evil >.envrc")
    held.siding("apply", "--paths", "ok.txt")
    held.siding("apply", "--steps", "1", "--onto", "main")
    assert told(held, "apply", "--steps", "2")
    assert told(held, "apply", "--paths", ".envrc")


def test_a_target_that_moved_on_asks_no_second_time(held: Sandbox) -> None:
    (held.repo / "Makefile").write_text("".join(f"t{n}:\n\ttrue\n" for n in range(9)))
    held.git("add", "-A")
    held.git("commit", "-qm", "a Makefile")
    held.siding("task", "start", "later")
    run(held, "sed -i '1s/.*/first:/' Makefile")
    held.siding("trust", "-t", "later")
    text = (held.repo / "Makefile").read_text()
    (held.repo / "Makefile").write_text(text + "last:\n\ttrue\n")
    held.git("commit", "-qam", "mine")
    held.siding("apply")
    merged = (held.repo / "Makefile").read_text()
    assert merged.startswith("first:")
    assert "last:" in merged


def test_a_file_that_was_committed_although_it_is_ignored_is_held_too(held: Sandbox) -> None:
    run(held, "echo .envrc >.gitignore; echo evil >.envrc; git add -f .envrc; git commit -qm x")
    assert ".envrc" in told(held, "apply")


def test_a_pull_request_is_held_before_anything_is_pushed(held: Sandbox) -> None:
    bare = held.directory / "remote.git"
    held.git("init", "-q", "--bare", str(bare))
    held.git("remote", "add", "origin", str(bare))
    held.git("push", "-q", "origin", "main")
    run(held, LEFT)
    assert "nothing was pushed" in told(held, "pr")
    assert held.git("--git-dir", str(bare), "branch").split() == ["main"]
    assert held.siding("pr", "--dry-run").returncode == 0
    held.siding("trust", "-t", "demo")
    held.siding("pr", status=None)  # whether gh is there is not the question
    assert len(held.git("--git-dir", str(bare), "branch").split()) == 2


def test_a_run_without_a_sandbox_is_held_and_says_so_in_its_step(held: Sandbox) -> None:
    run(held, LEFT)
    said = told(held, "run", "--", "touch", "ran")
    assert "run it with --sandbox, or look first: `siding trust -t demo --show`" in said
    assert "held until somebody looks" in said
    assert not (held.workspace() / "ran").exists()
    step = held.steps()[-1]
    assert (step["status"], step["exit_code"]) == ("blocked", 5)
    assert ".envrc" in step["reason"]
    assert b"siding show 2" in held.siding("inbox").stdout
    told(held, "run", "--no-record", "--", "touch", "ran")
    assert not (held.workspace() / "ran").exists()
    held.siding("trust", "-t", "demo")
    held.siding("run", "--", "touch", "ran")
    assert (held.workspace() / "ran").exists()
    assert b"siding show 2" not in held.siding("inbox").stdout


def test_only_a_person_says_that_they_have_seen_it(held: Sandbox) -> None:
    run(held, "true")
    script = f"echo x >.envrc; exec {shlex.join([sys.executable, '-m', 'siding'])} trust -t demo"
    done = held.siding("run", "--", "sh", "-c", script, status=1)
    assert b"a person's to see" in done.stderr
    assert told(held, "apply")
    held.siding("trust", "-t", "demo")
    held.siding("trust", "--revoke")
    assert told(held, "apply")


def at_terminal(sandbox: Sandbox, answer: bytes, *arguments: str) -> tuple[int, bytes]:
    person = Terminal([*SIDING, *arguments], cwd=sandbox.repo, env=sandbox.env)
    try:
        person.wait_for(b"[y/N]")
        person.type(answer + b"\n")
        return person.finish(), person.seen
    finally:
        person.kill()


def test_at_a_terminal_a_person_is_asked_once(held: Sandbox) -> None:
    run(held, LEFT)
    status, seen = at_terminal(held, b"n", "apply", "--no-close")
    assert status == 5
    assert b".envrc (direnv, when somebody enters the directory)" in seen
    status, seen = at_terminal(held, b"y", "run", "--", "touch", "ran")
    assert status == 0, seen
    held.siding("apply")
    assert (held.repo / ".envrc").exists()


def test_nothing_is_held_where_that_is_switched_off(held: Sandbox) -> None:
    (held.project / "config.yaml").write_text("traps: {hold: never}\n")
    run(held, LEFT)
    held.siding("apply")


# -- by default, what was left in a sandbox -------------------------------------------------------


def test_without_a_sandbox_traps_are_listed_and_nothing_waits(task: Sandbox) -> None:
    run(task, LEFT)
    run(task, "true")
    done = task.siding("apply")
    assert b"run later by others: .envrc (direnv" in done.stderr
    assert not list(task.project.glob("tasks/*/sandboxed.json"))


@needs_bwrap
def test_what_a_sandboxed_run_leaves_is_held(task: Sandbox) -> None:
    done = task.siding("run", "--sandbox", "--", "sh", "-c", LEFT)
    assert b"left for other programs to run: .envrc, Makefile" in done.stderr
    told(task, "apply")
    told(task, "run", "--", "true")
    task.siding("run", "--sandbox", "--", "test", "-e", ".envrc")  # in a sandbox it goes on
    task.siding("trust", "-t", "demo")
    task.siding("run", "--", "true")
    task.siding("apply")


@needs_bwrap
def test_it_is_held_whichever_step_recorded_it(task: Sandbox) -> None:
    """What was gone back to, and what a run without a step left."""
    task.siding("run", "--sandbox", "--", "sh", "-c", LEFT)
    task.siding("undo")
    task.siding("run", "--", "true")
    task.siding("rollback", "--step", "1")
    told(task, "apply")
    task.siding("task", "start", "unrecorded")
    task.siding("run", "--no-record", "--sandbox", "--", "sh", "-c", LEFT)
    told(task, "run", "--no-record", "--", "true")
    told(task, "apply")


@needs_bwrap
def test_it_follows_the_files_into_other_tasks(task: Sandbox) -> None:
    task.siding("run", "--sandbox", "--", "sh", "-c", LEFT)
    task.siding("fork", "child", "-t", "demo")
    told(task, "run", "-t", "child", "--", "true")
    task.siding("task", "start", "third", "--from", "task:demo")
    told(task, "run", "-t", "third", "--", "true")
    told(task, "apply", "-t", "third")
    task.siding("task", "start", "free")
    task.siding("run", "-t", "free", "--", "true")


def made_fork(sandbox: Sandbox, name: str) -> str:
    """Make a fork of a task as programs do; return its id."""
    project = require_project(open_app(env=sandbox.env, cwd=sandbox.repo))
    made = fork(project, recorded(project, select(project, name)))
    made.close()
    return made.id


@needs_bwrap
def test_it_follows_the_files_into_the_forks_of_programs_and_back(task: Sandbox) -> None:
    first = made_fork(task, "demo")
    task.siding("run", "-t", first, "--", "true")
    task.siding("run", "-t", first, "--sandbox", "--", "sh", "-c", LEFT)
    task.siding("run", "-t", "demo", "--", "true")
    task.siding("task", "bring-back", first)
    told(task, "run", "-t", "demo", "--", "true")
    told(task, "apply", "-t", "demo")
    second = made_fork(task, "demo")
    told(task, "run", "-t", second, "--", "true")


COMMITTED = f"{LEFT}; git add -A; git commit -qm left"


@needs_bwrap
@pytest.mark.parametrize(
    "how",
    [
        ("--from", "branch:{branch}"),
        ("--from", "commit:{branch}~1"),
        ("--base", "{branch}"),
        ("--from", "made-inside"),
        ("--from", "built-on-it"),
    ],
    ids=["branch", "commit", "base", "made inside", "built on it"],
)
def test_it_follows_commits_into_a_task_that_names_them(
    task: Sandbox, how: tuple[str, str]
) -> None:
    script = f"{COMMITTED}; git commit -q --allow-empty -m more; git checkout -qb made-inside; "
    task.siding("run", "--sandbox", "--", "sh", "-c", f"{script}git commit -q --allow-empty -m x")
    branch = task.json("task", "show", "--format", "json")["branch"]
    task.git("branch", "built-on-it", branch)
    task.git(
        "branch",
        "-f",
        "built-on-it",
        task.git("commit-tree", "-p", branch, "-m", "y", f"{branch}^{{tree}}"),
    )
    option, named = how
    task.siding("task", "start", "third", option, named.format(branch=branch))
    said = told(task, "run", "-t", "third", "--", "true")
    assert ".envrc" in said


@needs_bwrap
def test_what_was_applied_is_inherited_by_nobody(task: Sandbox) -> None:
    task.siding("run", "--sandbox", "--", "sh", "-c", COMMITTED)
    task.siding("task", "start", "beside")
    assert not list(task.project.glob(f"tasks/{task_id(task, 'beside')}/sandboxed.json"))
    task.siding("trust", "-t", "demo")
    task.siding("apply", "-t", "demo", "--mode", "merge")
    task.siding("task", "start", "later")
    task.siding("run", "-t", "later", "--", "sh", "-c", "echo 'all: y' >Makefile")
    task.siding("run", "-t", "later", "--", "true")


def task_id(sandbox: Sandbox, name: str) -> str:
    found: str = sandbox.json("task", "show", name, "--format", "json")["id"]
    return found


@needs_bwrap
def test_it_follows_commits_into_a_worktree_that_is_adopted(task: Sandbox) -> None:
    task.siding("run", "--sandbox", "--", "sh", "-c", COMMITTED)
    branch = task.json("task", "show", "--format", "json")["branch"]
    beside = task.directory / "beside"
    task.git("worktree", "add", "-q", "-b", "mine", str(beside), branch)
    task.siding("worktree", "adopt", str(beside), "--name", "adopted")
    told(task, "run", "-t", "adopted", "--", "true")
