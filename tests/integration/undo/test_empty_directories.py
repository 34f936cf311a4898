"""A state has the empty directories that it had when it was recorded: no more, and no fewer."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siding.ground.errors import SidingError
from siding.ground.git.roots import WorktreeRoot
from siding.record.files.plan import Restoration, Why
from siding.record.files.restore import restore
from siding.record.files.staging import Staged
from siding.record.restoring import act as restore_act
from siding.record.snapshots import modes

from .desk import Desk

_NAMES = ("a", "a/b", "a/b/c", "d", "d/e", "f")
# Of each name: nothing, an empty directory or a file. A file has nothing below it.
_LAYOUTS = st.lists(st.sampled_from(["", "", "dir", "file"]), min_size=6, max_size=6)


def lay(root: Path, layout: list[str]) -> None:
    for name in ("a", "d", "f"):
        if (root / name).is_dir():
            shutil.rmtree(root / name)
        else:
            (root / name).unlink(missing_ok=True)
    for name, what in zip(_NAMES, layout, strict=True):
        path = root / name
        if not what or any(above.is_file() for above in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if what == "dir":
            path.mkdir()
        else:
            path.write_text(f"{name}\n")


def everything(root: Path) -> dict[str, bytes | None]:
    """Return what is there: the content of a file, None of a directory."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes()
        for path in _below(root)
    }


def _below(directory: Path) -> Iterator[Path]:
    for path in directory.iterdir():
        if path.name != ".git":
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _below(path)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(_LAYOUTS, min_size=2, max_size=3), st.data())
def test_every_recorded_state_comes_back_with_its_empty_directories(
    desk: Desk, layouts: list[list[str]], data: st.DataObject
) -> None:
    states = {}
    for layout in layouts:
        lay(desk.root, layout)
        states[desk.checkpoint().number] = everything(desk.root)
    before = states[max(states)]
    for number in data.draw(st.permutations(sorted(states))):
        desk.rollback(number)
        assert everything(desk.root) == states[number]
        desk.undo()
        assert everything(desk.root) == before
        desk.redo()
        assert everything(desk.root) == states[number]
        before = states[number]


def test_the_preview_names_what_the_rollback_makes_and_takes_away(desk: Desk) -> None:
    desk.shell("mkdir -p kept gone/deep; echo 1 >f")
    desk.shell("rmdir kept; mkdir -p new/deep/er new/full; echo 2 >new/full/g")
    plan = desk.preview(1).plan
    assert plan.made == (b"kept",)
    assert plan.removed == (b"new/deep/er", b"new/deep", b"new")
    first = everything(desk.root)
    desk.rollback(1)
    assert everything(desk.root).keys() >= {"kept", "gone", "gone/deep", "f"}
    assert not (desk.root / "new").exists()
    desk.undo()
    assert everything(desk.root) == first
    desk.redo()
    assert not (desk.root / "new").exists()
    assert (desk.root / "kept").is_dir()


def test_nothing_but_directories_is_a_difference_too(desk: Desk) -> None:
    desk.checkpoint()
    (desk.root / "void").mkdir()
    done = desk.rollback(1)
    assert [step.title for step in done.settled] == ["changes made outside Siding"]
    assert not done.survey.nothing_to_do
    assert not (desk.root / "void").exists()
    assert desk.rollback(1).survey.nothing_to_do
    desk.rollback(done.settled[0].number)
    assert (desk.root / "void").is_dir()


def test_what_the_rollback_itself_empties_stays_if_it_was_empty_then(desk: Desk) -> None:
    desk.shell("mkdir -p was")
    desk.shell("echo 1 >was/f; mkdir -p since/sub; echo 2 >since/f")
    desk.rollback(1)
    assert (desk.root / "was").is_dir()
    assert not (desk.root / "since").exists()


