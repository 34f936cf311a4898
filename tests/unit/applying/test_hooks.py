"""The person's commit hooks see the last commit of an apply, and may change it."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from siding.applying.apply import ApplyPlan, Mode
from siding.applying.git.commits import RawCommit, read_commits
from siding.applying.rehearsal import HookRefused, with_hooks

from .test_plan import agents, plan_of


def install(desk: Desk, name: str, script: str) -> None:
    hook = desk.sandbox.repo / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


def hooked(desk: Desk, mode: Mode = Mode.COMMIT) -> tuple[ApplyPlan, ApplyPlan, list[RawCommit]]:
    """Return the plan before and after the hooks, and the commits before and after."""
    with plan_of(desk, mode) as (plan, bench, before):
        found, settings = with_hooks(desk.project, bench, plan)
        assert [Path(each.partition("=")[2]) for each in settings] == [
            desk.sandbox.repo / ".git/hooks"
        ]
        new = [each.sha for each in found.commits]
        return plan, found, [*before[-1:], *read_commits(bench, new)[-1:]]


def test_hooks_that_change_nothing_leave_the_plan_as_it_is(desk: Desk) -> None:
    desk.write("one", "1\n")
    plan, found, _ = hooked(desk)
    assert found == plan
    install(desk, "pre-commit", "exit 0")
    install(desk, "commit-msg", f'cp "$1" {desk.sandbox.directory}/message')
    plan, found, (commit, _) = hooked(desk)
    assert found == plan
    assert (desk.sandbox.directory / "message").read_bytes() == commit.message


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("pre-commit", "echo formatted >>two; git add two"),
        ("commit-msg", 'echo "Checked: yes" >>"$1"'),
        ("commit-msg", 'echo a ticket >"$1"'),
    ],
)
def test_what_a_hook_changes_is_in_the_last_commit(desk: Desk, name: str, script: str) -> None:
    agents(desk, "one")
    desk.write("two", "1\n")
    install(desk, name, script)
    plan, found, (before, after) = hooked(desk)
    assert plan.commits[:-1] == found.commits[:-1]
    assert (after.parents, after.author) == (before.parents, before.author)
    assert (found.new, found.tree, found.message) == (after.sha, after.tree, after.text)
    assert found.commits[-1] == plan.commits[-1]._replace(sha=after.sha, subject=after.subject)
    assert (after.tree != before.tree) == (name == "pre-commit")
    assert (after.message != before.message) == (name == "commit-msg")
    assert [each.path for each in found.changes] == [b"one", b"two"]
    (two,) = [each for each in found.changes if each.path == b"two"]
    assert (two in plan.changes) == (name == "commit-msg")


def test_a_merge_has_a_hook_of_its_own(desk: Desk) -> None:
    desk.write("one", "1\n")
    install(desk, "pre-merge-commit", "exit 1")
    plan, found, _ = hooked(desk)
    assert found == plan
    with pytest.raises(HookRefused):
        hooked(desk, Mode.MERGE)
    install(desk, "pre-commit", "exit 1")
    with pytest.raises(HookRefused):
        hooked(desk)


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg"])
def test_a_hook_can_refuse(desk: Desk, name: str) -> None:
    desk.write("one", "1\n")
    install(desk, name, "exit 1")
    with pytest.raises(HookRefused):
        hooked(desk)
    plan, found, _ = hooked(desk, Mode.PATCH)  # there is no commit
    assert found == plan
