"""An exchange in steps that is cut off before any of its calls, on the way and on the way back."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from siding.ground.files import exchange as names
from siding.ground.ids import Sha
from siding.record.files.displaced import identity_at, write_names
from siding.record.moving.model import CheckoutPlace
from siding.record.moving.staged_checkout import discard, end_steps, exchange, give_back, pending
from siding.record.snapshots.patches import Change

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

    def displacing(self) -> dict[str, str]:
        """Return what the directory of the displaced files has beside its list."""
        return {p.name: p.read_text() for p in self.displaced.iterdir() if p.name != "names"}

    def is_settled(self) -> bool:
        """Tell whether each file is pending or exchanged, and has one name."""
        files = self.files()
        pending, exchanged = dict[str, str](), dict[str, str]()
        for number, each in enumerate(("dir/made", "file", "last")):
            there, old = files.pop(each, None), BEFORE.get(each)
            pending |= {str(number): "new"} if there == old else {}
            exchanged |= {f"{number}.0": "old"} if there == "new" and old else {}
            assert there in (old, "new")
        deleted = {} if files == {"gone": "old"} else {"3": "old"}
        return self.displacing() == pending | exchanged | deleted

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


@pytest.mark.parametrize("number", range(CALLS))
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_afterwards_each_file_is_pending_or_exchanged(
    stage: Stage, killed_at: KilledAt, number: int, back: bool, again: bool
) -> None:
    if back:
        stage.exchange()
    killed_at(number, stage.give_back if back else stage.exchange)
    if again:
        killed_at(1, stage.end_steps)
    stage.end_steps()
    assert stage.is_settled()


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


def test_the_newest_file_goes_back_into_an_empty_place(stage: Stage) -> None:
    """Somebody saved one while the first was out of the way, and it was taken out, too."""
    (stage.root / "file").rename(stage.displaced / "1.0")
    (stage.displaced / "1.1").write_text("theirs")
    stage.end_steps()
    assert stage.files()["file"] == "theirs"
    assert stage.displacing() == {"0": "new", "1": "new", "1.0": "old", "2": "new"}


def test_a_file_goes_back_although_the_new_one_is_another_now(stage: Stage) -> None:
    (stage.root / "file").rename(stage.displaced / "1.0")
    (stage.displaced / "1").write_text("of somebody")
    stage.end_steps()
    assert stage.files() == BEFORE
    assert stage.displacing() == {"0": "new", "1": "of somebody", "2": "new"}


def test_a_list_without_the_new_files_has_no_way_back_to_end(stage: Stage) -> None:
    stage.exchange()
    fd = os.open(stage.displaced, os.O_RDONLY)
    write_names(fd, CHANGES)
    os.close(fd)
    stage.end_steps()
    assert stage.files() == AFTER


def test_what_is_closed_against_writing_stays_closed(stage: Stage) -> None:
    (stage.root / "file").rename(stage.displaced / "1.0")
    stage.root.chmod(0o500)
    with suppress(PermissionError):  # who is root may write all the same
        stage.end_steps()
    assert stat.S_IMODE(stage.root.stat().st_mode) == 0o500
    stage.root.chmod(0o700)


def test_no_descriptor_is_left_open(stage: Stage) -> None:
    before = os.listdir("/dev/fd")
    stage.end_steps()
    assert os.listdir("/dev/fd") == before


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


def test_names_are_on_the_disk_where_a_step_was_ended_and_nowhere_else(
    stage: Stage, flushed: set[int]
) -> None:
    made = stage.root / "dir"
    made.mkdir()
    os.link(stage.displaced / "0", made / "made")
    stage.end_steps()
    assert flushed == {made.stat().st_ino, stage.displaced.stat().st_ino}


@pytest.mark.parametrize("cut_off", ["on the way", "at the end of the way back"])
def test_names_are_on_the_disk_when_a_file_is_where_it_was(
    stage: Stage, flushed: set[int], cut_off: str
) -> None:
    if cut_off == "on the way":
        (stage.root / "file").rename(stage.displaced / "1.0")
    else:
        os.link(stage.displaced / "1", stage.displaced / "1.0.0")
    stage.end_steps()
    assert stage.files() == BEFORE
    assert stage.displacing() == {"0": "new", "1": "new", "2": "new"}
    assert flushed == {stage.root.stat().st_ino, stage.displaced.stat().st_ino}


def test_nothing_is_flushed_where_nothing_was_cut_off(stage: Stage, flushed: set[int]) -> None:
    stage.end_steps()
    assert flushed == set()
    stage.exchange()
    flushed.clear()
    stage.end_steps()
    assert flushed == set()
