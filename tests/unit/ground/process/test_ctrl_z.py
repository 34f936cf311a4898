"""Ctrl-Z, `fg` and `bg` work on a run as on any job of the person's shell."""

import json
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from siding.ground.process import procfs
from siding.ground.process.tree import ProcessTree
from terminal import Terminal

from .world import ENVIRONMENT, PYTHON, Place, wait_until

CTRL_C, CTRL_Z = b"\x03", b"\x1a"
# A program in raw mode that suspends itself at Ctrl-Z, as editors and agents do.
EDITOR = """
import os, signal, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"<open>")
while (key := os.read(0, 1)) != b"q":
    if key == b"\\x1a":
        termios.tcsetattr(0, termios.TCSANOW, before)
        os.kill(0, {signal})
        tty.setraw(0)
        os.write(1, b"<back>")
    else:
        os.write(1, b"<" + key + b">")
termios.tcsetattr(0, termios.TCSANOW, before)
"""

# No shell loop that calls `sleep`: Ctrl-Z between vfork and exec stops the child and leaves the
# shell waiting for it, in any terminal.
WAITING = """
import os, time
print("up", flush=True)
while not os.path.exists("go"):
    time.sleep(0.02)
print("got", input())
"""
COUNTING = """
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        with open("count", "a") as file:
            file.write("x")
        time.sleep(0.02)
print("up", flush=True)
time.sleep(100)
"""


class Shell:
    """A person in front of an interactive bash."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.terminal = Terminal(
            ["bash", "--norc", "--noprofile", "-i"],
            cwd=place.folder,
            env={**ENVIRONMENT, "PS1": "$ ", "HISTFILE": ""},
        )
        self.terminal.wait_for(b"$ ")

    def line(self, *argv: str, tail: str = "", **options: str) -> Path:
        """Type a command line that records `argv`; return the file of its outcome."""
        line, _path, outcome = self.place.recorder_argv(*argv, **options)
        script = self.place.folder / "line.sh"
        script.write_text(f"exec {shlex.join(line)}\n")
        self.terminal.type(f"sh line.sh {tail}\n".encode())
        return outcome

    def says(self, typed: bytes, expected: bytes) -> None:
        """Type something, and watch until something new is shown."""
        self.terminal.seen = b""
        self.terminal.type(typed)
        self.terminal.wait_for(expected)

    def finish(self) -> None:
        self.says(b"\n", b"$ ")
        self.terminal.type(b"exit\n")
        self.terminal.finish()


@pytest.fixture
def shell(place: Place) -> Iterator[Shell]:
    shell = Shell(place)
    try:
        yield shell
    finally:
        shell.terminal.kill()


def exit_code(outcome: Path) -> int:
    wait_until(outcome.exists)
    wait_until(lambda: outcome.read_text().endswith("}"))
    code: int = json.loads(outcome.read_text())["exit_code"]
    return code


def states(place: Place) -> set[str]:
    """Return the states of the run's processes: S, R, T (stopped)."""
    found = set()
    for status in ProcessTree(place.token).living():
        line = Path(f"/proc/{status.pid}/stat").read_bytes()
        found.add(line[line.rfind(b")") + 2 :][:1].decode())
    return found


def test_a_plain_command_stops_and_goes_on(shell: Shell) -> None:
    script = "echo up; read line; echo got $line; exit 3"
    outcome = shell.line("sh", "-c", script, streams="pty", stdin="terminal")
    shell.terminal.wait_for(b"up\r\n")
    shell.says(CTRL_Z, b"Stopped")
    assert states(shell.place) == {"T"}
    shell.says(b"echo a$((1+1))c\n", b"a2c")  # the terminal is the shell's, with echo and lines
    shell.says(b"fg\n", b"line.sh")
    shell.says(b"hello\r", b"got hello")
    assert exit_code(outcome) == 3
    shell.finish()


@pytest.mark.parametrize("name", ["SIGTSTP", "SIGSTOP"])
def test_a_program_that_suspends_itself(shell: Shell, name: str) -> None:
    source = EDITOR.format(signal=f"signal.{name}")
    outcome = shell.line(PYTHON, "-c", source, streams="pty", stdin="terminal")
    shell.terminal.wait_for(b"<open>")
    for _ in range(2):
        shell.says(CTRL_Z, b"Stopped")
        shell.says(b"fg\n", b"<back>")
    shell.says(b"x", b"<x>")
    shell.terminal.type(b"q")
    assert exit_code(outcome) == 0
    shell.finish()


def test_in_the_background_it_gets_no_keys_and_comes_back(shell: Shell) -> None:
    outcome = shell.line(PYTHON, "-c", WAITING, streams="pty", stdin="terminal")
    shell.terminal.wait_for(b"up\r\n")
    shell.says(CTRL_Z, b"Stopped")
    shell.says(b"bg\n", b"line.sh")
    wait_until(lambda: "T" not in states(shell.place))
    shell.says(b"echo b$((1+1))d\n", b"b2d")
    (shell.place.folder / "go").touch()
    shell.says(b"fg\n", b"line.sh")
    time.sleep(0.6)  # a `fg` without SIGCONT is noticed after half a second
    shell.says(b"hello\r", b"got hello")
    assert exit_code(outcome) == 0
    shell.finish()


def test_without_a_terminal_of_its_own_everything_stops(shell: Shell) -> None:
    """In a pipeline the command is in a session where the terminal's Ctrl-Z does not reach it."""
    count = shell.place.folder / "count"
    outcome = shell.line(PYTHON, "-c", COUNTING, tail="| cat")
    shell.terminal.wait_for(b"up\r\n")
    wait_until(count.exists)
    shell.says(CTRL_Z, b"Stopped")
    wait_until(lambda: states(shell.place) == {"T"})
    before = count.stat().st_size
    time.sleep(0.2)
    assert count.stat().st_size == before
    shell.says(b"fg\n", b"line.sh")
    wait_until(lambda: count.stat().st_size > before)
    shell.terminal.type(CTRL_C)
    assert exit_code(outcome) == 130
    shell.finish()


def test_a_suspended_run_is_ended_with_its_terminal(shell: Shell) -> None:
    shell.line("sh", "-c", "echo up; read line", streams="pty", stdin="terminal")
    shell.terminal.wait_for(b"up\r\n")
    shell.says(CTRL_Z, b"Stopped")
    shell.terminal.close_window()
    wait_until(lambda: shell.place.living() == [])


def test_where_no_shell_could_go_on_with_it_ctrl_z_is_ignored(place: Place) -> None:
    """As for any program whose parent is no shell."""
    line, _path, outcome = place.recorder_argv(
        "sh", "-c", "echo up; read line; echo got $line", streams="pty", stdin="terminal"
    )
    terminal = Terminal(line, cwd=place.folder, env=ENVIRONMENT)
    terminal.wait_for(b"up\r\n")
    terminal.type(CTRL_Z)
    terminal.type(b"hello\r")
    terminal.wait_for(b"got hello")
    assert terminal.finish() == 0
    assert exit_code(outcome) == 0


def test_a_keeper_is_in_no_group_of_the_person(shell: Shell) -> None:
    outcome = shell.line("sh", "-c", "echo up; read line", streams="pty", stdin="terminal")
    shell.terminal.wait_for(b"up\r\n")
    everything = procfs.all_processes()
    (command,) = [s for s in ProcessTree(shell.place.token).living() if s.name == "sh"]
    keeper = everything[command.parent]
    assert keeper.session == keeper.group == keeper.pid != command.group
    shell.terminal.type(b"\r")
    assert exit_code(outcome) == 0
    shell.finish()
