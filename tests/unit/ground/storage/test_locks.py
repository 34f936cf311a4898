"""Locks: one holder, named; the dead free theirs, the frozen keep theirs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from planted import planted
from siding.ground.errors import NotARegularFile
from siding.ground.storage.locks import FileLock, Holder, LockBusy

HOLDER = Holder(pid=os.getpid(), since="2024-01-15T10:00:00.000Z", what="a test")

KEEPER = """
import os, sys
from pathlib import Path
from siding.ground.storage.locks import FileLock, Holder
lock = FileLock(Path(sys.argv[1]))
timeout_s = None if sys.argv[2] == "wait" else 0
lock.acquire(timeout_s=timeout_s, holder=Holder(pid=os.getpid(), since="then", what="keeping"))
print("held", flush=True)
sys.stdin.readline()
lock.release()
"""


@contextmanager
def keeper(path: Path, how: str = "now") -> Iterator[subprocess.Popen[bytes]]:
    """A process that takes the lock, says so, and lets go when it is given a line."""
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(path), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until_held(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout
    assert process.stdout.readline() == b"held\n"


def test_a_lock_excludes_every_other_object_until_it_is_released(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    with first.acquire(holder=HOLDER):
        assert first.is_held
        with pytest.raises(LockBusy) as caught:
            second.acquire()
        assert caught.value.holder == HOLDER
        assert "a test" in caught.value.message
        assert str(HOLDER.pid) in caught.value.message
    with second, pytest.raises(LockBusy):
        first.acquire()
    second.release()  # once more does nothing


def test_who_holds_it_is_known_while_it_is_held_and_no_longer(tmp_path: Path) -> None:
    lock, looker = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert looker.holder() is None
    assert not looker.is_locked()
    assert list(tmp_path.iterdir()) == []  # a look makes no file
    with lock.acquire(holder=HOLDER):
        assert looker.holder() == lock.holder() == HOLDER
        assert looker.is_locked()
    assert looker.holder() is None
    assert not looker.is_locked()
    assert (tmp_path / "lock").read_bytes() == b""


def test_a_lock_without_a_note_is_held_by_nobody_known(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock"):
        assert FileLock(tmp_path / "lock").is_locked()
        assert FileLock(tmp_path / "lock").holder() is None
        with pytest.raises(LockBusy, match="another process"):
            FileLock(tmp_path / "lock").acquire()


@pytest.mark.parametrize(
    "note",
    [
        b'{"pid": 1, "since"',
        b"\xff\0",
        b"null",
        b'{"pid": "1", "since": "x", "what": "y"}',
        b"[" * 4000,
    ],
)
def test_a_note_that_cannot_be_read_is_none(tmp_path: Path, note: bytes) -> None:
    with FileLock(tmp_path / "lock").acquire(holder=HOLDER):
        (tmp_path / "lock").write_bytes(note)
        assert FileLock(tmp_path / "lock").holder() is None
        with pytest.raises(LockBusy) as caught:
            FileLock(tmp_path / "lock").acquire()
        assert caught.value.holder is None
    with FileLock(tmp_path / "lock").acquire(holder=HOLDER):
        assert FileLock(tmp_path / "lock").holder() == HOLDER


def test_a_shorter_note_replaces_a_longer_one_whole(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("x" * 500)
    with FileLock(tmp_path / "lock").acquire(holder=HOLDER):
        assert json.loads((tmp_path / "lock").read_text())["what"] == "a test"


def test_a_dead_holder_frees_its_lock_and_its_note_counts_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with keeper(path) as process:
        wait_until_held(process)
        assert FileLock(path).holder() == Holder(pid=process.pid, since="then", what="keeping")
        process.kill()
        process.wait()
        assert b"keeping" in path.read_bytes()
        assert FileLock(path).holder() is None
        assert not FileLock(path).is_locked()
        with FileLock(path).acquire(holder=HOLDER):
            assert FileLock(path).holder() == HOLDER


def test_a_frozen_holder_is_not_robbed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with keeper(path) as process:
        wait_until_held(process)
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(LockBusy) as caught:
            FileLock(path).acquire(timeout_s=0.05)
        assert caught.value.holder
        assert caught.value.holder.pid == process.pid


def test_waiting_for_ever_ends_when_the_lock_is_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = FileLock(path).acquire()
    with keeper(path, "wait") as process:
        lock.release()
        wait_until_held(process)


class FakeTime:
    """Seconds pass only by sleeping; at a chosen moment something happens."""

    def __init__(self) -> None:
        self.now = 100.0
        self.naps: list[float] = []
        self.at: dict[int, object] = {}

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.naps.append(seconds)
        happening = self.at.get(len(self.naps))
        if callable(happening):
            happening()


def test_waiting_gets_the_lock_as_soon_as_it_is_free(tmp_path: Path) -> None:
    time, held = FakeTime(), FileLock(tmp_path / "lock").acquire()
    time.at[7] = held.release
    waiting = FileLock(tmp_path / "lock", sleep=time.sleep, monotonic=time.monotonic)
    with waiting.acquire(timeout_s=60):
        assert len(time.naps) == 7
        assert time.naps == sorted(time.naps)


def test_who_waits_long_looks_often_all_the_same(tmp_path: Path) -> None:
    time, held = FakeTime(), FileLock(tmp_path / "lock").acquire()
    time.at[100] = held.release
    waiting = FileLock(tmp_path / "lock", sleep=time.sleep, monotonic=time.monotonic)
    with waiting.acquire(timeout_s=60):
        assert 0 < time.naps[0] < 0.001
        assert max(time.naps) == 0.025


def test_nobody_waits_who_does_not_ask_to(tmp_path: Path) -> None:
    time = FakeTime()
    lock = FileLock(tmp_path / "lock", sleep=time.sleep, monotonic=time.monotonic)
    with FileLock(tmp_path / "lock"), pytest.raises(LockBusy):
        lock.acquire()
    assert time.now - 100 == pytest.approx(0.01)


def test_what_was_waited_for_without_end_is_held(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock").acquire(timeout_s=None):
        assert FileLock(tmp_path / "lock").is_locked()


@pytest.mark.parametrize("timeout_s", [0, 0.2, 5])
def test_waiting_ends_at_its_time(tmp_path: Path, timeout_s: float) -> None:
    time = FakeTime()
    waiting = FileLock(tmp_path / "lock", sleep=time.sleep, monotonic=time.monotonic)
    with FileLock(tmp_path / "lock").acquire(holder=HOLDER), pytest.raises(LockBusy) as caught:
        waiting.acquire(timeout_s=timeout_s)
    assert caught.value.holder == HOLDER
    assert time.now - 100 == pytest.approx(max(timeout_s, 0.01))
    waiting.acquire().release()  # and it is of use again


def test_who_waits_through_a_move_locks_what_is_there_now(tmp_path: Path) -> None:
    """The task's directory goes to the trash while somebody waits for the lock in it."""
    directory = tmp_path / "task"
    directory.mkdir()
    time, held = FakeTime(), FileLock(directory / "lock").acquire()

    def move_and_make_another() -> None:
        directory.rename(tmp_path / "trash")
        directory.mkdir()
        held.release()

    time.at[2] = move_and_make_another
    waiting = FileLock(directory / "lock", sleep=time.sleep, monotonic=time.monotonic)
    with waiting.acquire(timeout_s=60):
        assert FileLock(directory / "lock").is_locked()
        assert not FileLock(tmp_path / "trash" / "lock").is_locked()


