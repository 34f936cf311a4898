"""An exchange in steps that is cut off before any of its calls, on the way and on the way back."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siding.files import exchange as names
from siding.git.applying.checkout import CheckoutPlace
from siding.git.applying.exchange_steps import end_steps
from siding.git.applying.staged_checkout import discard, exchange, give_back, pending
from siding.git.restoring.displaced_list import identity_at, write_names
from siding.git.snapshots.patches import Change
from siding.ids import Sha

OLD, NEW, NONE = Sha("1" * 40), Sha("2" * 40), Sha("0" * 40)
CHANGES = (
    Change("A", b"dir/made", "000000", "100644", NONE, NEW),
    Change("M", b"file", "100644", "100644", OLD, NEW),
    Change("M", b"last", "100644", "100644", OLD, NEW),
    Change("D", b"gone", "100644", "000000", OLD, NONE),
)
BEFORE = {"file": "old", "last": "old", "gone": "old"}
AFTER = {"dir/made": "new", "file": "new", "last": "new"}
CALLS = 20  # more than either way makes
KilledAt = Callable[[int, Callable[[], Any]], bool]


class Killed(BaseException):
    """What a kill is to these calls: nothing after it is made."""


class Stage:
    """A checkout, and the staged files of CHANGES beside it."""

    def __init__(self, directory: Path) -> None:
        self.root, self.displaced = directory / "repo", directory / "displaced"
        self.place = CheckoutPlace(self.root, self.root / ".git")
        self.root.mkdir()
        self.displaced.mkdir()
        for name, text in BEFORE.items():
            (self.root / name).write_text(text)
        writes = [each for each in CHANGES if each.status != "D"]
        for number in range(len(writes)):
            (self.displaced / str(number)).write_text("new")
        before = {each.path: self._identity(each.path) for each in CHANGES}
        new = {
            each.path: identity_at(os.fsencode(self.displaced / str(number)))
            for number, each in enumerate(writes)
        }
        fd = os.open(self.displaced, os.O_RDONLY)
        write_names(fd, CHANGES, before=before, new=new)
        os.close(fd)

    def _identity(self, path: bytes) -> str:
        return identity_at(os.path.join(os.fsencode(self.root), path))

    def files(self) -> dict[str, str]:
        found = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)): path.read_text() for path in found}

    def exchange(self) -> None:
        exchange(self.place, self.displaced, CHANGES)

    def give_back(self) -> list[bytes]:
        return give_back(self.place, self.displaced)

    def end_steps(self) -> None:
        end_steps(self.place, self.displaced)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Where names cannot be exchanged."""
    monkeypatch.setattr(names, "_CALL", names._no_call)
    return Stage(tmp_path)


@pytest.fixture
def killed_at(
    monkeypatch: pytest.MonkeyPatch,
) -> KilledAt:
    """Carry something out up to its n-th call that changes a name; return whether it got there."""

    def carry_out(number: int, act: Callable[[], Any]) -> bool:
        seen = [0]

        def counting(real: Callable[..., None]) -> Callable[..., None]:
            def call(*args: Any, **more: Any) -> None:
                seen[0] += 1
                if seen[0] > number:
                    raise Killed
                real(*args, **more)

            return call

        with monkeypatch.context() as patch:
            for name in ("rename", "link", "unlink", "rmdir"):
                patch.setattr(os, name, counting(getattr(os, name)))
            try:
                act()
            except Killed:
                return True
        return False

    return carry_out


@pytest.mark.parametrize("number", range(CALLS))
def test_the_way_is_gone_on_with(stage: Stage, killed_at: KilledAt, number: int) -> None:
    killed_at(number, stage.exchange)
    stage.end_steps()
    stage.exchange()
    assert stage.files() == AFTER
    assert pending(stage.displaced) == []


@pytest.mark.parametrize("number", range(CALLS))
def test_the_way_is_taken_back(stage: Stage, killed_at: KilledAt, number: int) -> None:
    killed_at(number, stage.exchange)
    stage.end_steps()
    assert stage.give_back() == []
    assert stage.files() == BEFORE
    assert not (stage.root / "dir").exists()
    discard(stage.displaced)
    assert not stage.displaced.exists()


@pytest.mark.parametrize("number", range(CALLS))
@pytest.mark.parametrize("forward", [False, True])
def test_the_way_back_is_gone_on_with_or_taken_back(
    stage: Stage,
    killed_at: KilledAt,
    number: int,
    forward: bool,
) -> None:
    stage.exchange()
    killed_at(number, stage.give_back)
    killed_at(number % 3, stage.end_steps)
    stage.end_steps()
    if forward:
        stage.exchange()
    else:
        assert stage.give_back() == []
    assert stage.files() == (AFTER if forward else BEFORE)


def test_the_calls_are_all_of_them(stage: Stage, killed_at: KilledAt) -> None:
    assert killed_at(5, stage.exchange)
    stage.end_steps()
    assert not killed_at(CALLS - 1, stage.exchange)
    assert not killed_at(CALLS - 1, stage.give_back)


def test_what_somebody_saves_in_the_moment_without_a_file_stays(
    stage: Stage, killed_at: KilledAt
) -> None:
    for number in range(CALLS):
        killed_at(number, stage.exchange)
        if not (stage.root / "file").exists():
            break
    (stage.root / "file").write_text("theirs")
    stage.end_steps()
    stage.give_back()
    assert stage.files() == {**BEFORE, "file": "theirs"}


def test_on_the_way_back_the_displaced_file_is_gone_too(stage: Stage) -> None:
    """Somebody has emptied the trash: the new file has its first name again all the same."""
    (stage.displaced / "1").rename(stage.displaced / "1.0.0")
    (stage.root / "file").unlink()
    stage.end_steps()
    assert (stage.displaced / "1").read_text() == "new"
    assert not (stage.displaced / "1.0.0").exists()
    assert stage.files() == {"last": "old", "gone": "old"}


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The inodes that were flushed so far."""
    real, found = os.fsync, set[int]()

    def fsync(fd: int) -> None:
        found.add(os.fstat(fd).st_ino)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_names_are_on_the_disk_when_the_files_are_back(stage: Stage, flushed: set[int]) -> None:
    stage.exchange()
    flushed.clear()
    stage.give_back()
    assert {stage.root.stat().st_ino, stage.displaced.stat().st_ino} <= flushed


def test_names_are_on_the_disk_when_a_step_was_ended(stage: Stage, flushed: set[int]) -> None:
    (stage.displaced / "1").rename(stage.displaced / "1.0.0")
    stage.end_steps()
    assert {stage.root.stat().st_ino, stage.displaced.stat().st_ino} <= flushed
