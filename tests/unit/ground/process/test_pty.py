"""Commands in a terminal of their own, with and without a terminal of ours."""

import json
import os
import signal
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from siding.ground.process.command import Ending, StdinPlan, StreamPlan, WindowSize
from siding.ground.process.output.reading import recover_output
from siding.ground.process.terminal import RawMode
from terminal import Terminal

from .world import ENVIRONMENT, PYTHON, Place, wait_until

PTY = StreamPlan.PTY


class Person:
    """A recorder in front of a person: typed at, looked at, resized."""

    def __init__(self, place: Place, *argv: str, **options: Any) -> None:
        options = {"streams": "pty", "stdin": "terminal", **options}
        line, self.path, self.outcome_path = place.recorder_argv(*argv, **options)
        # The shell shows what state the recorder leaves the terminal in.
        self.argv = ["sh", "-c", '"$@"; echo; stty -a; echo "shell goes on"', "sh", *line]
        self.terminal = Terminal(self.argv, cwd=place.folder, env=ENVIRONMENT, rows=30, columns=90)

    def finish(self) -> dict[str, Any]:
        """Wait for the end; return the outcome. The terminal must be as it was."""
        assert self.terminal.finish() == 0
        settings = self.terminal.seen.rpartition(b"speed")[2]
        assert b"shell goes on" in settings
        for usual in (b" isig", b" icanon", b" echo ", b" opost", b" icrnl"):
            assert usual in settings.replace(b"\r\n", b" "), usual
        loaded: dict[str, Any] = json.loads(self.outcome_path.read_text())
        return loaded


SitDown = Callable[..., Person]


@pytest.fixture
def sit_down(place: Place) -> Iterator[SitDown]:
    """Put a person in front of a recorded command."""
    persons: list[Person] = []

    def sit(*argv: str, **options: Any) -> Person:
        persons.append(Person(place, *argv, **options))
        return persons[-1]

    yield sit
    for person in persons:
        person.terminal.kill()


def test_output_is_one_stream_that_is_shown_and_kept(place: Place) -> None:
    run = place.run("sh", "-c", "echo out; echo err >&2; exit 3", streams=PTY)
    assert run.path.read_bytes() == b"=== PTY ===\nout\r\nerr\r\n"
    assert run.stdout == run.shown == b"out\r\nerr\r\n"
    assert (run.outcome.exit_code, run.outcome.ending) == (3, Ending.EXITED)
    assert (run.outcome.stdout_bytes, run.outcome.stderr_bytes) == (10, 0)
    assert not run.path.with_name("0001.stderr").exists()
    recovered = recover_output(run.path)
    assert recovered is not None
    assert recovered.sha256 == run.outcome.output_sha256


def test_the_command_sees_a_terminal_of_the_given_size(place: Place) -> None:
    source = """
import os, sys
print([os.isatty(fd) for fd in (0, 1, 2)], os.get_terminal_size(), os.environ["TERM"])
print(os.getpgrp() == os.getpid() == os.tcgetpgrp(0), os.ttyname(0) != "", bool(open("/dev/tty")))
"""
    run = place.python(source, streams=PTY, size=WindowSize(rows=33, columns=111))
    lines = run.stdout.decode().splitlines()
    assert lines[0] == "[True, True, True] os.terminal_size(columns=111, lines=33) xterm"
    assert lines[1] == "True True True"
    assert b"24 80" in place.run("stty", "size", streams=PTY).stdout


def test_a_missing_term_is_filled_in(place: Place) -> None:
    env = {"PATH": ENVIRONMENT["PATH"]}
    run = place.run("sh", "-c", "echo $TERM", streams=PTY, env=env)
    assert run.stdout == b"xterm-256color\r\n"


def test_all_of_a_large_output_is_kept(place: Place) -> None:
    run = place.run("seq", "300000", streams=PTY, timeout_s=100.0)
    expected = b"".join(b"%d\r\n" % number for number in range(1, 300_001))
    assert run.stdout == expected
    assert run.shown == expected


def test_the_last_words_of_a_command_are_kept(place: Place) -> None:
    """What is written just before the end is still in the terminal when the command is gone."""
    for _ in range(20):
        run = place.run("sh", "-c", "printf %4000d 7; exit 1", streams=PTY)
        assert len(run.stdout) == 4000


def test_nothing_to_read_is_an_end_of_file(place: Place) -> None:
    assert place.run("cat", streams=PTY).outcome.exit_code == 0


