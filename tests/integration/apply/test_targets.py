"""The target as it is: dirty, moved, conflicting, checked out elsewhere or nowhere, busy."""

import os
from pathlib import Path

import pytest

from .conftest import Stage


def edit(stage: Stage, old: str, new: str) -> None:
    path = stage.repo / "text.txt"
    path.write_text(path.read_text().replace(old, new))


def test_dirty_files_elsewhere_are_left_alone(stage: Stage) -> None:
    """can1357/oh-my-pi#3841: the person's edits need not be in the way."""
    stage.agent("echo agent >>hello.txt; echo new >new.txt")
    (stage.repo / "src/a.py").write_text("a = 2\n")
    stage.git("add", "src/a.py")
    (stage.repo / "src/a.py").write_text("a = 3\n")
    edit(stage, "line 3\n", "my line\n")
    (stage.repo / "untracked").write_text("mine\n")
    (stage.repo / "stashed").write_text("stashed\n")
    stage.git("stash", "push", "-q", "-u", "stashed")
    stash = stage.git("stash", "list", "--format=%H")
    stage.apply()
    assert stage.status() == ["MM src/a.py", " M text.txt", "?? untracked"]
    assert (stage.repo / "src/a.py").read_text() == "a = 3\n"
    assert stage.git("show", ":src/a.py") == "a = 2"
    assert stage.git("stash", "list", "--format=%H") == stash
    assert (stage.repo / "hello.txt").read_text() == "hello\nagent\n"


@pytest.mark.parametrize("staged", [False, True], ids=["unstaged", "staged"])
def test_a_dirty_file_in_the_way_is_named_and_nothing_happens(stage: Stage, staged: bool) -> None:
    stage.agent("echo agent >>hello.txt; echo new >new.txt")
    (stage.repo / "hello.txt").write_text("mine\n")
    if staged:
        stage.git("add", ".")
    before = stage.everything()
    said = stage.apply(status=1)
    assert "hello.txt" in said
    assert stage.everything() == before
    assert "overlap   hello.txt" in stage.apply("--dry-run", status=1)
    assert stage.workspace.exists()


@pytest.mark.parametrize("kind", ["untracked", "ignored", "link", "directory", "file above"])
def test_files_unknown_to_git_in_the_way_are_named(stage: Stage, kind: str) -> None:
    """H6: git itself would write over an ignored file."""
    stage.agent("mkdir made; echo agent >made/new.txt")
    place = stage.repo / "made/new.txt"
    if kind == "file above":
        (stage.repo / "made").write_text("mine\n")
    elif kind == "directory":
        place.mkdir(parents=True)
        (place / "mine").write_text("mine\n")
    else:
        place.parent.mkdir()
        if kind == "link":
            place.symlink_to("../hello.txt")
        else:
            place.write_text("mine\n")
    if kind == "ignored":
        (stage.repo / ".git/info/exclude").write_text("made\n")
    before = stage.everything()
    assert "made" in stage.apply(status=1)
    assert stage.everything() == before


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_is_told_not_to_look_at(stage: Stage, flag: str) -> None:
    stage.agent("echo agent >>hello.txt")
    stage.git("update-index", flag, "hello.txt")
    (stage.repo / "hello.txt").write_text("mine\n")
    before = stage.everything()
    assert "hello.txt" in stage.apply(status=1)
    assert stage.everything() == before


