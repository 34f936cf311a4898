"""Temporary directories: where they are made, who holds them, and when they are swept."""

import errno
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from siding.record.snapshots import scratch as directories
from siding.record.snapshots.scratch import (
    abandoned,
    elsewhere,
    has_room,
    hold,
    nowhere,
    place_for,
    scratch,
    sweep,
)

MINE = f"siding-{os.geteuid()}-"
MUCH = 1 << 40


def test_a_scratch_directory_is_held_and_goes_with_all_in_it(tmp_path: Path) -> None:
    path = tmp_path / "looks/one"
    before = lowest_free()
    with scratch(path) as made:
        assert made == path
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "in").mkdir()
        (path / "in/file").write_text("x")
        assert abandoned(path.parent, before=time.time() + 60) == []
        assert not sweep(path)
        assert path.is_dir()
    assert not path.exists()
    with pytest.raises(ZeroDivisionError), scratch(path):
        raise ZeroDivisionError
    assert not path.exists()
    path.mkdir()
    with pytest.raises(FileExistsError), scratch(path):
        pass
    assert lowest_free() == before


def lowest_free() -> int:
    fd = os.open(os.devnull, os.O_RDONLY)
    os.close(fd)
    return fd


def test_what_nobody_holds_is_swept(tmp_path: Path) -> None:
    for name in ("a", "b-1", "b-2", "held"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (100, 100))
    (tmp_path / "file").write_text("x")
    os.utime(tmp_path / "file", (100, 100))
    (tmp_path / "link").symlink_to("a")
    before = lowest_free()
    fd = hold(tmp_path / "held")
    assert abandoned(tmp_path / "nothing", before=101) == []
    assert abandoned(tmp_path, before=100) == []  # as old as that is not older
    assert abandoned(tmp_path, before=101) == [tmp_path / "a", tmp_path / "b-1", tmp_path / "b-2"]
    assert abandoned(tmp_path, before=101, prefix="b") == [tmp_path / "b-1", tmp_path / "b-2"]
    assert sweep(tmp_path / "a") is sweep(tmp_path / "a") is True  # gone is gone
    assert not (tmp_path / "a").exists()
    assert sweep(tmp_path / "held") is False
    os.close(fd)
    assert sweep(tmp_path / "held") is True
    assert lowest_free() == before


def filled(monkeypatch: pytest.MonkeyPatch, rooms: Mapping[Path, int], **more: int) -> None:
    """Let file systems have so many bytes; all others have none."""

    def statvfs(path: Any) -> SimpleNamespace:
        size = rooms.get(Path(path), 0)
        if size < 0:
            raise OSError(errno.EIO, "a bad disk")
        fields = {"f_bavail": size // 4, "f_frsize": 4, "f_files": 0, "f_favail": 0}
        return SimpleNamespace(**fields | more)

    monkeypatch.setattr(os, "statvfs", statvfs)


def test_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enough = 16 << 20
    for size, names, expected in (
        (enough, {}, True),
        (enough - 4, {}, False),
        (enough, {"f_files": 1000, "f_favail": 200}, True),
        (enough, {"f_files": 1000, "f_favail": 199}, False),
        (enough, {"f_files": 1, "f_favail": 0}, False),
        (-1, {}, False),
    ):
        filled(monkeypatch, {tmp_path: size}, **names)
        assert has_room(tmp_path) is expected
    filled(monkeypatch, {tmp_path: MUCH, tmp_path / "nothing": MUCH})
    assert not has_room(tmp_path / "nothing")
    for lacks in (os.W_OK, os.X_OK):
        monkeypatch.setattr(os, "access", lambda _path, asked, lacks=lacks: not asked & lacks)
        assert not has_room(tmp_path)


def store(tmp_path: Path, tmpdir: str = "") -> Any:
    root = tmp_path / "snapshots.git"
    root.mkdir(exist_ok=True)
    environ = {"TMPDIR": tmpdir} if tmpdir else {}
    return SimpleNamespace(root=root, git=SimpleNamespace(environ=environ))


def test_a_look_begins_beside_the_snapshots_and_else_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, root = store(tmp_path, str(tmp_path)), tmp_path / "snapshots.git"
    inside, outside = root / "peeks/one", tmp_path / f"{MINE}one"
    filled(monkeypatch, {root: MUCH, tmp_path: MUCH})
    assert place_for(there, "peeks", "one") == inside
    (root / "peeks").mkdir()  # it may lie on a disk of its own
    assert place_for(there, "peeks", "one") == outside
    filled(monkeypatch, {root / "peeks": MUCH})
    assert place_for(there, "peeks", "one") == inside
    filled(monkeypatch, {})
    assert place_for(there, "peeks", "one") == inside
    assert elsewhere(there, "one") is None


def test_outside_the_first_place_with_room_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directories, "abandoned", lambda *_, **__: [])
    places = [tmp_path, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")]
    monkeypatch.setattr(os, "access", lambda *_: True)
    for number in range(len(places)):
        filled(monkeypatch, dict.fromkeys(places[number:], MUCH))
        assert elsewhere(store(tmp_path, str(tmp_path)), "x") == places[number] / f"{MINE}x"
    filled(monkeypatch, dict.fromkeys([*places, Path("relative"), Path("")], MUCH))
    for named in ("relative", ""):
        assert elsewhere(store(tmp_path, named), "x") == Path("/tmp") / f"{MINE}x"


def test_what_killed_looks_left_outside_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(monkeypatch, {tmp_path: MUCH})
    now = time.time()
    monkeypatch.setattr(directories, "time", SimpleNamespace(time=lambda: now))
    ages = {
        f"{MINE}old": 60.5,
        f"{MINE}young": 59.5,
        "siding-old": 61,
        "other": 61,
        f"{MINE}of": 61,
    }
    for name, age in ages.items():
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (now - age, now - age))
    if os.geteuid() == 0:
        os.chown(tmp_path / f"{MINE}of", 12345, -1)
    elsewhere(store(tmp_path, str(tmp_path)), "new")
    assert (tmp_path / f"{MINE}of").exists() is (os.geteuid() == 0)
    left = {each.name for each in tmp_path.iterdir()} - {f"{MINE}of", "snapshots.git"}
    assert left == {f"{MINE}young", "siding-old", "other"}


def test_what_is_told_when_there_is_no_room_anywhere() -> None:
    assert "No space left" in str(nowhere(OSError(errno.ENOSPC, "No space left on device")))
    assert "odd" in str(nowhere(OSError("odd")))
