"""What an apply comes to in every mode, before anything moves: commits, messages and parents."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from integration.undo.desk import Desk
from siding.applying.apply import ApplyPlan, ApplyRequest, Mode, WouldPublish, planned, preview
from siding.applying.git.commits import RawCommit, read_commits
from siding.applying.history import Unresolved
from siding.applying.plan import ApplySelection, steps_text
from siding.ground.errors import SidingError
from siding.ground.git.command import Git
from siding.ground.ids import Sha
from siding.record.ledger.move_details import ConflictedPath
from siding.record.moving.bench import Bench
from siding.record.moving.model import Overlaps
from siding.record.snapshots.git_details import GitDetails

from .ledgers import Told, last_at


class Planned(NamedTuple):
    plan: ApplyPlan
    bench: Bench
    commits: list[RawCommit]  # of the plan

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.commits]

    @property
    def files(self) -> set[bytes]:
        return set(self.bench.read_trees([(self.plan.tree, b"")])[self.plan.tree, b""])


@contextmanager
def plan_of(desk: Desk, mode: Mode | None = None, **more: Any) -> Iterator[Planned]:
    request = ApplyRequest(task=desk.task.id, mode=mode, **more)
    with preview(desk.project, request) as (_task, plan, bench):
        assert [each.subject for each in plan.commits] == [
            each.subject for each in read_commits(bench, [each.sha for each in plan.commits])
        ]
        yield Planned(plan, bench, read_commits(bench, [each.sha for each in plan.commits]))


def agents(desk: Desk, name: str, content: str = "1\n", message: str = "") -> Sha:
    """Commit a file in the workspace, as an agent does, under its own name."""
    desk.write(name, content)
    desk.git("add", "-A", "-f")
    author = "Bot <bot@example.org>"
    desk.git("commit", "-q", "--author", author, "-m", message or f"add {name}\n\nAnd why.")
    return Sha(desk.git("rev-parse", "HEAD"))


def persons(desk: Desk, name: str, content: str = "1\n") -> Sha:
    """Commit a file on the target."""
    (desk.sandbox.repo / name).write_text(content)
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", f"person's {name}")
    return Sha(desk.sandbox.git("rev-parse", "main"))


def own_trailers(desk: Desk) -> str:
    return f"Siding-Task: {desk.task.id}\n"


def test_the_agents_commits_one_by_one_and_then_the_rest(desk: Desk) -> None:
    one = agents(desk, "one")
    desk.write("rest", "1\n")
    target = persons(desk, "theirs")
    with plan_of(desk) as (plan, bench, (first, last)):
        assert [each.source for each in plan.commits] == [one, None]
        assert (first.parents, last.parents) == ((target,), (first.sha,))
        assert first.author.startswith(b"Bot <bot@")
        assert not last.author.startswith(b"Bot")
        assert first.text == f"add one\n\nAnd why.\n\n{own_trailers(desk)}"
        assert last.text == f"work\n\n{own_trailers(desk)}" == plan.message
        assert (plan.new, plan.tree, plan.head) == (last.sha, last.tree, one)
        assert set(bench.read_trees([(first.tree, b"")])[first.tree, b""]) == {
            *bench.read_trees([(bench.tree_of(target), b"")])[bench.tree_of(target), b""],
            b"one",
        }
        assert sorted(each.path for each in plan.changes) == [b"one", b"rest"]
        assert plan.conflicts == ()
        assert plan.notes == ()
        assert not plan.unchanged
        assert not plan.again
    with plan_of(desk, message="told\n\nmore", co_authors=("A <a@x>", "B <b@x>")) as found:
        others = "Co-authored-by: A <a@x>\nCo-authored-by: B <b@x>\n"
        assert found.texts[1] == f"told\n\nmore\n\n{own_trailers(desk)}{others}"
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "the rest")
    with plan_of(desk) as found:
        assert [each.subject for each in found.commits] == ["add one", "the rest"]
        assert found.plan.message == found.commits[-1].text


def test_a_squash_names_the_commits_unless_it_is_told_a_message(desk: Desk) -> None:
    target = desk.sandbox.git("rev-parse", "main")
    desk.write("rest", "1\n")
    desk.checkpoint()
    steps = "Siding-Steps: 0001\n"
    for mode in (None, Mode.SQUASH):
        with plan_of(desk, mode) as found:
            assert found.texts == [f"work\n\n{own_trailers(desk)}{steps}"]
    agents(desk, "one")
    agents(desk, "two")
    with plan_of(desk, Mode.SQUASH) as found:
        assert found.commits[0].parents == (target,)
        assert found.texts == [f"work\n\n* add one\n* add two\n\n{own_trailers(desk)}{steps}"]
        assert found.plan.commits[0].source is None
        assert found.plan.new == found.commits[0].sha
        assert found.plan.message == found.texts[0]
    with plan_of(desk, Mode.SQUASH, message="told") as found:
        assert found.texts == [f"told\n\n{own_trailers(desk)}{steps}"]


def test_a_merge_has_the_agents_history_with_the_rest_on_top(desk: Desk) -> None:
    target = persons(desk, "theirs")
    one = agents(desk, "one")
    with plan_of(desk, Mode.MERGE) as (plan, _, (agent, merge)):
        assert agent.sha == one
        assert merge.parents == (target, one)
        assert merge.text == f"Merge task 'work'\n\n{own_trailers(desk)}" == plan.message
        assert [each.source for each in plan.commits] == [one, None]
        assert plan.new == merge.sha
    desk.write("rest", "1\n")
    with plan_of(desk, Mode.MERGE) as (_plan, _, (_agent, rest, merge)):
        assert (rest.parents, merge.parents) == ((one,), (target, rest.sha))
        assert rest.text == f"work\n\n{own_trailers(desk)}"
    with plan_of(desk, Mode.MERGE, message="told\n\nmore") as found:
        assert found.texts[1:] == [f"told\n\nmore\n\n{own_trailers(desk)}"] * 2


def test_a_merge_leads_to_no_commit_that_was_applied_under_another_name(desk: Desk) -> None:
    base = desk.sandbox.git("rev-parse", "main")
    agents(desk, "one")
    persons(desk, "theirs")
    desk.apply(Mode.COMMIT)
    with plan_of(desk) as found:
        assert (found.plan.unchanged, found.plan.again) == (True, True)
        assert found.plan.nothing_to_do
        assert found.commits == []
    desk.write("rest", "1\n")
    with plan_of(desk, Mode.MERGE) as (plan, _, (rest, _merge)):
        assert rest.parents == (base,)
        assert [each.path for each in plan.changes] == [b"rest"]
        assert (plan.unchanged, plan.again) == (False, True)


def test_a_task_that_has_changed_nothing(desk: Desk) -> None:
    with plan_of(desk) as (plan, _, commits):
        assert commits == []
        assert (plan.unchanged, plan.again, plan.nothing_to_do) == (True, False, True)
        assert plan.new is None
        assert plan.head == desk.sandbox.git("rev-parse", "main")


def test_files_alone_make_no_commit(desk: Desk) -> None:
    agents(desk, "one")
    with plan_of(desk, Mode.PATCH) as (plan, _, commits):
        assert commits == []
        assert plan.new == plan.tree
        assert plan.message == ""
        assert not plan.nothing_to_do


def test_a_merge_of_the_target_is_no_commit_of_the_agents(desk: Desk) -> None:
    agents(desk, "one")
    persons(desk, "theirs")
    desk.git("merge", "-q", "--no-edit", "main")
    agents(desk, "two")
    target = persons(desk, "more")
    for mode in (Mode.COMMIT, Mode.REBASE):
        with plan_of(desk, mode) as (plan, _, (first, second)):
            assert [each.subject for each in (first, second)] == ["add one", "add two"]
            assert first.parents == (target,)
            assert plan.notes == ()


def test_an_older_git_cannot_tell_such_a_merge_from_any_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents(desk, "one")
    persons(desk, "theirs")
    desk.git("merge", "-q", "--no-edit", "main")
    monkeypatch.setattr(Git, "version", lambda _: (2, 37, 7))
    with plan_of(desk) as (plan, _, (one,)):
        assert one.subject == "work"
        assert "cannot be carried one by one onto main" in plan.notes[0]


def merge_of_its_own(desk: Desk) -> None:
    desk.git("switch", "-q", "-c", "side")
    agents(desk, "side")
    desk.git("switch", "-q", desk.branch)
    agents(desk, "one")
    desk.git("merge", "-q", "--no-edit", "side")


def merge_with_more(desk: Desk) -> None:
    """Merge the target, and change something else in the same commit."""
    persons(desk, "theirs")
    agents(desk, "one")
    desk.git("merge", "-q", "--no-commit", "--no-ff", "main")
    desk.write("two", "1\n")
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "merged, and more")


def merge_of_three(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.git("switch", "-q", "-c", name)
        agents(desk, name)
        desk.git("switch", "-q", desk.branch)
    agents(desk, "one")
    desk.git("merge", "-q", "--no-edit", "a", "b")


@pytest.mark.parametrize("merge", [merge_of_its_own, merge_with_more, merge_of_three])
def test_any_other_merge_makes_one_commit_of_all(desk: Desk, merge: Any) -> None:
    merge(desk)
    with plan_of(desk) as (plan, _, (one,)):
        assert one.subject == "work"
        assert "cannot be carried one by one onto main" in plan.notes[0]
        assert "* add one\n" in plan.message
    with pytest.raises(SidingError, match="merges in it"), plan_of(desk, Mode.REBASE):
        pass


def conflicting_commits(desk: Desk) -> None:
    """Two commits of which the first conflicts with the target, and both together do not."""
    agents(desk, "text", "x\n")
    agents(desk, "text", "theirs\n")
    persons(desk, "text", "theirs\n")
    agents(desk, "more")


def test_commits_that_conflict_one_by_one_become_one(desk: Desk) -> None:
    conflicting_commits(desk)
    with plan_of(desk) as (plan, _, commits):
        assert [each.subject for each in commits] == ["work"]
        assert plan.notes == (
            "the agent's 3 commits cannot be carried one by one onto main: they are applied as one "
            "commit",
        )
        assert plan.conflicts == ()
    with plan_of(desk, Mode.REBASE) as (plan, _, commits):
        assert commits == []
        assert [each.path for each in plan.conflicts] == [b"text"]
        assert plan.new is None


def test_a_conflict_makes_no_commit_and_is_something_to_do(desk: Desk) -> None:
    persons(desk, "text", "as it was\n")
    desk.git("merge", "-q", "main")
    (desk.root / "text").unlink()
    persons(desk, "text", "edited\n")
    with plan_of(desk) as (plan, _, commits):
        assert commits == []
        assert [each.path for each in plan.conflicts] == [b"text"]
        assert plan.new is None
        assert plan.changes == ()
        assert not plan.nothing_to_do


def gone_back_from(desk: Desk, count: int) -> None:
    """Roll files alone back from commits that stay on the task's branch."""
    desk.checkpoint()
    for number in range(count):
        agents(desk, f"bad{number}")
    desk.checkpoint()
    desk.rollback(1, files_only=True)
    desk.write("good", "1\n")
    desk.checkpoint()


