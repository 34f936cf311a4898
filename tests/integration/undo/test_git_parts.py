"""What goes along besides files, case by case, and what never moves."""

import os
from pathlib import Path

import pytest

from siding.ground.git.errors import GitError, SnapshotDamaged, SnapshotFailed
from siding.ground.git.refs import read_ref
from siding.phases.moves import PhaseRequest, move
from siding.record.moving.model import IndexLocked
from siding.record.phases.states import PhaseMove
from siding.record.restoring.refusal import Refusal
from siding.record.snapshots.capture import CaptureWork

from .desk import Desk
from .parts import Parts, parts_of

COMMIT = "git add -A; git commit -qm"


def went(desk: Desk, step: int | None, wanted: Parts, **more: bool) -> tuple[str, ...]:
    """Go to a step, and back by undo; return what was said about git on the way there."""
    before = parts_of(desk)
    done = desk.rollback(step, **more)
    assert parts_of(desk).differs(wanted) == []
    desk.undo()
    assert parts_of(desk).differs(before) == []
    desk.redo()
    git = done.survey.git
    return () if git is None else git.notes


CONFLICT = (
    f"echo ours >hello.txt; {COMMIT} ours; git switch -qc aside HEAD~; echo theirs >hello.txt;"
    f" {COMMIT} theirs; git switch -q -; "
)


@pytest.mark.parametrize(
    "script",
    [
        "git merge aside",
        "git rebase aside",
        "git cherry-pick aside",
        "git revert --no-edit aside",
        "git bisect start HEAD HEAD~",
        "git checkout -q --detach aside",
        "git rm -q --cached hello.txt",
        "echo n >n; git add -N n",
        "git update-index --assume-unchanged hello.txt",
        "git update-index --skip-worktree hello.txt; rm src/a.py; git add -A",
        "git mv hello.txt moved; ln -s moved link; git add -A; rm link",
        "git commit -q --amend -m other",
        "git reset -q --soft HEAD~",
        "git branch -m renamed",
        "git merge -s ours --no-commit aside",
        "git checkout -q --orphan fresh",
        "rm $(git rev-parse --git-dir)/index",
    ],
)
def test_every_part_is_there_again(desk: Desk, script: str) -> None:
    desk.shell(CONFLICT)
    first = parts_of(desk)
    desk.shell(f"{script}; true")
    second = parts_of(desk)
    assert first != second
    desk.shell(
        "git merge --abort; git rebase --abort; git cherry-pick --abort; git bisect reset;"
        f" git switch -qf {desk.branch} || git switch -qf -c {desk.branch};"
        f" echo more >>more; {COMMIT} more; true"
    )
    if second.head != "renamed":
        went(desk, 2, second)
        went(desk, 1, first)
    assert desk.git("fsck", "--strict", "--no-dangling") == ""
    desk.git("status")


def test_a_branch_that_moved_on_is_left_alone_and_the_way_is_named(desk: Desk) -> None:
    desk.shell(f"git switch -qc own; echo 1 >a; {COMMIT} one")
    then = parts_of(desk)
    desk.shell(f"echo 2 >a; {COMMIT} two")
    tip = desk.git("rev-parse", "own")
    (note,) = went(desk, 1, then._replace(head=None))
    assert f"HEAD is detached at {then.commit[:10]}: branch own is at {tip[:10]} now" in note
    assert desk.git("rev-parse", "own") == tip
    desk.sandbox.git(*note.split("`")[1].removeprefix("git ").split())
    assert parts_of(desk).differs(then) == []


def test_a_branch_that_is_gone_is_not_made_again(desk: Desk) -> None:
    desk.shell(f"git switch -qc own; echo 1 >a; {COMMIT} one")
    then = parts_of(desk)
    desk.shell("git switch -q -; git branch -qD own")
    (note,) = went(desk, 1, then._replace(head=None))
    assert "branch own is gone" in note
    desk.sandbox.git(*note.split("`")[1].removeprefix("git ").split())
    assert parts_of(desk).differs(then) == []


