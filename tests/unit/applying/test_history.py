"""What a task's change is relative to, by all that its ledger can say."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from siding.applying.history import (
    Departure,
    Unresolved,
    departure,
    effective_steps,
    newest_merge,
    refuse_unresolved,
    unfinished_in_workspace,
)
from siding.ground.git.objects import write_object
from siding.ground.ids import Sha
from siding.record.ledger.kinds import Reversal
from siding.record.ledger.move_details import ConflictedPath
from siding.record.moving.move import Unfinished
from siding.record.snapshots.git_details import GitDetails, IndexEntry

from .ledgers import Told, last_at

GONE = "12" * 20
FORK = "fork-abcdefgh"
NUMBERS = count()


def departs(told: Told, branch: str = "main", target: str = "", now: str = "") -> Departure:
    with told.sources() as sources:
        at = Sha(target) if target else told.main
        return departure(sources, branch, at, Sha(now) if now else told.base)


def commit_on(told: Told, where: Path, *, amend: bool = False) -> Sha:
    more = ["--amend"] if amend else []
    message = f"number {next(NUMBERS)}"  # commits of one second would have one id else
    told.desk.sandbox.git("commit", "-q", "--allow-empty", "-m", message, *more, cwd=where)
    return Sha(told.desk.sandbox.git("rev-parse", "HEAD", cwd=where))


def agents_merge(told: Told) -> Sha:
    """The target goes on, and the agent merges it."""
    target = commit_on(told, told.desk.sandbox.repo)
    commit_on(told, told.desk.root)
    told.desk.git("merge", "-q", "--no-edit", "main")
    return target


def test_a_new_task_departs_from_its_base(told: Told) -> None:
    assert departs(told) == Departure()
    commit_on(told, told.desk.root)
    assert departs(told) == Departure()
    assert departs(told, target=commit_on(told, told.desk.sandbox.repo)) == Departure()


def test_after_an_apply_of_all_it_departs_from_what_was_applied(told: Told) -> None:
    told.apply(head=GONE)
    told.run()
    found = Departure(snapshot=told.base, heads=(Sha(GONE),), applied=told.main)
    assert departs(told) == found
    assert departs(told, target=commit_on(told, told.desk.sandbox.repo)) == found
    told.apply()
    assert departs(told) == Departure(snapshot=told.base, applied=told.main)


@pytest.mark.parametrize(
    "but",
    [
        {"target_branch": "other"},
        {"whole": False},
        {"reversal": Reversal(redoes="0001")},
        {"status": "failed"},
        {"to": ""},
        {"to": GONE},
        {"snapshot": None},
    ],
    ids=str,
)
def test_an_apply_that_the_target_does_not_have_whole_does_not_count(
    told: Told, but: dict[str, Any]
) -> None:
    told.apply(**but)
    assert departs(told) == Departure()


def test_an_apply_that_the_branch_was_moved_away_from_does_not_count(told: Told) -> None:
    before = commit_on(told, told.desk.sandbox.repo)
    told.apply(before)
    assert departs(told, target=commit_on(told, told.desk.sandbox.repo, amend=True)) == Departure()


def test_after_a_merge_of_the_target_it_departs_from_that(told: Told) -> None:
    told.apply()
    told.merge(conflicts=(ConflictedPath('"a\\nb"', "content"), ConflictedPath("c", "content")))
    told.run(status="failed")
    assert departs(told) == Departure(commit=told.main, conflicts=(b"a\nb", b"c"))


def test_a_merge_of_something_else_is_passed_over(told: Told) -> None:
    told.apply()
    told.merge(branch="other")
    told.merge(GONE)
    assert departs(told) == Departure(snapshot=told.base, applied=told.main)


def test_a_merge_that_was_cut_off_leaves_nothing_but_the_base(told: Told) -> None:
    told.apply()
    told.merge(status="failed")
    assert departs(told) == Departure()


def test_a_run_that_failed_says_nothing(told: Told) -> None:
    told.apply()
    told.run(status="failed")
    assert departs(told) == Departure(snapshot=told.base, applied=told.main)


def test_what_a_rollback_took_back_does_not_count(told: Told) -> None:
    told.apply()
    told.apply(head=GONE)
    told.merge()
    told.back(1)
    assert departs(told) == Departure(snapshot=told.base, applied=told.main)


def test_behind_a_rollback_to_nowhere_known_nothing_counts(told: Told) -> None:
    told.apply()
    told.back(None)
    assert departs(told) == Departure()
    told.apply()
    assert departs(told) == Departure(snapshot=told.base, applied=told.main)


def test_the_steps_that_count_newest_first(told: Told) -> None:
    for _ in range(3):
        told.run()
    told.back(2)
    told.run()
    told.back(4)
    told.run()
    steps = effective_steps(told.desk.project, told.desk.task.id)
    assert [each and each.number for each in steps] == [7, 2, 1]


def test_without_a_step_about_it_what_the_agent_merged_counts(told: Told) -> None:
    target = agents_merge(told)
    assert departs(told, target=target) == Departure(commit=target)
    later = commit_on(told, told.desk.sandbox.repo)
    told.run()
    told.run()
    assert departs(told, target=later) == Departure(commit=target)


@pytest.mark.parametrize("steps", [(1, "back"), (1, 2, 3, "back"), (1, 2, "back", 4, 5)], ids=str)
def test_after_a_rollback_it_does_not(told: Told, steps: tuple[object, ...]) -> None:
    target = agents_merge(told)
    for step in steps:
        if step == "back":
            told.back(1 if steps[1] == "back" else 2)
        else:
            told.run()
    assert departs(told, target=target) == Departure()


def test_a_target_from_before_the_base_or_unrelated_is_no_departure(told: Told) -> None:
    base = commit_on(told, told.desk.root)
    commit_on(told, told.desk.root)
    orphan = told.desk.sandbox.git("commit-tree", "-m", "of its own", "main^{tree}")
    with told.sources() as sources:
        later = sources._replace(workspace=sources.workspace._replace(base_commit=base))
        for target in (told.main, Sha(orphan)):
            assert departure(later, "main", target, told.base) == Departure()


def test_without_a_head_it_is_the_base(told: Told) -> None:
    target = agents_merge(told)
    head = Sha(told.desk.git("rev-parse", "HEAD"))
    for at, found in ((None, Departure()), (head, Departure(commit=target))):
        with told.sources(last_at(at)) as sources:
            assert departure(sources, "main", target, told.base) == found


def test_a_sync_counts_while_the_workspace_has_it(told: Told) -> None:
    told.merge(base=told.base)
    assert departs(told) == Departure(commit=told.main)
    elsewhere = commit_on(told, told.desk.sandbox.repo)
    told.merge(elsewhere, base=told.base)
    assert departs(told, target=elsewhere) == Departure(commit=told.main)


def test_a_merge_of_files_counts_while_one_of_them_is_there(told: Told) -> None:
    desk = told.desk
    desk.write("mine", "1\n")
    before = desk.checkpoint().snapshot
    desk.write("came/a", "1\n")
    desk.write("came/b", "1\n")
    after = desk.checkpoint().snapshot
    (desk.root / "came/a").unlink()
    one_left = desk.checkpoint().snapshot
    (desk.root / "came/b").unlink()
    desk.write("mine", "2\n")
    taken_out = desk.checkpoint().snapshot
    assert before
    assert after
    assert one_left
    assert taken_out
    counts = Departure(commit=told.main)
    merged = told.merge(parent=before, snapshot=after)
    for now, found in ((after, counts), (one_left, counts), (taken_out, Departure())):
        assert departs(told, now=now) == found
    for states in ({"parent": before}, {"snapshot": after}, {"parent": after, "snapshot": after}):
        told.merge(**states)
        assert departs(told, now=taken_out) == counts
        told.back(merged.number)  # the next one is alone with the one that was taken out
        assert departs(told, now=taken_out) == Departure()


def test_the_merge_that_is_being_resolved(told: Told) -> None:
    project, task = told.desk.project, told.desk.task.id

    def newest(branch: str | None = None) -> int | None:
        found = newest_merge(project, task, branch)
        return None if found is None else found.number

    assert newest() is None
    told.merge()
    told.merge(branch="other")
    told.merge(branch=FORK)
    told.merge(status="failed")
    told.apply(whole=False)
    told.run()
    assert (newest(), newest("main"), newest("other"), newest("third")) == (2, 1, 2, None)
    assert newest(FORK) is None
    told.apply(reversal=Reversal(redoes="0001"))
    assert newest() == 2
    told.back(1)
    assert newest() == 1
    told.apply()
    assert newest() is None
    told.back(None)
    assert newest() is None


def test_markers_are_refused_where_there_was_a_conflict(told: Told) -> None:
    markers = b"<<<<<<< main\nours\n=======\ntheirs\n>>>>>>> task\n"
    desk = told.desk
    for name in ("deep/open", "top"):
        desk.write(name, markers)
    desk.write("deep/done", b"x <<<<<<< main\n")
    (desk.root / "deep/link").symlink_to("<<<<<<< main")
    step = desk.checkpoint()
    tree = Sha(f"{step.snapshot}^{{tree}}")
    unfinished = Unfinished("`git merge` is under way", "finish it", (b"top",))
    with told.sources() as sources:
        tree = sources.bench.tree_of(str(step.snapshot))
        refuse_unresolved(sources, tree)
        clean = (b"deep/done", b"deep/link", b"deep/gone", b"gone/too", b"deep")
        refuse_unresolved(sources, tree, clean, unfinished._replace(conflicts=clean))
        with pytest.raises(Unresolved, match=r"^there are .* left in deep/open, top$"):
            refuse_unresolved(sources, tree, (b"deep/done", b"deep/open", b"top"), unfinished)
        with pytest.raises(Unresolved, match=r"merge` is under way.* markers left in top$") as why:
            refuse_unresolved(sources, tree, (), unfinished)
    assert why.value.hint == "finish it; nothing was changed"


def test_what_git_has_unfinished_in_the_workspace(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir = told.desk.git_dir
    with told.sources() as sources:
        assert unfinished_in_workspace(sources) is None
        (git_dir / "MERGE_HEAD").write_text(f"{told.main}\n")
        found = unfinished_in_workspace(sources)
        assert found is not None
        assert found.what == "`git merge` is under way"
        workspace = sources.workspace
        monkeypatch.chdir(git_dir)  # the directory that no name leads to
        for git_dirs in ("", str(git_dir / "gone")):
            without = sources._replace(workspace=workspace._replace(git_dir=git_dirs))
            assert unfinished_in_workspace(without) is None
        moved = sources._replace(workspace=workspace._replace(path=str(git_dir / "gone")))
        assert unfinished_in_workspace(moved) is None


def test_what_git_had_unfinished_in_the_last_recorded_state(told: Told) -> None:
    def entry(name: bytes, stage: int) -> IndexEntry:
        return IndexEntry(path=name, stage=stage, mode="100644", sha=told.main)

    entries = (entry(b"staged", 0), entry(b"a", 1), entry(b"a", 2), entry(b"b", 3))
    store = told.desk.project.snapshots

    def then(details: GitDetails) -> Unfinished | None:
        with told.sources(last_at(None, details)) as sources:
            return unfinished_in_workspace(sources)

    assert then(GitDetails(entries=None)) is None
    assert then(GitDetails(entries=entries[:1])) is None
    found = then(GitDetails(entries=entries))
    assert found is not None
    assert found.conflicts == (b"a", b"b")
    for todo, command in ((b"revert 1234 x\n", "revert"), (b"pick 1234 x\n", "cherry-pick")):
        blob = write_object(store.objects, "blob", todo, "sha1")
        found = then(GitDetails(files={"sequencer/todo": blob}))
        assert found is not None
        assert found.what == f"`git {command}` is under way"
    found = then(GitDetails(files={"sequencer/abort-safety": blob}))
    assert found is not None
    assert "git cherry-pick" in found.what
