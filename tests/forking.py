"""The small process that loads Siding once and forks its commands: `forked.py` starts and asks it.

It gets a listening socket as a number, takes a `Request` with three streams from each connection
and answers with the command's exit status and processor time. A connection that is closed early
kills its command. The process goes into the background, and ends when its standard input does.

A command that a tracer is to hold comes with two more streams: one for its promise and a socket,
where it says its pid. It begins when it is told to there, in a session of its own and under the
tracer's seccomp filter.
"""

import gc
import inspect
import marshal
import os
import pkgutil
import resource
import selectors
import signal
import socket
import struct
import sys
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

import forked_starts
import huge_pages

LENGTH = struct.Struct("!Q")  # of the marshalled request, sent with the streams

_PROMISE = 3  # the stream of a traced command for what it promises

# The dashboard's server and what it stands on: no command but `siding ui` loads it.
_LEFT_TO_THEMSELVES = ("siding.faces.web", "siding.__main__")


class Request(NamedTuple):
    """What to run: the words after `siding`, and the surroundings."""

    words: list[str]
    env: dict[str, str]
    cwd: str
    umask: int
    room: int | None  # bytes of memory it may take beside what it has
    mistake: str
    promise: str = ""  # of a traced command: what it says once it has ended well
    filter: bytes = b""  # the system calls at which it stops; none for one that is not traced


def serve(listening: socket.socket) -> None:
    """Fork a command for each connection, until standard input ends."""
    with selectors.DefaultSelector() as waiting:
        waiting.register(0, selectors.EVENT_READ)
        waiting.register(listening, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fd == 0:
                    return
                if key.fileobj is listening:
                    _begin(listening, waiting)
                elif waiting.get_map().get(key.fd) is key:  # not gone by an event before this one
                    _finish(waiting, *key.data)


def load_all() -> None:
    """Load every module of the program."""
    import siding

    for module in pkgutil.walk_packages(siding.__path__, "siding."):
        if not module.name.startswith(_LEFT_TO_THEMSELVES):
            import_module(module.name)
    if sys.platform == "linux":
        import_module("faults.ptrace")  # for commands that are traced
    for kind in vars(import_module("siding.ground.namedtuples"))["_Fields"].__subclasses__():
        inspect.signature(kind)  # compiles what every command would compile again
    _look_once()
    gc.collect()
    gc.freeze()  # a collection in a child would copy what it looks at
    huge_pages.use()


def _look_once() -> None:
    """Have done what every command begins with: the parser's patterns, the modules of digests.

    Nothing of a home or a repository is looked at, as what a command finds must be its own.
    """
    from siding.faces.cli.main import main
    from siding.ground.hashing import new_digest

    for algorithm in ("sha1", "sha256"):
        new_digest(algorithm, 0)
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        suppress(SystemExit),
    ):
        main(["status", "--help"])
    gc.enable()  # a command does so when its words are read; a page of help ends before


def address_space() -> int:
    """Return how many bytes of memory this process has, as RLIMIT_AS counts them."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return pages * os.sysconf("SC_PAGESIZE")


def _begin(listening: socket.socket, waiting: selectors.BaseSelector) -> None:
    connection, _ = listening.accept()
    try:
        request, streams = _receive(connection)
    except (OSError, EOFError):  # it changed its mind, or was killed
        connection.close()
        return
    pid = os.fork()
    if pid == 0:
        _become(request, streams)
    for stream in streams:
        os.close(stream)
    handle = os.pidfd_open(pid)
    # The end of one that is traced is its tracer's to see first, who then closes the connection.
    for fileobj in (connection,) if request.filter else (handle, connection):
        waiting.register(fileobj, selectors.EVENT_READ, (handle, connection, pid))


def _receive(connection: socket.socket) -> tuple[Request, list[int]]:
    head, streams, _, _ = socket.recv_fds(connection, LENGTH.size, 5)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    with connection.makefile("rb") as reader:
        return Request(*marshal.loads(reader.read(length))), streams


def _finish(
    waiting: selectors.BaseSelector, handle: int, connection: socket.socket, pid: int
) -> None:
    """The command has ended, or nobody waits for it any more."""
    for fileobj in (handle, connection):
        if fileobj in waiting.get_map():
            waiting.unregister(fileobj)
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)  # nothing to one that has ended
    _, ended, used = os.wait4(pid, 0)
    os.close(handle)
    answer = (os.waitstatus_to_exitcode(ended), used.ru_utime + used.ru_stime)
    with suppress(OSError):
        connection.sendall(marshal.dumps(answer))
    connection.close()


def _become(request: Request, streams: list[int]) -> NoReturn:
    status = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        held = streams.pop() if request.filter else None
        for fd, stream in enumerate(streams):
            os.dup2(stream, fd, inheritable=fd < _PROMISE)
        if held is not None:
            _wait_for_tracer(held, request.filter)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the child's life
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.closerange(len(streams), 4096)
        os.umask(request.umask)
        if request.room is not None:
            most = address_space() + request.room
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        os.chdir(request.cwd)
        os.environ.clear()
        os.environ.update(request.env)
        status = _command(request)
        sys.stdout.flush()
        sys.stderr.flush()
        if request.promise and status == 0:
            os.write(_PROMISE, request.promise.encode() + b"\n")
    except BaseException:  # noqa: BLE001 - a forked child must never return
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _wait_for_tracer(held: int, filter_program: bytes) -> None:
    """Let whoever holds the other end of the socket seize this process, and go on when told to."""
    from faults.ptrace import allow_tracing, filter_calls

    os.setsid()
    allow_tracing()
    os.write(held, str(os.getpid()).encode())
    if not os.read(held, 1):
        os._exit(127)  # the tracer is gone
    filter_calls(filter_program)


def _command(request: Request) -> int:
    if request.mistake:
        import planted

        planted.plant(request.mistake)
    elif not request.filter:
        forked_starts.use()
    from siding.faces.cli.main import main

    sys.argv = ["siding", *request.words]
    return main(list(request.words))


if __name__ == "__main__":
    if os.fork():
        os._exit(0)  # now the other one is nobody's child
    os.setsid()  # and its commands are in no terminal of whoever started the tests
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.path.append(str(Path(__file__).parent))
    load_all()
    serve(socket.socket(fileno=int(sys.argv[1])))
