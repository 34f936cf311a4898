"""An apply is taken back and done again, as long as it costs nobody anything."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Stage


def undo(stage: Stage, word: str = "undo", *, status: int = 0) -> str:
    done = stage.box.siding(word, "-t", stage.task, status=status)
    return (done.stdout + done.stderr).decode()


def test_back_and_forth(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt; rm run.sh; echo new >new.txt")
    (stage.repo / "src/a.py").write_text("mine\n")
    before = stage.everything()
    stage.apply("--no-close")
    after = stage.everything()
    assert after != before
    for _ in range(2):
        undo(stage)
        assert stage.everything() == before
        undo(stage, "redo")
        assert stage.everything() == after


def test_work_made_between_an_apply_and_its_redo_is_applied_next(stage: Stage) -> None:
    """Redo brings what the apply had brought, and nothing of what came later."""
    stage.agent("echo one >one.txt")
    stage.apply("--no-close")
    stage.agent("echo two >two.txt; echo changed >hello.txt")
    undo(stage)
    undo(stage, "redo")
    assert "two.txt" not in stage.files()
    stage.apply("--no-close")
    assert stage.show("two.txt") == "two\n"
    assert stage.show("hello.txt") == "changed\n"
    assert stage.status() == []


def test_patch_back_and_forth(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt; rm run.sh; echo new >new.txt")
    (stage.repo / "src/a.py").write_text("mine\n")
    before = stage.everything()
    stage.apply("--mode", "patch", "--no-close")
    after = stage.everything()
    undo(stage)
    assert stage.everything() == before
    undo(stage, "redo")
    assert stage.everything() == after
    (stage.repo / "hello.txt").write_text("edited since\n")
    after = stage.everything()
    assert "hello.txt" in undo(stage, status=1)
    assert stage.everything() == after


def commit_on_top(stage: Stage, _directory: Path) -> None:
    stage.git("commit", "-q", "--allow-empty", "-m", "later")


def push(stage: Stage, directory: Path) -> None:
    stage.git("clone", "-q", "--bare", str(stage.repo), str(directory / "remote"))
    stage.git("remote", "add", "origin", str(directory / "remote"))
    stage.git("push", "-q", "origin", "main")


def edit(stage: Stage, _directory: Path) -> None:
    (stage.repo / "hello.txt").write_text("edited since\n")


@pytest.mark.parametrize(
    ("meanwhile", "word"), [(commit_on_top, "lost"), (push, "pushed"), (edit, "hello.txt")]
)
def test_what_cannot_be_taken_back_is_said(
    stage: Stage, tmp_path: Path, meanwhile: Callable[[Stage, Path], None], word: str
) -> None:
    stage.agent("echo agent >>hello.txt")
    stage.apply("--no-close")
    meanwhile(stage, tmp_path)
    before = stage.everything()
    assert word in undo(stage, status=1)
    assert stage.everything() == before


def test_after_an_undo_all_of_it_can_be_applied_again(stage: Stage) -> None:
    stage.agent("echo agent >>hello.txt")
    stage.apply("--no-close")
    undo(stage)
    stage.apply("--mode", "squash", "-m", "second try")
    assert stage.subjects()[:2] == ["second try", "second"]
    assert stage.show("hello.txt") == "hello\nagent\n"