def test_who_waits_through_a_removal_is_told(tmp_path: Path) -> None:
    directory = tmp_path / "task"
    directory.mkdir()
    time, held = FakeTime(), FileLock(directory / "lock").acquire()

    def move() -> None:
        directory.rename(tmp_path / "trash")
        held.release()

    time.at[2] = move
    with pytest.raises(FileNotFoundError):
        FileLock(directory / "lock", sleep=time.sleep, monotonic=time.monotonic).acquire(
            timeout_s=9
        )


def test_a_link_that_takes_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "lock", tmp_path / "elsewhere"
    time, held = FakeTime(), FileLock(path).acquire()

    def move_and_link() -> None:
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
        held.release()

    time.at[2] = move_and_link
    waiting = FileLock(path, sleep=time.sleep, monotonic=time.monotonic)
    with pytest.raises(NotARegularFile):
        waiting.acquire(timeout_s=60)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    path, time = tmp_path / "task/lock", FakeTime()
    path.parent.mkdir()
    waiting = FileLock(path, sleep=time.sleep, monotonic=time.monotonic)

    def move_and_make_another() -> None:
        path.parent.rename(tmp_path / "trash")
        path.parent.mkdir()
        held.release()

    before = os.listdir("/proc/self/fd")
    held = FileLock(path).acquire(holder=HOLDER)
    assert FileLock(path).is_locked()
    assert FileLock(path).holder() == HOLDER
    with pytest.raises(LockBusy):
        FileLock(path).acquire()
    time.at[len(time.naps) + 2] = move_and_make_another
    waiting.acquire(timeout_s=60).release()
    assert FileLock(path).holder() is None
    assert os.listdir("/proc/self/fd") == before


def test_a_child_that_was_given_the_lock_keeps_it_when_we_are_gone(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock").acquire(holder=HOLDER)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock.fd]) as child:
        lock.release()
        assert FileLock(tmp_path / "lock").is_locked()
        with pytest.raises(LockBusy):
            FileLock(tmp_path / "lock").acquire()
        child.kill()
        child.wait()
        FileLock(tmp_path / "lock").acquire().release()


def test_a_child_that_was_not_given_the_lock_does_not_keep_it(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock").acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False):
        lock.release()
        FileLock(tmp_path / "lock").acquire().release()


def test_only_a_regular_file_is_a_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    for act in (FileLock.acquire, FileLock.holder, FileLock.is_locked):
        with pytest.raises(NotARegularFile):
            act(FileLock(tmp_path / "lock"))


def test_a_failed_note_leaves_the_lock_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            FileLock(tmp_path / "lock").acquire(holder=HOLDER)
    FileLock(tmp_path / "lock").acquire().release()


def test_a_planted_fault_shows_that_the_gate_looks(tmp_path: Path) -> None:
    with planted("skip-lock"), FileLock(tmp_path / "lock"):
        FileLock(tmp_path / "lock").acquire().release()
