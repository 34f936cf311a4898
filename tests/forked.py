"""A command of the product in a fork of this process, which has its modules loaded already.

It is the same program at a third of the price: a process of its own, with an environment, a
directory and standard streams of its own. What a fresh interpreter costs or does is not tested by
it; where that matters, and where a terminal or a signal does, tests start `siding` themselves.
"""

import gc
import os
import pkgutil
import select
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

# The dashboard's server and what it stands on: no command but `siding ui` loads it.
_LEFT_TO_THEMSELVES = ("siding.web", "siding.__main__")


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
    prepare: Callable[[], object] | None = None,
) -> Finished:
    """Run a command of Siding to its end; raises TimeoutError, with the command killed.

    `prepare` is called in the child before anything else.
    """
    load_all()
    out, err = os.memfd_create("out"), os.memfd_create("err")
    reading, writing = os.pipe() if stdin is not None else (os.open(os.devnull, os.O_RDONLY), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        if writing is not None:
            os.close(writing)
        _become(words, env, cwd, (reading, out, err), prepare)
    os.close(reading)
    try:
        if writing is not None:
            _feed(writing, stdin or b"")
        ended, used = _reap(pid, timeout_s)
    except BaseException:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise
    return Finished(os.waitstatus_to_exitcode(ended), _read(out), _read(err), used)


@cache
def load_all() -> None:
    """Load every module of the program, once in a process that runs tests."""
    import siding

    for module in pkgutil.walk_packages(siding.__path__, "siding."):
        if not module.name.startswith(_LEFT_TO_THEMSELVES):
            import_module(module.name)
    gc.collect()
    gc.freeze()  # a collection in a child would copy what it looks at


def _reap(pid: int, timeout_s: float) -> tuple[int, float]:
    handle = os.pidfd_open(pid)
    try:
        ready, _, _ = select.select([handle], [], [], timeout_s)
    finally:
        os.close(handle)
    if not ready:
        raise TimeoutError(f"the command did not end within {timeout_s} s")
    _, ended, used = os.wait4(pid, 0)
    return ended, used.ru_utime + used.ru_stime


def _feed(fd: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(fd, "wb") as pipe:
        pipe.write(data)


def _read(fd: int) -> bytes:
    with open(fd, "rb") as file:
        file.seek(0)
        return file.read()


def _become(
    words: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | str,
    streams: tuple[int, int, int],
    prepare: Callable[[], object] | None,
) -> NoReturn:
    status = 70
    try:
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for fd, stream in enumerate(streams):
            os.dup2(stream, fd)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the child's life
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.closerange(3, 4096)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        if prepare is not None:
            prepare()
        from siding.cli.main import main

        sys.argv = ["siding", *words]
        status = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - a forked child must never return
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)
