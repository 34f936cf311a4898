"""A command of the product in a fork of a small process that has its modules loaded already.

It is the same program at a third of the price: a process of its own, with an environment, a
directory and standard streams of its own. What a fresh interpreter costs or does is not tested by
it; where that matters, and where a terminal or a signal does, tests start `siding` themselves.

The process that forks is `forking.py`, one for each process that runs tests: a fork of those would
copy the page tables of all tests and of what they stand on, which took more than most commands.
"""

import marshal
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

from forked_starts import ROOM
from forking import LENGTH, Request, address_space

_ADDRESS = "SIDING_FORKING_AT"  # of the process that forks, without the zero in front


class Finished(NamedTuple):
    """A command that ended. `cpu_s` is its own processor time, without its children's."""

    status: int
    stdout: bytes
    stderr: bytes
    cpu_s: float


def siding_in_fork(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | str,
    stdin: bytes | None = None,
    timeout_s: float = 120,
    mistake: str = "",
    merged: bool = False,
) -> Finished:
    """Run a command of Siding to its end; raises TimeoutError, with the command killed.

    `mistake` is put into the command from outside (see `planted`). `merged` output is all in
    `stdout`, in its order, as a terminal shows it.
    """
    request = Request(list(words), dict(env), os.path.abspath(cwd), _umask(), _room(), mistake)
    with ExitStack() as stack:
        out = _kept(stack, os.memfd_create("out"))
        err = out if merged else _kept(stack, os.memfd_create("err"))
        connection = stack.enter_context(socket.socket(socket.AF_UNIX))
        if stdin is None:
            _ask(connection, request, (_kept(stack, os.open(os.devnull, os.O_RDONLY)), out, err))
        else:
            reading, writing = os.pipe()
            with open(reading, "rb"):
                _ask(connection, request, (reading, out, err))
            _feed(writing, stdin)
        status, cpu_s = _answer(connection, timeout_s)
        return Finished(status, _read(out), b"" if merged else _read(err), cpu_s)


class Held(NamedTuple):
    """A command that waits for `begin`, so that a tracer can seize it before."""

    pid: int
    gate: socket.socket

    def begin(self) -> None:
        self.gate.sendall(b"x")


def held(
    stack: ExitStack,
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    streams: tuple[int, int, int],
    mistake: str,
    promise: str,
    calls: bytes,
) -> Held:
    """Fork a command for a tracer, who then waits for it; `stack` collects what is left of it.

    `streams` are standard output, standard error and where the `promise` goes once the command has
    ended well. `calls` is the seccomp filter that it runs under.
    """
    given = Request(list(words), dict(env), cwd, _umask(), None, mistake, promise, calls)
    connection = stack.enter_context(socket.socket(socket.AF_UNIX))
    ours, theirs = socket.socketpair()
    stack.enter_context(ours)
    with theirs, open(os.devnull, "rb") as nothing:
        _ask(connection, given, (nothing.fileno(), *streams, theirs.fileno()))
    said = ours.recv(32)
    assert said, "the process that forks commands is gone; what it said is above"
    return Held(int(said), ours)


def start_for_all() -> None:
    """Start the process that forks for the processes that this one will start, too."""
    os.environ[_ADDRESS] = start().removeprefix("\0")


@cache
def start() -> str:
    """Start the process that forks, unless whoever started us has; return its address.

    It is nobody's child, as what tests watch are their own children, and it ends with whoever
    started it: the pipe that is its standard input does.
    """
    if address := os.environ.get(_ADDRESS):
        return f"\0{address}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("")  # the kernel chooses a name that no file has
        listening.listen(64)
        script = str(Path(__file__).with_name("forking.py"))
        starting = subprocess.Popen(
            [sys.executable, script, str(listening.fileno()), ROOM],
            env={**os.environ, "ROOM": ROOM},
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
        )
        assert starting.wait() == 0
        assert starting.stdin is not None
        _alive_as_long_as_open.append(starting.stdin)
        return str(listening.getsockname().decode("ascii"))


_alive_as_long_as_open: list[IO[bytes]] = []


def _ask(connection: socket.socket, request: Request, streams: Sequence[int]) -> None:
    """Send a request on a connection; to close that early kills the command."""
    data = marshal.dumps(tuple(request))
    connection.connect(start())
    socket.send_fds(connection, [LENGTH.pack(len(data))], list(streams))
    connection.sendall(data)


def _answer(connection: socket.socket, timeout_s: float) -> tuple[int, float]:
    connection.settimeout(timeout_s)
    answer = connection.recv(1024)
    assert answer, "the process that forks commands is gone; what it said is above"
    status, cpu_s = marshal.loads(answer)
    return status, cpu_s


def _feed(fd: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(fd, "wb") as pipe:
        pipe.write(data)


def _kept(stack: ExitStack, fd: int) -> int:
    """Close a descriptor with everything else."""
    stack.callback(os.close, fd)
    return fd


def _read(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def _umask() -> int:
    """Return this process's umask, which only /proc tells without changing it."""
    for line in Path("/proc/self/status").read_text("ascii", errors="replace").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    raise OSError("no Umask in /proc/self/status")


def _room() -> int | None:
    """Return how much more memory this process may take; None where nothing limits it."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else max(0, most - address_space())
