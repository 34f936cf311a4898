"""What a command should read, for every kind of input a caller can have."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from siding.ground.process.command import StdinPlan
from siding.ground.process.streams import StdinChoice, stdin_plan

from .world import ENVIRONMENT, Place

NULL = StdinChoice(plan=StdinPlan.NULL, ignored_pipe=False)
IGNORED = StdinChoice(plan=StdinPlan.NULL, ignored_pipe=True)
INHERIT = StdinChoice(plan=StdinPlan.INHERIT, ignored_pipe=False)
TERMINAL = StdinChoice(plan=StdinPlan.TERMINAL, ignored_pipe=False)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            pass


def test_a_terminal_is_the_persons() -> None:
    master, slave = os.openpty()
    assert stdin_plan(slave) == TERMINAL
    assert stdin_plan(slave, explicit=True) == TERMINAL
    assert stdin_plan(slave, explicit=False) == NULL
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("content", [b"", b"data"])
def test_a_file_is_meant_for_the_command(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with (tmp_path / "file").open("rb") as file:
        assert stdin_plan(file.fileno()) == INHERIT
        assert stdin_plan(file.fileno(), explicit=False) == NULL


def test_null_and_nothing_are_nothing() -> None:
    with open(os.devnull, "rb") as null:
        assert stdin_plan(null.fileno()) == NULL
        assert stdin_plan(null.fileno(), explicit=True) == NULL
    assert stdin_plan(999) == NULL


def test_another_device_is_meant_for_the_command() -> None:
    with open("/dev/zero", "rb") as zero:
        assert stdin_plan(zero.fileno()) == INHERIT


def test_a_pipe_with_data_is_meant_for_the_command(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"data")
    assert stdin_plan(pipe[0]) == INHERIT
    os.close(pipe[1])
    assert stdin_plan(pipe[0]) == INHERIT
    assert os.read(pipe[0], 10) == b"data"


def test_a_closed_and_empty_pipe_is_nothing(pipe: tuple[int, int]) -> None:
    os.close(pipe[1])
    assert stdin_plan(pipe[0]) == NULL


def test_an_open_and_silent_pipe_is_not_given_to_the_command(pipe: tuple[int, int]) -> None:
    assert stdin_plan(pipe[0], wait_s=0.01) == IGNORED
    assert stdin_plan(pipe[0], explicit=True) == INHERIT
    assert stdin_plan(pipe[0], explicit=False) == NULL


def test_data_may_come_a_little_late(pipe: tuple[int, int]) -> None:
    def write() -> None:
        time.sleep(0.05)
        os.write(pipe[1], b"late")

    thread = threading.Thread(target=write)
    thread.start()
    assert stdin_plan(pipe[0], wait_s=30.0) == INHERIT
    thread.join()


def test_a_socket_is_as_a_pipe() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert stdin_plan(ours.fileno(), wait_s=0.01) == IGNORED
        theirs.send(b"data")
        assert stdin_plan(ours.fileno()) == INHERIT
        assert ours.recv(10) == b"data"
        theirs.close()
        assert stdin_plan(ours.fileno()) == NULL


def test_a_reader_does_not_hang_on_a_pipe_that_stays_open(
    place: Place, pipe: tuple[int, int]
) -> None:
    """What real agents do: read to the end of an input nobody ever closes."""
    choice = stdin_plan(pipe[0], wait_s=0.01)
    run = place.run("cat", stdin=choice.plan, stdin_fd=pipe[0])
    assert (run.outcome.exit_code, run.stdout) == (0, b"")


def test_data_of_a_pipe_reaches_the_command_whole(place: Place) -> None:
    with subprocess.Popen(["seq", "100000"], env=ENVIRONMENT, stdout=subprocess.PIPE) as producer:
        assert producer.stdout is not None
        fd = producer.stdout.fileno()
        choice = stdin_plan(fd, wait_s=30.0)
        assert choice == INHERIT
        run = place.run("cat", stdin=choice.plan, stdin_fd=fd)
    assert run.stdout == b"".join(b"%d\n" % number for number in range(1, 100_001))