def test_a_touched_file_is_no_obstacle(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt")
    os.utime(stage.repo / "hello.txt", (1, 1))
    stage.apply()
    assert stage.status() == []


def test_a_target_that_moved(stage: Stage) -> None:
    """BloopAI/vibe-kanban#737: refused as soon as the base moved, without a conflict."""
    stage.agent("sed -i 's/line 18/agent/' text.txt")
    edit(stage, "line 2\n", "mine\n")
    stage.git("commit", "-qam", "moved")
    edit(stage, "line 10\n", "")  # and it is not even in the way when the file is another one
    stage.git("checkout", "-q", "text.txt")
    stage.apply()
    text = stage.show("text.txt")
    assert "mine\n" in text
    assert "agent\n" in text
    assert stage.status() == []


def test_a_conflict_leaves_both_sides_as_they_were(stage: Stage) -> None:
    stage.agent("sed -i 's/line 5$/agent/' text.txt; rm hello.txt; echo new >new.txt")
    edit(stage, "line 5\n", "mine\n")
    (stage.repo / "hello.txt").write_text("changed\n")
    stage.git("commit", "-qam", "mine")
    before = stage.everything(), (stage.workspace / "text.txt").read_bytes()
    said = stage.apply(status=1)
    assert "conflict  hello.txt  (modify/delete)" in said
    assert "conflict  text.txt  (contents)" in said
    assert "--resolve" in said
    assert (stage.everything(), (stage.workspace / "text.txt").read_bytes()) == before
    assert "conflict  text.txt" in stage.apply("--dry-run", status=1)


def test_a_target_checked_out_in_another_worktree(stage: Stage, tmp_path: Path) -> None:
    stage.git("switch", "-q", "-c", "mine")
    elsewhere = tmp_path / "else where"
    stage.git("worktree", "add", "-q", str(elsewhere), "main")
    (elsewhere / "text.txt").write_text("my own\n")
    stage.agent("echo agent >>hello.txt")
    here = stage.everything()[0]
    said = stage.apply()
    assert str(elsewhere) in said
    assert (elsewhere / "hello.txt").read_text() == "hello\nagent\n"
    assert (elsewhere / "text.txt").read_text() == "my own\n"
    assert stage.status(elsewhere) == [" M text.txt"]
    assert stage.everything()[0] == here
    assert stage.git("branch", "--show-current") == "mine"


def test_a_target_checked_out_nowhere(stage: Stage) -> None:
    stage.git("switch", "-q", "-c", "mine")
    stage.agent("echo agent >>hello.txt")
    (stage.repo / "hello.txt").write_text("my own\n")
    before = stage.everything()[0]
    stage.apply()
    assert stage.show("hello.txt") == "hello\nagent\n"
    assert stage.everything()[0] == before
    assert stage.git("branch", "--show-current") == "mine"


def test_onto_another_branch(stage: Stage) -> None:
    stage.git("branch", "release")
    stage.agent("echo agent >>hello.txt")
    stage.apply("--onto", "release")
    assert stage.subjects("release")[0] == "Fix the parser"
    assert stage.subjects("main")[0] == "second"
    assert "no branch 'nowhere'" in stage.apply("--onto", "nowhere", status=1)


@pytest.mark.parametrize("what", ["merge", "rebase", "locked"])
def test_git_in_the_middle_of_something(stage: Stage, what: str) -> None:
    stage.agent("echo agent >>hello.txt")
    if what == "locked":
        (stage.repo / ".git/index.lock").touch()
    else:
        stage.git("switch", "-q", "-c", "other")
        edit(stage, "line 5\n", "other\n")
        stage.git("commit", "-qam", "other")
        stage.git("switch", "-q", "main")
        edit(stage, "line 5\n", "mine\n")
        stage.git("commit", "-qam", "mine")
        with pytest.raises(AssertionError):
            stage.git(what, "other")
    files = stage.everything()[:2]
    assert "hint" in stage.apply(status=1)
    assert stage.everything()[:2] == files
    if what == "locked":
        (stage.repo / ".git/index.lock").unlink()
        stage.apply()


def test_nothing_to_apply(stage: Stage) -> None:
    before = stage.everything()
    assert "nothing to apply" in stage.apply()
    assert stage.everything() == before
    assert stage.workspace.exists()


def test_the_target_has_it_already(stage: Stage) -> None:
    """An empty result: the same change was made on both sides."""
    stage.agent("echo same >>hello.txt")
    (stage.repo / "hello.txt").write_text("hello\nsame\n")
    stage.git("commit", "-qam", "same")
    before = stage.git("rev-parse", "main")
    assert "already" in stage.apply()
    assert stage.git("rev-parse", "main") == before


def test_a_preview_leaves_nothing_behind(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt")
    (stage.workspace / "unrecorded.txt").write_text("new\n")
    objects = stage.git("count-objects", "-v")
    before = stage.everything()
    said = stage.apply("--dry-run")
    assert "A  unrecorded.txt" in said
    assert stage.everything() == before
    assert stage.git("count-objects", "-v") == objects
    assert len(stage.box.steps(stage.task)) == 1


def test_no_identity_is_said_and_nothing_happens(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt")
    stage.git("config", "user.useConfigOnly", "true")
    before = stage.everything()
    for unknown in (("AUTHOR", "COMMITTER"), ("AUTHOR",), ("COMMITTER",)):
        person = {
            f"GIT_{who}_{what}": "" if who in unknown else f"{what}@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        assert "user.name" in stage.apply(status=1, env=person), unknown
        assert stage.everything() == before
