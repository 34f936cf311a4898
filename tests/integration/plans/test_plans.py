"""What an act would do, and that exactly this is done: the acts that the terminal adds."""

from typing import Any

import pytest

from siding.applying.unresolved import merging
from siding.faces.plans.acts import Changed, NotPossible, carry_out, plan
from siding.faces.plans.plan import ActDone, ActPlan, ActRequest

from ..undo.desk import Desk


def planned(desk: Desk, act: str, **more: Any) -> ActPlan:
    return plan(desk.project, desk.task.id, ActRequest(act=act)._replace(**more))


def done(desk: Desk, act: str, **more: Any) -> ActDone:
    wish = ActRequest(act=act)._replace(**more)
    found = plan(desk.project, desk.task.id, wish)
    return carry_out(desk.project, desk.task.id, wish, found.digest)


def paths(found: ActPlan) -> dict[str, tuple[str, ...]]:
    return {group.what: group.paths for group in found.groups}


def on_main(desk: Desk, text: str) -> None:
    (desk.sandbox.repo / "hello.txt").write_text(text)
    desk.sandbox.git("commit", "-qam", "theirs")


def test_a_conflict_is_brought_in_given_up_and_brought_in_again(desk: Desk) -> None:
    desk.shell("echo ours > hello.txt")
    on_main(desk, "theirs\n")
    assert "in conflict" in paths(planned(desk, "apply"))
    for _time in range(2):
        found = planned(desk, "resolve")
        assert paths(found)["in conflict, with both sides marked"] == ("hello.txt (contents)",)
        assert done(desk, "resolve").said == "main merged into the workspace, 1 path to be resolved"
        under_way = merging(desk.project, desk.task.id)
        assert under_way is not None
        assert (under_way.branch, under_way.left, under_way.syncs) == ("main", 1, False)
        assert done(desk, "give_up").said == "the workspace is as before the merge"
        assert desk.read("hello.txt") == b"ours\n"
        assert merging(desk.project, desk.task.id) is None
        assert planned(desk, "give_up").nothing


def test_what_was_resolved_is_applied_and_taken_back(desk: Desk) -> None:
    desk.shell("echo ours > hello.txt")
    on_main(desk, "theirs\n")
    done(desk, "resolve")
    desk.write("hello.txt", "both\n")
    under_way = merging(desk.project, desk.task.id)
    assert under_way is not None
    assert under_way.left == 0
    assert done(desk, "apply", close=False).said == "applied to main"
    assert (desk.sandbox.repo / "hello.txt").read_text() == "both\n"
    assert done(desk, "undo").said.startswith("undid step")
    assert (desk.sandbox.repo / "hello.txt").read_text() == "theirs\n"


def test_a_resolution_without_conflict_is_nothing(desk: Desk) -> None:
    desk.shell("echo ours > new.txt")
    assert planned(desk, "resolve").nothing
    with pytest.raises(NotPossible):
        done(desk, "resolve")


def test_sync_shows_its_commits_and_is_refused_when_more_came(desk: Desk) -> None:
    assert planned(desk, "sync").nothing
    desk.shell("echo more > new.txt")
    on_main(desk, "theirs\n")
    found = planned(desk, "sync")
    assert [each.partition(" ")[2] for each in found.commits] == ["theirs"]
    assert found.sentence == "1 commit of main · fast-forward: the task has no commits of its own"
    on_main(desk, "more of theirs\n")
    with pytest.raises(Changed):
        carry_out(desk.project, desk.task.id, ActRequest(act="sync"), found.digest)
    assert done(desk, "sync").said == "main brought in"
    assert desk.read("hello.txt") == b"more of theirs\n"
    assert planned(desk, "sync").nothing
    done(desk, "undo")
    assert desk.read("hello.txt") == b"hello\n"
    assert done(desk, "sync").said == "main brought in"


def test_a_retry_says_what_goes_back_what_is_left_and_what_runs(desk: Desk) -> None:
    desk.shell("echo one > one.txt")
    desk.shell("echo two > two.txt")
    found = planned(desk, "retry", step="1", argv=("make", "test"))
    assert found.title == "Do step 0001 again"
    assert found.sentence == "2 paths deleted; then runs: make test"
    assert paths(found)["deleted"] == ("one.txt", "two.txt")
    (left,) = found.notes
    assert left.startswith("2 steps left behind: 0001 sh -c")
    assert planned(desk, "retry", step="1").digest != found.digest
