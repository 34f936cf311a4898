"""Which commits an apply comes to, before anything moves."""

from integration.undo.desk import Desk
from siding.applying.apply import ApplyPlan, ApplyRequest, Mode, preview


def plan_of(desk: Desk, mode: Mode | None = None) -> ApplyPlan:
    with preview(desk.project, ApplyRequest(task=desk.task.id, mode=mode)) as (_task, plan, _bench):
        return plan


def commit(desk: Desk, name: str, message: str) -> None:
    """Commit a file in the workspace, as an agent does."""
    desk.write(name, f"{name}\n")
    desk.sandbox.git("add", "-A", cwd=desk.root)
    desk.sandbox.git("commit", "-q", "-m", message, cwd=desk.root)


def test_the_commits_of_the_agent_are_carried_and_the_rest_is_one_more(desk: Desk) -> None:
    commit(desk, "one", "add one")
    desk.sandbox.git("commit", "-q", "--allow-empty", "-m", "an empty one", cwd=desk.root)
    desk.write("two", "two\n")
    desk.checkpoint()
    assert [each.subject for each in plan_of(desk).commits] == ["add one", "an empty one", "work"]
    assert [each.subject for each in plan_of(desk, Mode.SQUASH).commits] == ["work"]


def test_a_commit_that_the_target_has_under_another_name_is_not_made_again(desk: Desk) -> None:
    commit(desk, "one", "add one")
    commit(desk, "two", "add two")
    desk.checkpoint()
    (desk.sandbox.repo / "one").write_text("one\n")
    desk.sandbox.git("add", "one")
    desk.sandbox.git("commit", "-q", "-m", "one, by hand")
    for mode in (Mode.COMMIT, Mode.REBASE):
        assert [each.subject for each in plan_of(desk, mode).commits] == ["add two"]


def test_there_is_nothing_to_do_when_the_target_has_all_of_it(desk: Desk) -> None:
    commit(desk, "one", "add one")
    desk.checkpoint()
    (desk.sandbox.repo / "one").write_text("one\n")
    desk.sandbox.git("add", "one")
    desk.sandbox.git("commit", "-q", "-m", "one, by hand")
    plan = plan_of(desk)
    assert plan.nothing_to_do
    assert plan.commits == ()
