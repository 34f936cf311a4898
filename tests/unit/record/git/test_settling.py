"""A move of an earlier version, which wrote in place and was cut off: what is there decides."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from siding.record.moving.checkout import CheckoutGit
from siding.record.moving.model import Trees
from siding.record.moving.move_recovery import is_untouched, settle

from .moving import TOKEN, Ready
from .world import on_disk, write


@pytest.fixture
def where(ready: Ready) -> CheckoutGit:
    assert ready.move.checkout is not None
    return CheckoutGit(ready.world.repository, ready.world.settings, ready.move.checkout)


def settled(ready: Ready, where: CheckoutGit, *, whatever: bool = False) -> bool:
    return settle(
        where,
        TOKEN,
        Trees(old=ready.move.old, new=ready.move.new),
        ready.changes,
        directory=ready.world.directory / "displaced",
        publish=False,
        whatever=whatever,
    )


def test_untouched_is_what_is_so_on_disk_and_in_the_index(ready: Ready, where: CheckoutGit) -> None:
    root = ready.world.root
    assert is_untouched(where, TOKEN, ready.changes)
    before = (root / "tool").read_bytes()
    write(root / "tool", "edited\n")
    assert not is_untouched(where, TOKEN, ready.changes)
    write(root / "tool", before)
    assert is_untouched(where, TOKEN, ready.changes)
    ready.world.user("rm", "-q", "--cached", "tool")
    assert not is_untouched(where, TOKEN, ready.changes)


def edit(path: Path) -> None:
    path.write_text("mine\n")


def make_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("mine", [edit, make_a_pipe])
def test_what_is_the_persons_stops_it_or_stays(
    ready: Ready, where: CheckoutGit, mine: Callable[[Path], None]
) -> None:
    root = ready.world.root
    mine(root / "tool")
    tool, before = (root / "tool").lstat(), on_disk(root)
    assert not settled(ready, where)
    assert on_disk(root) == before
    assert settled(ready, where, whatever=True)
    assert (root / "tool").lstat().st_ino == tool.st_ino
    assert (root / "a.txt").read_text() == "new\n"
    assert not (root / "gone").exists()


def test_a_file_that_git_was_writing_is_written_again(ready: Ready, where: CheckoutGit) -> None:
    root = ready.world.root
    write(root / "a.txt", "ne")
    (root / "src/b.txt").unlink()
    assert settled(ready, where)
    assert (root / "a.txt").read_text() == (root / "src/b.txt").read_text() == "new\n"