@pytest.mark.parametrize(("count", "which"), [(1, "a commit"), (2, "2 commits")])
def test_what_was_gone_back_from_is_not_published(desk: Desk, count: int, which: str) -> None:
    gone_back_from(desk, count)
    with plan_of(desk) as found:
        plan = found.plan
        assert plan.wanted.mode is Mode.SQUASH
        assert plan.notes == (
            f"the branch still has {which} that a rollback went back from: everything else is "
            "applied as one commit",
        )
        assert len(plan.gone_back) == count
        assert found.texts == [plan.message]
        assert "bad" not in plan.message
        assert [each.path for each in plan.changes] == [b"good"]
    for mode in (Mode.SQUASH, Mode.PATCH):
        with plan_of(desk, mode) as found:
            assert found.plan.wanted.mode is mode
            assert found.plan.notes == ()
    for mode in (Mode.COMMIT, Mode.MERGE, Mode.REBASE):
        with pytest.raises(WouldPublish, match=f"{mode.value} would publish"), plan_of(desk, mode):
            pass


def test_good_commits_around_it_are_named(desk: Desk) -> None:
    agents(desk, "first")
    gone_back_from(desk, 1)
    agents(desk, "last")
    with plan_of(desk) as found:
        assert "* add first\n* add last\n" in found.plan.message
        assert [each.subject for each in found.plan.gone_back] == ["add bad0"]