@pytest.mark.parametrize("typed", [b"line\nrest\n", b"no newline at the end"])
def test_a_file_is_typed_and_followed_by_an_end_of_file(place: Place, typed: bytes) -> None:
    (place.folder / "in").write_bytes(typed)
    with (place.folder / "in").open("rb") as file:
        run = place.run(
            "sh",
            "-c",
            "stty -echo; cat > copy",
            streams=PTY,
            stdin=StdinPlan.INHERIT,
            stdin_fd=file.fileno(),
        )
    assert run.outcome.exit_code == 0
    assert (place.folder / "copy").read_bytes() == typed


def test_a_command_that_lets_go_of_its_terminal_is_not_hung_up_on(place: Place) -> None:
    script = "exec <&- >&- 2>&-; sleep 0.3; echo back > /dev/tty; exit 6"
    run = place.run("sh", "-c", script, streams=PTY)
    assert (run.stdout, run.outcome.exit_code) == (b"back\r\n", 6)


def test_a_daemon_that_holds_the_terminal_does_not_hold_us_up(place: Place) -> None:
    script = "setsid sh -c 'trap \"\" HUP; touch ready; exec sleep 100' & "
    script += "while [ ! -e ready ]; do sleep 0.01; done; echo done"
    run = place.run("sh", "-c", script, streams=PTY)
    assert run.stdout == b"done\r\n"
    assert [found.name for found in run.outcome.left_running] == ["sleep"]
    assert len(run.outcome.notes) == 1
    place.end()


@pytest.mark.parametrize("streams", StreamPlan)
def test_what_is_left_in_the_background_lives_on(place: Place, streams: StreamPlan) -> None:
    script = "sleep 100 & echo done"
    run = place.run("sh", "-c", script, streams=streams)
    assert run.stdout.split() == [b"done"]
    assert [found.name for found in run.outcome.left_running] == ["sleep"]
    time.sleep(0.2)  # a hangup would be there by now
    assert place.living() == ["sleep"]
    place.end()


def test_a_timeout_ends_what_runs_in_the_terminal(place: Place) -> None:
    run = place.run("sh", "-ic", "sleep 100 & sleep 100", streams=PTY, timeout_s=0.5, grace_s=0.1)
    assert run.outcome.ending is Ending.TIMEOUT
    assert run.outcome.survivors == ()


def test_size_and_settings_are_the_persons(sit_down: SitDown) -> None:
    person = sit_down("sh", "-c", "stty size; stty -a")
    outcome = person.finish()
    assert outcome["exit_code"] == 0
    assert person.terminal.seen.startswith(b"30 90\r\n")


def test_the_window_may_be_resized(sit_down: SitDown) -> None:
    source = """
import os, signal, sys, time
sizes = [os.get_terminal_size().columns]
signal.signal(signal.SIGWINCH, lambda *_: sizes.append(os.get_terminal_size().columns))
print("ready", flush=True)
while sizes[-1] != 132:
    time.sleep(0.01)
print("resized", os.get_terminal_size())
"""
    person = sit_down(PYTHON, "-c", source)
    person.terminal.wait_for(b"ready")
    person.terminal.resize(50, 132)
    person.terminal.wait_for(b"resized os.terminal_size(columns=132, lines=50)")
    assert person.finish()["exit_code"] == 0


def test_keys_reach_the_command_and_are_echoed_once(sit_down: SitDown) -> None:
    person = sit_down("sh", "-c", 'echo ready; read line; echo "got $line"')
    person.terminal.wait_for(b"ready")
    person.terminal.type(b"hello\r")
    person.terminal.wait_for(b"got hello")
    person.finish()
    assert person.terminal.seen.count(b"hello") == 2
    assert person.path.read_bytes().startswith(b"=== PTY ===\nready\r\nhello\r\ngot hello\r\n")


@pytest.mark.parametrize(
    ("key", "number"),
    [(b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"\x1a", signal.SIGTSTP)],
)
def test_signal_keys_reach_the_command_and_not_us(
    sit_down: SitDown, key: bytes, number: int
) -> None:
    source = f"""
import os, signal, time
def caught(number, frame):
    os.write(1, b"caught %d" % number)
    os._exit(9)
signal.signal({number}, caught)
os.write(1, b"ready")
time.sleep(100)
"""
    person = sit_down(PYTHON, "-c", source)
    person.terminal.wait_for(b"ready")
    person.terminal.type(key)
    person.terminal.wait_for(b"caught %d" % number)
    outcome = person.finish()
    assert (outcome["ending"], outcome["exit_code"]) == ("exited", 9)


