"""What a person has seen of the rows, by device."""

import json
import os
from pathlib import Path

import pytest

from siding.feed.seen import Seen
from siding.ground.errors import SidingError
from siding.ground.storage.layout import Home
from siding.ground.storage.locks import FileLock
from unit.feed.folds import row

OLD, NEW = row("1", mark="old"), row("1", mark="new")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "siding")


@pytest.fixture
def used(home: Home) -> Home:
    """A home in which the device has been used."""
    Seen(home).keep([])
    return home


def test_looking_clears_it_and_it_can_be_put_back(used: Home) -> None:
    seen = Seen(used)
    for _ in range(2):
        assert seen.is_unseen(OLD)
        seen.look_at(OLD)
        assert not seen.is_unseen(OLD)
        assert not Seen(used).is_unseen(OLD), "it is on the disk"
        seen.put_back(OLD)
        assert Seen(used).is_unseen(OLD)
    seen.look_at(OLD)
    assert seen.is_unseen(NEW), "there is something new"


def test_at_first_all_that_is_there_is_seen(home: Home) -> None:
    seen = Seen(home)
    seen.keep([OLD])
    assert not seen.is_unseen(OLD)
    assert seen.is_unseen(row("2"))
    seen.keep([OLD, row("2")])
    assert Seen(home).is_unseen(row("2")), "only once"


def test_each_device_has_its_own(used: Home) -> None:
    Seen(used, "phone").keep([])
    Seen(used).look_at(OLD)
    assert Seen(used, "phone").is_unseen(OLD)
    with pytest.raises(SidingError):
        Seen(used, "../else")


def test_two_screens_lose_nothing(used: Home) -> None:
    one, two = Seen(used), Seen(used)
    one.look_at(row("1"))
    two.look_at(row("2"))
    one.look_at(row("3"))
    found = Seen(used)
    assert not any(found.is_unseen(row(key)) for key in "123")
    assert two.is_unseen(row("3"))
    two.refresh()
    assert not two.is_unseen(row("3"))


def test_many_screens_at_once_lose_nothing(used: Home) -> None:
    children = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            seen = Seen(used)
            for each in range(10):
                seen.look_at(row(f"{number}.{each}"))
            os._exit(0)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
    assert not any(Seen(used).is_unseen(row(f"{n}.{each}")) for n in range(4) for each in range(10))


def test_marks_of_rows_that_are_gone_are_dropped(used: Home) -> None:
    seen = Seen(used)
    for key in "123":
        seen.look_at(row(key))
    seen.keep([row("2")])
    found = json.loads((used.feed_dir / "seen" / "terminal.json").read_bytes())
    assert found == {"version": 1, "marks": {"2": ""}}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"marks": 1}', b'{"marks": {"1": 2}}'])
def test_a_damaged_file_is_replaced(used: Home, damage: bytes) -> None:
    path = used.feed_dir / "seen" / "terminal.json"
    path.write_bytes(damage)
    seen = Seen(used)
    assert seen.is_unseen(OLD)
    seen.look_at(OLD)
    assert not Seen(used).is_unseen(OLD)


def test_where_nothing_can_be_written_marks_are_kept_here(home: Home) -> None:
    home.root.write_text("no directory")
    seen = Seen(home)
    seen.keep([OLD])
    assert not seen.is_unseen(OLD)
    seen.look_at(NEW)
    assert not seen.is_unseen(NEW)


def test_a_screen_that_hangs_holds_nobody_up(used: Home) -> None:
    seen = Seen(used)
    with FileLock(used.feed_dir / "seen" / "terminal.lock"):
        seen.look_at(OLD)
        assert not seen.is_unseen(OLD)
    assert Seen(used).is_unseen(OLD)