def test_what_the_target_has_of_it_is_published_already(desk: Desk) -> None:
    gone_back_from(desk, 1)
    desk.sandbox.git("merge", "-q", desk.branch)
    with plan_of(desk) as found:
        assert found.plan.wanted.mode is Mode.COMMIT
        assert found.plan.gone_back == ()


def test_a_part_is_one_commit_relative_to_the_base(desk: Desk) -> None:
    agents(desk, "one")
    agents(desk, "two")
    desk.write("three", "1\n")
    desk.checkpoint()
    with plan_of(desk, paths=(b"one",)) as found:
        assert [each.path for each in found.plan.changes] == [b"one"]
        assert found.texts == [f"work\n\n{own_trailers(desk)}Siding-Steps: 0001\n"]
        assert found.plan.head is None
    desk.apply(Mode.SQUASH)
    with plan_of(desk, paths=(b"one",)) as found:
        assert found.plan.nothing_to_do
        assert not found.plan.again
    with plan_of(desk, steps="1", paths=(b"one",)) as found:
        assert found.plan.nothing_to_do


@pytest.mark.parametrize(
    ("start", "paths", "whole"),
    [(None, (), True), ("a", (), False), (None, (b"a",), False), ("a", (b"a",), False)],
)
def test_a_selection_of_steps_or_paths_is_not_whole(start: Any, paths: Any, whole: bool) -> None:
    selection = ApplySelection(
        Mode.COMMIT, False, start, Sha("b"), "", paths, None, co_authors=(), sign=False
    )
    assert selection.whole is whole


