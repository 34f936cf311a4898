"""A branch that was rewritten: what the task had of it is not the task's own, and does not come
back. As `git rebase --onto NEW OLD` does it."""

import pytest

from siding.applying.apply import ApplyRequest, Mode, apply
from siding.applying.history import Dropped
from siding.applying.pull_request import PullRequestRequest, prepare
from siding.syncing.new_head import CannotRebase
from siding.syncing.sync import How, SyncRequest, preview
from siding.tasks.start import start_task

from ..undo.desk import Desk
from .test_sync import COMMIT, bring, changed, main, person, there_and_back

WITHOUT = (
    "git reset -q --hard HEAD~1; git rm -q gone; echo new >new; git add -A; git commit -qm new"
)


@pytest.fixture
def dropped(desk: Desk) -> Desk:
    """A task of the same desk that began at a commit that adds `oops` and changes `text`."""
    main(desk, "echo secret >oops; sed -i 's/line 9$/oops/' text", "oops")
    desk.task = start_task(desk.project, name="later", base=None).task
    return desk


def files(desk: Desk) -> str:
    return desk.sandbox.git("ls-files")


def history(desk: Desk, revision: str = "main") -> list[str]:
    return desk.sandbox.git("log", "--format=%s", revision).splitlines()


def test_without_commits(dropped: Desk) -> None:
    desk = dropped
    desk.shell("sed -i 's/line 1$/mine/' text")
    person(desk, WITHOUT)
    with preview(desk.project, SyncRequest(task=desk.task.id)) as (_task, plan):
        assert [each.subject for each in plan.coming.dropped] == ["oops"]
        assert plan.notes[0].startswith("the branch that the task started from was rewritten")
    done, _after = there_and_back(desk, lambda: bring(desk))
    assert done.plan.head.how is How.FAST_FORWARD
    assert changed(desk) == [("M", b"text")]
    assert not (desk.root / "oops").exists()
    assert (desk.read("text").splitlines()[::8]) == [b"mine", b"line 9"]
    assert bring(desk).restored is None
    person(desk, "git reset -q --hard HEAD~1; echo again >again; git add -A; git commit -qm again")
    with pytest.raises(Dropped):
        apply(desk.project, ApplyRequest(task=desk.task.id, mode=Mode.MERGE))
    bring(desk)  # a second time: `new` goes, `gone` comes back
    assert changed(desk) == [("M", b"text")]
    assert (desk.root / "gone").exists()
    apply(desk.project, ApplyRequest(task=desk.task.id, mode=Mode.MERGE))
    assert {"oops", "new"}.isdisjoint({*history(desk), *files(desk).split()})


@pytest.mark.parametrize("rebase", [False, True])
def test_with_commits(dropped: Desk, rebase: bool) -> None:
    desk = dropped
    desk.shell(f"sed -i 's/line 1$/mine/' text; {COMMIT} one; echo 2 >two; {COMMIT} two; echo 3 >x")
    person(desk, WITHOUT)
    done, _after = there_and_back(desk, lambda: bring(desk, rebase=rebase))
    assert (done.plan.head.how, done.plan.head.repeated) == (How.REBASE, 2)
    assert history(desk, "main.." + desk.branch) == ["two", "one"]
    assert changed(desk) == [("M", b"text"), ("A", b"two"), ("A", b"x")]
    apply(desk.project, ApplyRequest(task=desk.task.id))
    assert history(desk)[:4] == ["later", "two", "one", "new"]
    assert "oops" not in history(desk) + files(desk).split()


def test_commits_in_conflict_are_merged_from_the_old_base(dropped: Desk) -> None:
    desk = dropped
    desk.shell(f"sed -i 's/line 1$/mine/' text; {COMMIT} one")
    person(desk, f"{WITHOUT}; sed -i 's/line 1$/theirs/' text; git commit -qam theirs")
    with pytest.raises(CannotRebase, match="disagree about text"):
        bring(desk, rebase=True)
    done, _after = there_and_back(desk, lambda: bring(desk))
    assert [each.path for each in done.plan.conflicts] == [b"text"]
    assert desk.read("text").endswith(b"line 9\n")  # of the dropped commit nothing conflicts
    assert not (desk.root / "oops").exists()
    desk.shell("git checkout -q --ours text; sed -i 's/oops/line 9/' text; git commit -qam merged")
    with pytest.raises(Dropped, match="--mode merge would bring back 1 commit"):
        apply(desk.project, ApplyRequest(task=desk.task.id, mode=Mode.MERGE))
    apply(desk.project, ApplyRequest(task=desk.task.id))
    assert "oops" not in history(desk) + files(desk).split()


@pytest.mark.parametrize(
    "rewrite",
    [
        "sed -i 's/oops/better/' text; git commit -qa --amend -m amended",
        "git reset -q --soft HEAD~2; git commit -qm squashed",
        "git reset -q --hard HEAD~1",
    ],
)
def test_amended_squashed_and_taken_back(dropped: Desk, rewrite: str) -> None:
    desk = dropped
    desk.shell(f"sed -i 's/line 1$/mine/' text; {COMMIT} one")
    person(desk, rewrite)
    done = bring(desk)
    assert not done.plan.conflicts
    assert changed(desk) == [("M", b"text")]
    kept = desk.sandbox.repo / "oops"
    assert (desk.root / "oops").exists() == kept.exists()
    last = desk.sandbox.repo.joinpath("text").read_text().splitlines()[-1]
    assert desk.read("text").splitlines()[-1].decode() == last


def test_before_a_sync_no_history_is_published(dropped: Desk) -> None:
    desk = dropped
    desk.shell("echo mine >mine")
    person(desk, f"{WITHOUT}; git init -q --bare ../r.git; git remote add origin ../r.git")
    with pytest.raises(Dropped, match="a pull request would bring back 1 commit"):
        prepare(desk.project, PullRequestRequest(task=desk.task.id))
    bring(desk)
    made = prepare(desk.project, PullRequestRequest(task=desk.task.id))
    assert "oops" not in history(desk, made.commit)


def test_onto_another_line_only_what_was_dropped_goes(dropped: Desk) -> None:
    desk = dropped
    desk.shell("echo mine >mine")
    person(desk, "git branch other HEAD~1; git switch -q other")
    main(desk, "echo other >other", "other")
    person(desk, "git switch -q main")
    bring(desk, onto="other")
    assert (desk.root / "oops").exists()  # main has it still
    desk.undo()
    person(desk, WITHOUT)
    bring(desk, onto="other")
    assert changed(desk) == [("A", b"mine")]
    assert not (desk.root / "oops").exists()