def test_ctrl_c_ends_a_command_that_does_not_catch_it(place: Place, sit_down: SitDown) -> None:
    """It is an interruption as in a shell, and nothing outlives it."""
    person = sit_down("sh", "-c", "setsid sleep 100 & echo ready; exec sleep 100")
    person.terminal.wait_for(b"ready")
    wait_until(lambda: place.living() == ["sleep", "sleep"])  # both shells have become one
    person.terminal.type(b"\x03")
    outcome = person.finish()
    assert (outcome["ending"], outcome["exit_code"]) == ("interrupted", 130)
    assert [name for _pid, name, _started in outcome["ended_by_us"]] == ["sleep"]
    assert place.living() == []


def test_ctrl_c_goes_to_the_foreground_job_of_a_shell(place: Place, sit_down: SitDown) -> None:
    person = sit_down("sh", "-i")
    person.terminal.type(b"PS1=READY; sleep 100; echo after\r")
    wait_until(lambda: "sleep" in place.living())
    person.terminal.type(b"\x03")
    wait_until(lambda: "sleep" not in place.living())
    person.terminal.type(b"exit 4\r")
    assert person.finish()["exit_code"] == 4


def test_a_full_screen_program(sit_down: SitDown) -> None:
    source = """
import curses
def main(screen):
    curses.curs_set(0)
    screen.timeout(100)  # curses loses a resize that comes just before it starts to wait
    while True:
        screen.erase()
        screen.addstr(0, 0, "size %dx%d" % screen.getmaxyx())
        screen.refresh()
        key = screen.getch()
        if key == curses.KEY_RESIZE:
            curses.update_lines_cols()
        elif key == ord("q"):
            return
curses.wrapper(main)
"""
    person = sit_down(PYTHON, "-c", source)
    person.terminal.wait_for(b"size 30x90")
    person.terminal.resize(20, 60)
    person.terminal.wait_for(b"20x60")
    person.terminal.type(b"q")
    assert person.finish()["exit_code"] == 0
    assert b"\x1b[?1049h" in person.path.read_bytes()


def test_a_killed_full_screen_program_leaves_a_usable_screen(sit_down: SitDown) -> None:
    """Its artifact holds what it wrote; the screen gets back what it did not put back."""
    script = r"printf '\033[?1049h\033[?25l\033[?1000;1006h\033[?2004h\033[?2004lready'; sleep 100"
    person = sit_down("sh", "-c", script, timeout_s=1.0, grace_s=0.1)
    person.terminal.wait_for(b"ready")
    assert person.finish()["ending"] == "timeout"
    after = person.terminal.seen.partition(b"ready")[2].partition(b"speed")[0]
    for sequence in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1006l"):
        assert sequence in after
    assert b"2004" not in after
    assert person.path.read_bytes().endswith(b"ready")


def test_the_terminal_is_put_back_when_the_recorder_is_ended(
    place: Place, sit_down: SitDown
) -> None:
    person = sit_down("sh", "-c", "echo ready; sleep 100", grace_s=0.1)
    person.terminal.wait_for(b"ready")
    children = Path(f"/proc/{person.terminal.process.pid}/task/{person.terminal.process.pid}")
    os.kill(int((children / "children").read_text()), signal.SIGTERM)
    outcome = person.finish()
    assert (outcome["ending"], outcome["exit_code"]) == ("interrupted", 143)
    assert place.living() == []


def test_a_terminal_that_goes_away_ends_everything(place: Place, sit_down: SitDown) -> None:
    person = sit_down("sh", "-c", "trap '' HUP; echo ready; sleep 100; sleep 100", grace_s=0.1)
    person.terminal.wait_for(b"ready")
    os.close(person.terminal._master)
    wait_until(person.outcome_path.exists)
    wait_until(lambda: not place.living())
    person.terminal.kill()


def test_in_the_background_the_terminal_is_left_alone(place: Place) -> None:
    """Reading it or changing it from there would stop us."""
    line, path, outcome = place.recorder_argv("echo", "hi", streams="pty", stdin="terminal")
    shell = ["sh", "-mc", '"$@" & wait $!; echo "status $?"', "sh", *line]
    terminal = Terminal(shell, cwd=place.folder, env=ENVIRONMENT)
    terminal.wait_for(b"status 0")
    terminal.finish()
    assert outcome.exists()
    assert path.read_bytes() == b"=== PTY ===\nhi\r\n"


def test_raw_mode_is_left_on_an_exception() -> None:
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    inside = ExitStack()
    inside.enter_context(RawMode(slave))
    assert termios.tcgetattr(slave) != before
    with pytest.raises(RuntimeError), inside:
        raise RuntimeError
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)