def test_the_persons_files_are_looked_at_for_a_preview_only(told: Told) -> None:
    desk = told.desk
    desk.write("one", "1\n")
    (desk.sandbox.repo / "one").write_text("mine\n")
    with plan_of(desk) as found:
        assert found.plan.overlaps.all == (b"one",)
    request = ApplyRequest(task=desk.task.id)
    now = Sha(str(desk.checkpoint().snapshot))
    with told.sources() as sources:
        assert planned(sources, request, now).overlaps == Overlaps((), ())
        assert planned(sources, request, now, look=True).overlaps.all == (b"one",)
        desk.sandbox.git("branch", "elsewhere")
        onto = request._replace(onto="elsewhere")
        assert planned(sources, onto, now, look=True).overlaps == Overlaps((), ())


def test_ignored_files_that_the_agent_committed_are_carried(desk: Desk) -> None:
    desk.write(".gitignore", "built\n")
    desk.write("built", "1\n")
    with plan_of(desk) as found:
        assert b"built" not in found.files
    agents(desk, "one")
    with plan_of(desk) as found:
        assert b"built" in found.files


def test_ignored_files_that_the_target_has_from_the_agent_stay_there(desk: Desk) -> None:
    desk.write(".gitignore", "built\n")
    desk.write("built", "1\n")
    agents(desk, "one")
    desk.sandbox.git("merge", "-q", desk.branch)
    desk.write("rest", "1\n")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.changes] == [b"rest"]
        assert b"built" in found.files


def test_ignored_files_that_were_applied_before_are_compared_with_what_was_applied(
    desk: Desk,
) -> None:
    desk.write(".gitignore", "built\n")
    agents(desk, "out/built", "1\n\n\n2\n")
    desk.apply(Mode.COMMIT)
    persons(desk, "out/built", "person's\n\n\n2\n")
    agents(desk, "more")
    with plan_of(desk) as found:
        assert found.plan.conflicts == ()
        assert [each.path for each in found.plan.changes] == [b"more"]
    agents(desk, "out/built", "1\n\n\nagent's\n")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.changes] == [b"more", b"out/built"]
        body = found.bench.read([found.plan.tree + ":out/built"], kind=b"blob")
        assert body == [b"person's\n\n\nagent's\n"]


def test_an_ignored_file_that_was_applied_and_then_taken_out_goes(desk: Desk) -> None:
    desk.write(".gitignore", "built\n")
    agents(desk, "built")
    desk.apply(Mode.COMMIT)
    (desk.root / "built").unlink()
    with plan_of(desk) as found:
        assert found.plan.nothing_to_do  # no snapshot holds it, and no commit says so
    agents(desk, "more")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.changes] == [b"built", b"more"]


def test_an_ignored_file_that_was_not_applied_before_is_new(desk: Desk) -> None:
    desk.write(".gitignore", "built\n")
    agents(desk, "built")
    (desk.root / "built").unlink()
    desk.apply(Mode.COMMIT)
    desk.write("built", "1\n")
    agents(desk, "more")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.changes] == [b"built", b"more"]


@pytest.mark.parametrize("step", [1, 2])  # before it was applied, and after
def test_an_ignored_file_of_a_commit_that_was_gone_back_from_stays_on_the_target(
    desk: Desk, step: int
) -> None:
    desk.write(".gitignore", "built\n")
    agents(desk, "built")
    desk.checkpoint()
    desk.apply(Mode.COMMIT)
    agents(desk, "built", "2\n")
    desk.checkpoint()
    desk.rollback(step, files_only=True)
    agents(desk, "more")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.left_out] == [b"built"]
        assert [each.path for each in found.plan.changes] == [b"more"]


