"""The isolation check between tasks: no false alarm, whatever Siding itself does side by side."""

import subprocess
from typing import Any

import pytest

from sandbox import SIDING, Sandbox

WORK = "echo {0} >{0}.txt; git add -A; git commit -qm {0}; sleep 0.3; git commit -q --amend -m {0}"


def changes(step: dict[str, Any], weight: str = "alarm") -> list[dict[str, Any]]:
    return [each for each in step["isolation"]["changes"] if each["weight"] == weight]


def start(sandbox: Sandbox, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*SIDING, "-q", *words], cwd=sandbox.repo, env=sandbox.env, stdin=subprocess.DEVNULL
    )


def test_eight_tasks_at_once_are_no_alarm(sandbox: Sandbox) -> None:
    names = [f"t{number}" for number in range(8)]
    for name in names:
        sandbox.siding("task", "start", name, "--no-switch")
    sandbox.siding("task", "start", "ready")
    sandbox.siding("run", "-t", "ready", "--", "sh", "-c", "echo done >done.txt")
    at_work = [start(sandbox, "run", "-t", n, "--", "sh", "-c", WORK.format(n)) for n in names]
    sandbox.siding("task", "start", "another", "--no-switch")
    sandbox.siding("task", "close", "another", "--force")
    sandbox.siding("apply", "-t", "ready", "--no-close")
    assert [each.wait(60) for each in at_work] == [0] * 8
    assert (sandbox.repo / "done.txt").exists()
    for name in names:
        (step,) = sandbox.steps(name)
        assert step["isolation"] == {"changes": [], "files": "looked at"}


def test_what_is_done_to_a_task_at_rest_is_an_alarm(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "victim", "--no-switch")
    sandbox.siding("task", "start", "one")
    victim = sandbox.workspace("victim")
    branch = sandbox.json("task", "show", "victim", "--format", "json")["branch"]
    script = f"git -C {victim} commit -q --allow-empty -m x; git -C {victim} switch -qc y"
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    found = {(each["what"], each["name"], each["how"]) for each in changes(step)}
    assert ("branch", branch, "moved") in found
    assert (
        "worktree",
        sandbox.json("task", "show", "victim", "--format", "json")["id"],
        "changed",
    ) in found


def test_a_workspace_that_is_swapped_is_an_alarm(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "victim", "--no-switch")
    sandbox.siding("task", "start", "one")
    victim = sandbox.workspace("victim")
    sandbox.siding("run", "--", "sh", "-c", f"mv {victim} {victim}.away; mkdir {victim}")
    (step,) = sandbox.steps()
    assert ("workspace", victim.name, "changed") in {
        (each["what"], each["name"], each["how"]) for each in changes(step)
    }


@pytest.mark.parametrize("pack", [False, True])
def test_refs_are_told_apart_from_how_they_are_kept(sandbox: Sandbox, pack: bool) -> None:
    sandbox.git("branch", "stays")
    sandbox.git("branch", "goes")
    sandbox.git("tag", "v1")
    sandbox.siding("task", "start", "one")
    packing = "git pack-refs --all; " if pack else ""
    sandbox.siding(
        "run",
        "--",
        "sh",
        "-c",
        f"git commit -q --allow-empty -m x; git branch -qD goes; git tag -f v1; {packing}true",
    )
    (step,) = sandbox.steps()
    assert {(each["what"], each["name"], each["how"]) for each in changes(step)} == {
        ("branch", "goes", "removed"),
        ("tag", "v1", "moved"),
    }


def test_an_edit_of_the_checkout_is_seen_wherever_it_is(sandbox: Sandbox) -> None:
    """A tracked file, a new one, a removed one, one in a directory that git does not know."""
    (sandbox.repo / "notes").mkdir()
    (sandbox.repo / "notes" / "old.md").write_text("old")
    (sandbox.repo / "dirty.txt").write_text("dirty since before")
    (sandbox.repo / ".gitignore").write_text("*.log\n")
    sandbox.siding("task", "start", "one")
    repo = sandbox.repo
    script = (
        f"echo 2 >{repo}/hello.txt; rm {repo}/src/a.py; echo more >>{repo}/notes/old.md; "
        f"echo new >{repo}/notes/new.md; echo log >{repo}/x.log; "
        f"touch -d 2001-01-01 {repo}/hello.txt"
    )
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    (found,) = changes(step)
    assert found["what"] == "files"
    assert set(found["name"].split(", ")) == {
        "hello.txt",
        "notes/new.md",
        "notes/old.md",
        "src/a.py",
    }


