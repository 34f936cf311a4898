"""Ctrl-Z, `fg` and the sandbox: the kernel does not heed the key there, and we do."""

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox
from terminal import Terminal

pytestmark = [
    needs_bwrap,
    pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are of Linux"),
]
CTRL_Z = b"\x1a"
READING = "while read line; do echo got $line; done"
# A program in raw mode that stops itself at Ctrl-Z; `x` tells whether it still reads its keys.
EDITOR = """
import os, signal, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"<open>")
while (key := os.read(0, 1)) != b"q":
    if key == b"\\x1a":
        termios.tcsetattr(0, termios.TCSANOW, before)
        os.kill(os.getpid(), signal.{name})
        tty.setraw(0)
        os.write(1, b"<back>")
    else:
        os.write(1, b"<" + key + b">")
termios.tcsetattr(0, termios.TCSANOW, before)
"""


class Shell:
    """A person at an interactive bash, in a repository with a task."""

    def __init__(self, sandbox: Sandbox) -> None:
        sandbox.siding("task", "start", "walled")
        self.sandbox = sandbox
        self.terminal = Terminal(
            ["bash", "--norc", "--noprofile", "-i"],
            cwd=sandbox.repo,
            env={**sandbox.env, "PS1": "$ ", "HISTFILE": ""},
        )
        self.terminal.wait_for(b"$ ")

    def runs(self, *argv: str, sees: bytes) -> None:
        """Run a command in a sandbox, in the foreground, until something is on the screen."""
        line = [*SIDING, "-q", "run", "--sandbox", "--", *argv]
        (self.sandbox.directory / "line.sh").write_text(f"exec {shlex.join(line)}\n")
        self.says(f"sh {self.sandbox.directory}/line.sh\n".encode(), sees)

    def says(self, typed: bytes, expected: bytes) -> None:
        self.terminal.seen = b""
        self.terminal.type(typed)
        self.terminal.wait_for(expected)

    def status(self) -> int:
        """Wait for the shell, and return the exit status of the step."""
        self.terminal.wait_for(b"$ ")
        self.says(b"echo o$((1+1))k\n", b"o2k")
        status: int = self.sandbox.steps()[-1]["exit_code"]
        return status


@pytest.fixture
def shell(sandbox: Sandbox) -> Iterator[Shell]:
    shell = Shell(sandbox)
    try:
        yield shell
    finally:
        shell.terminal.kill()


def states(counter: str) -> set[str]:
    """Return the states of the processes with this word on their command line."""
    found = set()
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if counter.encode() in (each / "cmdline").read_bytes().split(b"\0"):
                found.add((each / "stat").read_text().rpartition(")")[2].split()[0])
        except OSError:
            continue
    return found


def test_a_plain_command_stops_and_goes_on(shell: Shell) -> None:
    shell.runs("sh", "-c", f"echo u$((1+0))p; {READING}; exit 3", sees=b"u1p\r\n")
    for _ in range(2):
        shell.says(CTRL_Z, b"Stopped")
        shell.says(b"echo a$((1+1))c\n", b"a2c")  # the terminal is the shell's
        shell.says(b"fg\n", b"line.sh")
        shell.says(b"hello\r", b"got hello")
    shell.says(b"\x04", b"$ ")
    assert shell.status() == 3


def test_what_it_started_stops_with_it(shell: Shell) -> None:
    mark = f"marked-{time.monotonic_ns()}"
    beside = f"({sys.executable} -c 'import time; time.sleep(99)' {mark} &); {READING}"
    shell.runs("sh", "-c", f"echo u$((1+0))p; {beside}", sees=b"u1p\r\n")
    shell.says(CTRL_Z, b"Stopped")
    assert states(mark) == {"T"}
    shell.says(b"fg\n", b"line.sh")
    shell.says(b"hello\r", b"got hello")
    shell.says(b"\x03", b"$ ")


def test_a_program_that_stops_itself_is_no_trap(shell: Shell) -> None:
    """It was stopped for ever: nobody outside the sandbox heard of it."""
    shell.runs(sys.executable, "-c", EDITOR.format(name="SIGSTOP"), sees=b"<open>")
    for _ in range(2):
        shell.says(CTRL_Z, b"Stopped")
        shell.says(b"fg\n", b"<back>")
    shell.says(b"x", b"<x>")
    shell.says(b"q", b"$ ")
    assert shell.status() == 0


def test_a_program_that_asks_the_kernel_to_stop_it_goes_on(shell: Shell) -> None:
    """In a sandbox SIGTSTP is dropped; what matters is that it reads its keys again."""
    shell.runs(sys.executable, "-c", EDITOR.format(name="SIGTSTP"), sees=b"<open>")
    shell.says(CTRL_Z, b"<back>")
    shell.says(b"x", b"<x>")
    shell.says(b"q", b"$ ")
    assert shell.status() == 0


def test_a_shell_inside_has_jobs_of_its_own(shell: Shell) -> None:
    shell.runs("bash", "--norc", "--noprofile", "-i", sees=b"$ ")
    shell.says(b"PS1='in: '\n", b"in: ")
    shell.says(CTRL_Z, b"")
    shell.says(b"sleep 97\n", b"sleep 97\r\n")
    time.sleep(0.5)  # bash gives the job the terminal first
    shell.says(CTRL_Z, b"Stopped")
    shell.says(b"jobs\n", b"sleep 97")
    shell.says(b"fg\n", b"sleep 97")
    time.sleep(0.5)
    shell.says(b"\x03", b"in: ")
    shell.says(b"exit 5\n", b"$ ")
    assert shell.status() == 5