def test_the_merge_drivers_that_the_task_brings_are_used(desk: Desk) -> None:
    persons(desk, "list", "base\n")
    desk.git("merge", "-q", "main")
    agents(desk, "list", "base\nagent's\n")
    persons(desk, "list", "base\nperson's\n")
    with plan_of(desk, Mode.SQUASH) as found:
        assert [each.path for each in found.plan.conflicts] == [b"list"]
    desk.write(".gitattributes", "list merge=union\n")
    with plan_of(desk, Mode.SQUASH) as found:
        assert found.plan.conflicts == ()
        assert [each.path for each in found.plan.changes] == [b".gitattributes", b"list"]
    desk.write("list", "agent's\nbase\n")
    with plan_of(desk, Mode.SQUASH) as found:
        assert found.plan.conflicts == ()
    desk.write(".gitattributes", "list binary\n")
    with plan_of(desk, Mode.SQUASH) as found:
        assert [each.path for each in found.plan.conflicts] == [b"list"]


def test_the_merge_drivers_are_those_of_now_and_not_of_what_was_applied(desk: Desk) -> None:
    persons(desk, "list", "base\n")
    desk.git("merge", "-q", "main")
    desk.write(".gitattributes", "list merge=union text\n")
    desk.checkpoint()
    desk.apply(Mode.SQUASH)
    desk.write(".gitattributes", "list text\n")
    desk.write("list", "base\nagent's\n")
    persons(desk, "list", "base\nperson's\n")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.conflicts] == [b"list"]


def test_files_that_git_converts_are_compared_with_what_was_applied(desk: Desk) -> None:
    desk.write(".gitattributes", "* text=auto\n")
    desk.write("one", "1\n")
    desk.checkpoint()
    desk.apply(Mode.SQUASH)
    desk.write("one", "2\n")
    with plan_of(desk) as found:
        assert [each.path for each in found.plan.changes] == [b"one"]
        assert found.bench.read([found.plan.tree + ":one"], kind=b"blob") == [b"2\n"]


def test_a_merge_with_markers_left_is_not_applied(told: Told) -> None:
    told.desk.write("text", "<<<<<<< main\n1\n=======\n2\n>>>>>>> task\n")
    told.merge(conflicts=(ConflictedPath("text", "content"),))
    with pytest.raises(Unresolved), plan_of(told.desk):
        pass
    told.desk.write("text", "1\n")
    with plan_of(told.desk) as found:
        assert not found.plan.again
        assert not found.plan.unchanged


def test_after_a_merge_in_the_workspace_the_change_is_relative_to_the_target(told: Told) -> None:
    target = persons(told.desk, "theirs")
    told.merge(target)
    told.desk.write("theirs", "1\n")
    told.desk.write("mine", "1\n")
    with plan_of(told.desk) as found:
        assert [each.path for each in found.plan.changes] == [b"mine"]
    (told.desk.root / "theirs").unlink()  # the merge brought it: to lack it now is a change
    with plan_of(told.desk) as found:
        assert sorted(each.path for each in found.plan.changes) == [b"mine", b"theirs"]


def test_what_git_has_under_way_is_noted(desk: Desk) -> None:
    desk.write("one", "1\n")
    (desk.git_dir / "MERGE_HEAD").write_text(desk.sandbox.git("rev-parse", "main") + "\n")
    with plan_of(desk) as found:
        assert found.plan.notes == (
            "`git merge` is under way in the workspace: its files go in as they are now",
        )


def test_a_recorded_state_says_so_and_has_the_head_of_then(told: Told) -> None:
    told.desk.write("one", "1\n")
    now = Sha(str(told.desk.checkpoint().snapshot))
    agents(told.desk, "two")
    request = ApplyRequest(task=told.desk.task.id)
    for head in (told.main, None):
        last = last_at(head, GitDetails())
        with told.sources(last) as sources:
            plan = planned(sources, request, now)
            assert plan.notes == (last.sentence,)
            assert plan.head == head
            assert [each.subject for each in plan.commits] == ["work"]


def test_the_range_of_steps_in_a_trailer() -> None:
    assert [steps_text(each) for each in ([], [3], [3, 3], [7, 1], [1, 7])] == [
        "",
        "0003",
        "0003",
        "0001-0007",
        "0001-0007",
    ]
