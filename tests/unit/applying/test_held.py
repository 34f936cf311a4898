"""Which traps an apply brings to the target, and that it waits until a person has seen them."""

import json
from collections.abc import Sequence

import pytest

from integration.undo.desk import Desk
from siding.applying.apply import ApplyRequest, preview, require_seen
from siding.applying.plan import ApplyPlan
from siding.record.recording.held_traps import TrapsUnseen
from siding.record.recording.task_traps import traps_now


def plan_of(desk: Desk, *paths: bytes) -> ApplyPlan:
    with preview(desk.project, ApplyRequest(task=desk.task.id, paths=paths)) as (_, plan, _):
        return plan


def named(plan: ApplyPlan) -> dict[str, str]:
    return {each.path: each.how for each in plan.traps}


def holding(desk: Desk, when: str = "always") -> Desk:
    """The next command on a desk, with traps held so."""
    desk.project.layout.config_yaml.write_text(f"traps: {{hold: {when}}}\n")
    return Desk.again(desk)


def agents(desk: Desk, names: Sequence[str]) -> None:
    desk.git("add", "-f", *names)
    desk.git("commit", "-q", "-m", "the agent's")


def test_a_task_that_has_changed_nothing_brings_none(desk: Desk) -> None:
    plan = plan_of(holding(desk))
    assert (plan.changes, plan.traps, plan.holds) == ((), (), False)


@pytest.mark.parametrize(("when", "held"), [("always", True), ("never", False)])
def test_what_nobody_has_seen_is_named_and_held_as_the_settings_say(
    desk: Desk, when: str, held: bool
) -> None:
    desk = holding(desk, when)
    desk.write("one", "1\n")
    assert (named(plan_of(desk)), plan_of(desk).holds) == ({}, False)
    desk.write(".envrc", "true\n")
    plan = plan_of(desk)
    assert (named(plan), plan.holds) == ({".envrc": "made"}, held)
    plan = plan_of(desk, b"one")
    assert (named(plan), plan.holds) == ({}, False)  # the part that is applied has none


def test_what_is_held_needs_the_word_of_a_person_once(desk: Desk) -> None:
    desk = holding(desk)
    desk.write(".envrc", "true\n")
    plan = plan_of(desk)
    for _ in range(2):
        with pytest.raises(TrapsUnseen) as why:
            require_seen(desk.project, desk.task, plan, seen=False)
    assert (why.value.task, why.value.traps) == (desk.task, plan.traps)
    assert (why.value.hint or "").startswith("nothing was applied. ")
    require_seen(desk.project, desk.task, plan, seen=True)
    assert traps_now(desk.project, desk.task.id).new == ()
    plan = plan_of(desk)
    assert (plan.traps, plan.holds) == ((), False)
    require_seen(desk.project, desk.task, plan, seen=False)


def test_what_is_not_held_is_not_noted_as_seen(desk: Desk) -> None:
    desk = holding(desk, "never")
    desk.write(".envrc", "true\n")
    for seen in (False, True):
        require_seen(desk.project, desk.task, plan_of(desk), seen=seen)
    assert len(plan_of(desk).traps) == 1


def test_what_the_target_has_already_is_no_trap_of_the_apply(desk: Desk) -> None:
    desk.write(".envrc", "true\n")
    desk.write("Makefile", "all:\n")
    (desk.sandbox.repo / ".envrc").write_text("true\n")
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", "theirs")
    assert named(plan_of(desk)) == {"Makefile": "made"}


def test_what_goes_is_no_trap(desk: Desk) -> None:
    (desk.sandbox.repo / ".envrc").write_text("true\n")
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", "theirs")
    desk.git("merge", "-q", "main")
    (desk.root / ".envrc").unlink()
    plan = plan_of(desk)
    assert [(each.path, each.status) for each in plan.changes] == [(b".envrc", "D")]
    assert plan.traps == ()


def test_what_was_seen_in_the_workspace_is_seen_when_it_is_merged(desk: Desk) -> None:
    """The merge makes another file of it, which nobody could see before."""
    lines = [f"export NUMBER={number}\n" for number in range(9)]
    with_agents, with_persons = list(lines), list(lines)
    with_agents[0], with_persons[8] = "export AGENTS=1\n", "export PERSONS=1\n"
    (desk.sandbox.repo / ".envrc").write_text("".join(lines))
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", "theirs")
    desk.git("merge", "-q", "main")
    (desk.sandbox.repo / ".envrc").write_text("".join(with_persons))
    desk.sandbox.git("commit", "-q", "-a", "-m", "theirs")
    desk.write(".envrc", "".join(with_agents))
    plan = plan_of(desk)
    (trap,) = plan.traps
    assert trap in traps_now(desk.project, desk.task.id).new
    assert plan.conflicts == ()


def test_an_ignored_file_that_was_committed_is_a_trap_by_what_arrives(desk: Desk) -> None:
    """No snapshot holds it. Of `package.json` only the scripts count."""
    (desk.sandbox.repo / ".gitignore").write_text("package.json\n*.lock\n")
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", "theirs")
    desk.git("merge", "-q", "main")
    desk.write("package.json", json.dumps({"name": "app"}))
    agents(desk, ["package.json"])
    plan = plan_of(desk)
    assert [each.path for each in plan.changes] == [b"package.json"]
    assert plan.traps == ()
    desk.write("package.json", json.dumps({"name": "app", "scripts": {"test": "evil"}}))
    agents(desk, ["package.json"])
    desk.write("Makefile", "all:\n")
    assert named(plan_of(desk)) == {"package.json": "made", "Makefile": "made"}