def test_the_tasks_branch_is_made_again(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one")
    then = parts_of(desk)
    desk.shell(f"git switch -q --detach; git branch -qD {desk.branch}")
    gone = parts_of(desk)
    assert gone.tip == ""
    desk.rollback(1)
    assert parts_of(desk).differs(then) == []
    desk.undo()  # which removes no branch
    assert parts_of(desk).differs(gone._replace(tip=then.tip)) == []


def test_a_branch_that_another_checkout_has_stays(desk: Desk, tmp_path: Path) -> None:
    base = parts_of(desk)
    desk.shell(f"echo 1 >a; {COMMIT} one; git switch -q --detach")
    tip = desk.git("rev-parse", desk.branch)
    elsewhere = tmp_path / "elsewhere"
    desk.sandbox.git("worktree", "add", "-q", str(elsewhere), desk.branch)
    notes = went(desk, None, base._replace(head=None, tip=tip))
    assert f"branch {desk.branch} stays where it is" in notes[0]
    assert f"is checked out in '{elsewhere}'" in notes[1]
    assert desk.sandbox.git("status", "--porcelain", cwd=elsewhere) == ""


def test_other_branches_tags_stashes_and_checkouts_never_move(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one; git tag mark; git branch other")
    desk.shell(f"echo 2 >a; git stash -q; echo 3 >a; {COMMIT} three; git branch -f other")

    def others() -> str:
        listed = desk.sandbox.git("for-each-ref", "--format=%(refname) %(objectname)")
        mine = f"refs/heads/{desk.branch} "
        return "\n".join(line for line in listed.splitlines() if not line.startswith(mine))

    before = others()
    for step in (1, None, 2):
        desk.rollback(step)
        assert others() == before


def test_what_git_has_collected_meanwhile_is_given_back(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one; echo staged >s; git add s; echo worked >s")
    then = parts_of(desk)
    desk.rollback(None)
    desk.git("reflog", "expire", "--expire=now", "--all")
    desk.git("gc", "-q", "--prune=now")
    desk.rollback(1)
    assert parts_of(desk).differs(then) == []
    assert desk.git("fsck", "--strict", "--no-dangling") == ""
    assert desk.git("cat-file", "blob", ":s") == "staged"


def test_commits_that_are_lost_stop_it_before_anything_moves(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one")
    lost = desk.git("rev-parse", "HEAD^{tree}")
    desk.rollback(None)
    desk.git("reflog", "expire", "--expire=now", "--all")
    desk.git("gc", "-q", "--prune=now")
    before, steps = parts_of(desk), len(desk.steps())
    store = desk.project.snapshots.root
    for pack in (store / "objects/pack").glob("*"):
        pack.unlink()
    for path in (store / "objects").glob(f"{lost[:2]}/{lost[2:]}"):
        path.unlink()
    with pytest.raises((GitError, SnapshotDamaged)):
        desk.rollback(1)
    assert parts_of(desk).differs(before) == []
    assert len(desk.steps()) == steps


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock"])
def test_a_git_at_work_is_not_disturbed(desk: Desk, name: str) -> None:
    desk.shell(f"git switch -q --detach; echo 1 >a; {COMMIT} one")
    lock = desk.git_dir / name
    lock.touch()
    before, steps = parts_of(desk), len(desk.steps())
    with pytest.raises(
        IndexLocked if name == "index.lock" else Refusal, match=r"another git|^HEAD"
    ):
        desk.rollback(None)
    assert lock.exists()
    lock.unlink()
    assert parts_of(desk).differs(before) == []
    assert len(desk.steps()) == steps
    desk.rollback(None)


def test_a_link_in_the_place_of_gits_files_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    desk.shell(CONFLICT + "git rebase aside; true")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "msgnum").write_text("mine\n")
    desk.shell(
        f"git rebase --abort; d=$(git rev-parse --git-dir); rm -rf $d/rebase-merge;"
        f" ln -s {precious} $d/rebase-merge"
    )
    with pytest.raises(OSError, match="Not a directory"):
        desk.rollback(1)
    assert [path.name for path in precious.iterdir()] == ["msgnum"]
    assert (precious / "msgnum").read_text() == "mine\n"
    assert not (desk.git_dir / "index.lock").exists()


def test_a_change_of_git_alone_is_a_state_of_its_own(desk: Desk) -> None:
    desk.shell("echo 1 >a")
    first = parts_of(desk)
    step = desk.shell("git add a")
    assert (step.files, step.snapshot == step.parent) == (0, False)
    second = parts_of(desk)
    went(desk, 1, first)
    went(desk, 2, second)


def test_a_preview_says_what_happens_to_git_and_does_nothing(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one; echo 2 >b; git add b")
    root, ref = desk.project.snapshots.root, f"refs/tasks/{desk.task.id}"
    before, newest = parts_of(desk), read_ref(root, ref)
    survey = desk.preview(None)
    assert survey.git is not None
    assert (survey.git.moves_head, survey.git.changes_index) == (True, True)
    assert desk.preview(1).nothing_to_do
    assert parts_of(desk).differs(before) == []
    assert read_ref(root, ref) == newest


def test_files_alone_stay_files_alone_when_undone(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one")
    committed = parts_of(desk)
    desk.rollback(None, files_only=True)
    assert parts_of(desk)._replace(files=committed.files).differs(committed) == []
    assert "a" not in os.listdir(desk.root)
    desk.git("switch", "-q", "--detach")
    desk.checkpoint()
    desk.undo()
    assert parts_of(desk).differs(committed._replace(head=None)) == []


def test_an_intent_to_add_outlives_its_file(desk: Desk) -> None:
    desk.shell(
        "echo later >later; mkdir d; echo >d/x; chmod +x d/x; ln -s later link;"
        " git rm -q --cached src/a.py; git add -N later d/x link src/a.py;"
        " git update-index --assume-unchanged hello.txt"
    )
    intended = parts_of(desk)
    assert [path for path, _ in intended.flags] == ["d/x", "hello.txt", "later", "link", "src/a.py"]
    desk.rollback(None, files_only=True)
    assert parts_of(desk).flags == intended.flags
    desk.rollback(None)
    assert parts_of(desk).flags == ()
    desk.undo()
    assert parts_of(desk).flags == intended.flags
    desk.undo()
    assert parts_of(desk).differs(intended) == []


@pytest.mark.parametrize("option", ["assume-unchanged", "skip-worktree"])
def test_a_file_that_git_does_not_look_at_goes_back(desk: Desk, option: str) -> None:
    desk.shell(f"echo 2 >src/a.py; {COMMIT} two")
    desk.shell(f"git update-index --{option} src/a.py; echo 3 >src/a.py")
    hidden = parts_of(desk)
    desk.rollback(None)
    assert (desk.read("src/a.py"), parts_of(desk).flags) == (b"a = 1\n", ())
    desk.rollback(1)
    desk.undo()
    desk.undo()
    assert parts_of(desk).differs(hidden) == []


def test_undoing_a_run_asks_about_what_was_staged_by_hand(desk: Desk) -> None:
    desk.shell("echo 1 >a")
    desk.git("add", "a")
    with pytest.raises(Refusal, match="what is staged"):
        desk.undo()


def test_a_task_of_before_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its steps go back with files and HEAD; what they do not say of the phases stays."""
    base = parts_of(desk)
    with monkeypatch.context() as patched:
        patched.setattr(CaptureWork, "git_state", lambda _work, _moved: (None, ()))
        desk.shell(f"echo 1 >a; {COMMIT} one; echo staged >s; git add s")
        old = parts_of(desk)
        desk.shell(f"git rm -qf s; echo 2 >a; {COMMIT} two")
        desk.rollback(1, files_only=True)
        desk.undo()
    move(desk.project, PhaseRequest(PhaseMove.START, "begin", "impl", desk.task.id))
    now = parts_of(desk)
    assert now.documents
    desk.rollback(1)
    found = parts_of(desk)
    assert (found.files, found.commit, found.head) == (old.files, old.commit, old.head)
    assert found.documents == now.documents
    assert desk.git("status", "--porcelain") == "?? s"  # what was staged then is not known
    desk.undo()
    assert parts_of(desk).differs(now) == []
    desk.rollback(None)
    assert parts_of(desk).differs(base) == []
    for _each in range(2):
        desk.undo()
    assert parts_of(desk).documents == {}
    desk.undo()
    assert parts_of(desk).files == old.files


def test_an_index_that_cannot_be_recorded_stops_all_but_files(desk: Desk) -> None:
    desk.shell(f"echo 1 >a; {COMMIT} one")
    (desk.git_dir / "index").write_bytes(b"DIRC damaged")
    with pytest.raises(SnapshotFailed, match="what is staged"):
        desk.rollback(None)
    assert (desk.git_dir / "index").read_bytes() == b"DIRC damaged"
    assert desk.read("a") == b"1\n"
    desk.rollback(None, files_only=True)
    assert not (desk.root / "a").exists()


def test_a_sparse_checkout_stays_sparse(desk: Desk) -> None:
    desk.shell(f"mkdir -p in out; echo 1 >in/a; echo 2 >out/b; {COMMIT} one")
    desk.shell("git sparse-checkout set --cone in")
    sparse = parts_of(desk)
    assert b"out/b" not in sparse.files
    desk.shell(f"echo 3 >in/a; {COMMIT} two")
    desk.rollback(2)
    assert parts_of(desk).differs(sparse) == []
    assert desk.git("status", "--porcelain") == ""


def test_submodules_keep_their_own_heads(desk: Desk, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    desk.sandbox.git("init", "-q", str(inner), cwd=tmp_path)
    desk.sandbox.git("commit", "-q", "--allow-empty", "-m", "one", cwd=inner)
    desk.shell(
        f"git -c protocol.file.allow=always submodule --quiet add {inner} sub; git commit -qm sub"
    )
    first = desk.git("rev-parse", "HEAD")
    desk.shell(
        "cd sub; echo x >x; git add x; git commit -qm two; cd ..; git add sub; git commit -qm bump"
    )
    own = desk.git("-C", "sub", "rev-parse", "HEAD")
    desk.rollback(1, force=True)  # of a repository inside, a snapshot has the files only
    assert desk.git("rev-parse", "HEAD") == first
    assert desk.git("-C", "sub", "rev-parse", "HEAD") == own
    desk.undo()
    assert desk.git("status", "--porcelain") == ""