def test_a_look_is_left_out_where_it_is_switched_off(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    (sandbox.project / "config.yaml").write_text("isolation:\n  files: never\n")
    sandbox.siding("run", "--", "sh", "-c", f"echo 2 >{sandbox.repo}/hello.txt")
    (step,) = sandbox.steps()
    assert step["isolation"] == {"changes": [], "files": "not looked at"}


def test_a_new_index_that_holds_the_same_is_no_change(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    script = f"touch {sandbox.repo}/hello.txt; git -C {sandbox.repo} update-index --refresh"
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    assert [each["what"] for each in changes(step)] in ([], ["files"])


def test_our_own_records_are_watched(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    ledger = sandbox.project / "tasks" / sandbox.workspace().name / "ledger.jsonl"
    sandbox.siding("run", "--", "true")
    sandbox.siding("run", "--", "sh", "-c", f"touch {ledger}; echo >>{sandbox.workspace()}/.git")
    step = sandbox.steps()[-1]
    assert {each["name"] for each in changes(step)} == {
        str(ledger),
        str(sandbox.workspace() / ".git"),
    }


def test_odd_things_in_the_git_directory_neither_stop_nor_hang_it(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    git = sandbox.repo / ".git"
    script = (
        f"mkfifo {git}/refs/heads/pipe; ln -s / {git}/refs/heads/loop; ln -s loop {git}/hooks/x; "
        f"mkfifo {git}/info/attributes; rm -f {git}/ORIG_HEAD; mkdir {git}/shallow"
    )
    sandbox.siding("run", "--", "sh", "-c", script)
    (step,) = sandbox.steps()
    found = {(each["what"], each["name"]) for each in step["isolation"]["changes"]}
    assert found == {
        ("branch", "pipe"),
        ("branch", "loop"),
        ("hook", "x"),
        ("git", "info/attributes"),
        ("git", "shallow"),
    }


def test_looking_at_the_checkout_runs_nothing_of_its(sandbox: Sandbox) -> None:
    """Filters, monitors and attributes of the checkout itself: only plain git sets them off."""
    fired = sandbox.directory / "fired"
    evil = f"touch {fired}; cat"
    sandbox.siding("task", "start", "one")
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor", "diff.evil.command"):
        sandbox.git("config", key, evil)
    (sandbox.repo / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    (sandbox.repo / ".gitattributes").write_text("* filter=evil diff=evil\n")
    sandbox.siding("run", "--", "sh", "-c", f"echo 2 >{sandbox.repo}/hello.txt")
    (step,) = sandbox.steps()
    assert step["isolation"]["files"] == "looked at"
    assert [each["name"] for each in changes(step)] == ["hello.txt"]
    assert not fired.exists()
    subprocess.run(
        ["git", "status"], cwd=sandbox.repo, env=sandbox.env, capture_output=True, check=False
    )
    assert fired.exists(), "the trap is none"


def test_a_task_that_works_longer_than_this_run_is_no_alarm(sandbox: Sandbox) -> None:
    """The other run began before this one and ends after it; it commits in between."""
    for name in ("slow", "quick"):
        sandbox.siding("task", "start", name, "--no-switch")
    flags = sandbox.directory
    script = (
        f"touch {flags}/up; until test -e {flags}/go; do sleep 0.02; done; "
        f"git commit -q --allow-empty -m x; touch {flags}/made; "
        f"until test -e {flags}/end; do sleep 0.02; done"
    )
    slow = start(sandbox, "run", "-t", "slow", "--", "sh", "-c", script)
    quick = (
        f"until test -e {flags}/up; do sleep 0.02; done; touch {flags}/go; "
        f"until test -e {flags}/made; do sleep 0.02; done"
    )
    sandbox.siding("run", "-t", "quick", "--", "sh", "-c", quick)
    (flags / "end").touch()
    assert slow.wait(60) == 0
    for name in ("slow", "quick"):
        assert sandbox.steps(name)[0]["isolation"]["changes"] == []


def test_a_run_without_a_step_is_watched_as_well(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    script = f"echo 2 >{sandbox.repo}/hello.txt; git config user.name Eve"
    done = sandbox.siding("run", "--no-record", "--", "sh", "-c", script)
    assert b"your checkout: hello.txt changed" in done.stderr
    assert b"user.name changed" in done.stderr
    assert b"isolation.changed" in sandbox.siding("worktree", "events").stdout
    quiet = sandbox.siding("run", "--no-record", "--", "true")
    assert b"outside" not in quiet.stderr
