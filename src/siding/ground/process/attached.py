"""Run programs that use our terminal: the person's editor and pager, and git on the network.

Git may ask for a passphrase then. These programs stay in our process group, so that Ctrl-C reaches
them.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from siding.ground.process.capture import CannotStart, Completed
from siding.ground.process.lookup import NotStartable, explain_exec_error, find_program


def run_attached(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Completed:
    """Run a command to its end with our terminal, and return its standard output.

    Its standard error goes where ours goes. Raises CannotStart.
    """
    try:
        done = subprocess.run(
            list(argv), env=dict(env), cwd=cwd, stdout=subprocess.PIPE, check=False
        )
    except OSError as error:
        raise CannotStart(
            f"{argv[0]!r} cannot be started: {error.strerror}",
            hint=f"is {argv[0]!r} installed and on the PATH?",
        ) from error
    return Completed(argv=tuple(argv), returncode=done.returncode, stdout=done.stdout, stderr=b"")


def run_shown(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, out: int) -> int:
    """Run a command to its end without input, with its output to the descriptor `out`.

    Returns its exit status, as a shell tells it. Raises CannotStart.
    """
    try:
        done = subprocess.run(
            list(argv), env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, check=False
        )
    except OSError as error:
        raise CannotStart(f"{argv[0]!r} cannot be started: {error.strerror}") from error
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def run_in_terminal(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> int:
    """Run a command to its end with our terminal for everything, as an editor needs it.

    Returns its exit status, as a shell tells it. Raises CannotStart.
    """
    try:
        done = subprocess.run(list(argv), env=dict(env), cwd=cwd, check=False)
    except OSError as error:
        raise CannotStart(
            f"{argv[0]!r} cannot be started: {error.strerror}",
            hint=f"is {argv[0]!r} installed and on the PATH?",
        ) from error
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def become(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> NoReturn:
    """Replace this process by a program that runs in `cwd`.

    Raises CannotStart; our working directory is then what it was before.
    """
    found = find_program(argv, env, cwd)
    if isinstance(found, NotStartable):
        raise CannotStart(found.reason, hint=f"is {argv[0]!r} installed and on the PATH?")
    before = os.getcwd()
    os.chdir(cwd)
    try:
        os.execve(found.path, list(argv), dict(env))
    except OSError as error:
        os.chdir(before)
        reason = explain_exec_error(argv[0], error).reason
        raise CannotStart(reason, hint="name another program") from error


class Pager:
    """A running pager that shows what the caller writes to `fd`.

    The caller closes `fd` and then calls `wait`.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", fd: int) -> None:
        self._process = process
        self.fd = fd

    def wait(self) -> None:
        """Wait until the person leaves the pager; ignore Ctrl-C, which the pager handles itself."""
        while True:
            try:
                self._process.wait()
                return
            except KeyboardInterrupt:
                continue


def start_pager(argv: Sequence[str], env: Mapping[str, str]) -> Pager | None:
    """Start a pager; return None when there is no such program."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(list(argv), stdin=reading, env=dict(env))
    except OSError:
        os.close(writing)
        return None
    finally:
        os.close(reading)
    return Pager(process, writing)