def test_only_the_named_paths_lose_and_get_directories(desk: Desk) -> None:
    desk.shell("mkdir one two; echo 1 >one/f; echo 1 >two/f")
    desk.shell("mkdir -p one/new two/new")
    desk.rollback(1, "one")
    assert not (desk.root / "one/new").exists()
    assert (desk.root / "two/new").is_dir()


def test_a_directory_that_gets_a_file_in_that_moment_stays_and_is_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.checkpoint()
    desk.shell("mkdir -p void/in other")
    root = desk.root

    def late(where: WorktreeRoot, plan: Restoration, staged: Staged, **more: bool) -> None:
        (root / "void/in/late").write_text("late\n")
        restore(where, plan, staged, **more)

    monkeypatch.setattr(restore_act, "restore", late)
    done = desk.rollback(1)
    assert (root / "void/in/late").read_text() == "late\n"
    assert {b"void", b"void/in", b"void/in/late"} <= set(done.restored.missed)
    assert not (root / "other").exists()


def test_where_ignored_files_were_or_are_the_directory_stays(desk: Desk) -> None:
    """It is in no tree, and it was not empty: that it was not there is not proved."""
    desk.write(".gitignore", "*.log\nout/\n")
    desk.shell("mkdir -p logs out/sub; echo 1 >logs/a.log; echo 1 >out/sub/b")
    desk.shell("rm logs/a.log out/sub/b; rm .gitignore; mkdir -p full new; echo 1 >full/c.log")
    desk.shell("echo '*.log' >.gitignore")
    plan = desk.preview(2).plan
    assert plan.removed == (b"new",)
    desk.rollback(2)
    assert (desk.root / "logs").is_dir()
    assert (desk.root / "out/sub").is_dir()
    assert (desk.root / "full/c.log").exists()
    assert not (desk.root / "new").exists()


def test_an_ignored_empty_directory_is_left_alone(desk: Desk) -> None:
    desk.write(".gitignore", "out/\n")
    desk.checkpoint()
    desk.shell("mkdir -p out/empty; echo 1 >f")
    desk.rollback(1)
    assert (desk.root / "out/empty").is_dir()


def test_a_pipe_keeps_its_directory(desk: Desk) -> None:
    desk.shell("mkdir p; mkfifo p/pipe")
    desk.shell("rm p/pipe; echo 1 >f")
    desk.rollback(1)
    assert (desk.root / "p").is_dir()


def test_where_a_program_works_the_directory_stays(desk: Desk) -> None:
    desk.checkpoint()
    desk.shell("mkdir -p above/here beside")
    with subprocess.Popen(["cat"], cwd=desk.root / "above/here", stdin=subprocess.PIPE) as shell:
        done = desk.rollback(1)
        assert shell.poll() is None
    assert [(e.path, e.why) for e in done.survey.plan.left] == [(b"above/here", Why.IN_USE)]
    assert (desk.root / "above/here").is_dir()
    assert not (desk.root / "beside").exists()
    assert done.restored.missed == ()
    desk.rollback(1)
    assert not (desk.root / "above").exists()


def test_with_too_many_directories_none_is_taken_away(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modes, "MOST", 2)
    step = desk.shell("mkdir one two three; echo 1 >f")
    assert step.coverage is not None
    assert step.coverage.notes == ("too many directories without files: none was recorded",)
    desk.shell("mkdir four; echo 2 >f")
    desk.rollback(1)
    assert (desk.root / "four").is_dir()
    assert desk.read("f") == b"1\n"


def test_directories_made_since_are_not_taken_back_unasked(desk: Desk) -> None:
    desk.checkpoint()
    desk.shell("mkdir -p void")
    desk.rollback(1)
    os.mkdir(desk.root / "since")
    with pytest.raises(SidingError, match="since"):
        desk.undo()
    assert (desk.root / "since").is_dir()
    desk.undo(force=True)
    assert not (desk.root / "since").exists()
    assert (desk.root / "void").is_dir()
