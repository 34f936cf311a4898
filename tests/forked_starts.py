"""Have a forked command fork what it starts of Siding: a run's broker, the built-in agent.

An interpreter that loads what a broker needs takes 170 ms of processor time, and 250 for the agent;
a fork of a process that has loaded it takes 20. The fork is what the started program would be: a
child of the command that started it, in a group of its own, with the descriptors, the directory,
the signals, the words and the environment that it was given, the last two also where /proc shows
them.

What the command keeps in its modules is in the fork, too: tables that are made once, and nothing of
a home or a repository. Where an own interpreter is the point, a test starts `siding` itself: what
such a command starts is a program as ever. So is what a command with several threads starts, and
what begins in a sandbox.
"""

import atexit
import ctypes
import fcntl
import os
import signal
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

# Bytes that the process which forks has in its words and its environment, for those of its forks.
ROOM = " " * 4000
_FIRST_WORD, _FIRST_VARIABLE = 48, 50  # fields of /proc/PID/stat; the next one is the end
# What `siding.ground.process.capture` has a shell do, as `posix_spawn` cannot change the directory.
_IN_DIRECTORY = ("sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh")
_AGENT = Path(sys.executable).with_name("siding-agent")
_spawn, _execve = os.posix_spawn, os.execve

Words = tuple[str, ...] | list[str]
Actions = Sequence[tuple[Any, ...]]  # see `os.posix_spawn`


class _Start(NamedTuple):
    """A command of Siding that is to be started: the words after its name, and where."""

    words: list[str]
    cwd: str | None = None
    shown: Sequence[str] = ()


def use() -> None:
    """Fork from now on what this process starts of Siding.

    That is ``python -m siding`` with `os.posix_spawn`, and ``siding-agent`` with `os.execve`.
    """
    vars(os).update(posix_spawn=_forked_or_spawned, execve=_become_or_exec)


def _forked_or_spawned(
    path: str,
    argv: Words,
    env: Mapping[str, str],
    *,
    file_actions: Actions = (),
    setpgroup: int | None = None,
    setsigdef: Iterable[signal.Signals] = (),
) -> int:
    start = _own(argv)
    if start is None or _needs_interpreter(env):
        how: dict[str, Any] = {} if setpgroup is None else {"setpgroup": setpgroup}
        return _spawn(path, argv, env, file_actions=file_actions, setsigdef=setsigdef, **how)
    pid = os.fork()
    if pid:
        if setpgroup is not None:
            with suppress(OSError):  # it has done so itself, and perhaps ended
                os.setpgid(pid, setpgroup)
        return pid
    try:
        if setpgroup is not None:
            os.setpgid(0, setpgroup)
        for number in setsigdef:
            signal.signal(number, signal.SIG_DFL)
        _act(file_actions)
        _be(start, env)
    finally:
        os._exit(70)


def _become_or_exec(path: str, argv: Words, env: Mapping[Any, Any]) -> NoReturn:
    """Exec, or be the agent in this process: a fork that holds nothing but what it is to be."""
    given = {os.fsdecode(name): os.fsdecode(value) for name, value in env.items()}
    if Path(path) != _AGENT or _needs_interpreter(given) or _is_sandboxed():
        _execve(path, argv, env)
    try:
        words = [os.fsdecode(word) for word in argv[1:]]
        _be(_Start(["agent", *words], shown=[sys.executable, path, *words]), given)
    finally:
        os._exit(70)


def _own(argv: Sequence[str]) -> _Start | None:
    """Read a command line; None for that of another program."""
    words, cwd = list(argv), None
    if tuple(words[: len(_IN_DIRECTORY)]) == _IN_DIRECTORY:
        cwd, *words = words[len(_IN_DIRECTORY) :]
    if words[:3] != [sys.executable, "-m", "siding"]:
        return None
    return _Start(words[3:], cwd, words)


def _needs_interpreter(env: Mapping[str, str]) -> bool:
    return threading.active_count() > 1 or any(name.startswith("PYTHON") for name in env)


def _is_sandboxed() -> bool:
    """Return whether this process can gain no rights any more, as in each of the sandboxes."""
    status = Path("/proc/self/status").read_text("ascii", errors="replace")
    return "NoNewPrivs:\t0" not in status


def _act(actions: Actions) -> None:
    """Open, copy and close descriptors as `posix_spawn` does."""
    for what, number, *more in actions:
        if what == os.POSIX_SPAWN_OPEN:
            opened = os.open(*more)
            os.dup2(opened, number)
            if opened != number:
                os.close(opened)
            os.set_inheritable(number, True)
        elif what == os.POSIX_SPAWN_DUP2:
            (copy,) = more
            os.dup2(number, copy)
            os.set_inheritable(copy, True)
        else:
            os.close(number)


def _be(start: _Start, env: Mapping[str, str]) -> NoReturn:
    """Be the command, to its end."""
    from siding.faces.cli.main import leave, main

    _leave_behind()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the child's life
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if start.cwd is not None:
        os.chdir(start.cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["siding", *start.words]
    _show(start.shown, env)
    try:
        leave(main(start.words))
    except SystemExit as end:
        vars(threading)["_shutdown"]()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)


def _leave_behind() -> None:
    """Have nothing of the command that this process is a fork of, as after an exec."""
    from siding.ground.process import procfs

    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # that of the listing
            if fcntl.fcntl(int(name), fcntl.F_GETFD) & fcntl.FD_CLOEXEC:
                os.close(int(name))
    # At its end it would remove the directories of the other one.
    atexit._clear()
    vars(weakref.finalize)["_registry"].clear()
    procfs._adopting = 0


def _show(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Write the words and the environment where /proc has those of this process.

    They are cut off where the process that forks has no room for them.
    """
    stat = Path("/proc/self/stat").read_text("utf-8", errors="replace")
    fields = stat.rpartition(")")[2].split()
    for at, texts in (
        (_FIRST_WORD, argv),
        (_FIRST_VARIABLE, [f"{name}={value}" for name, value in env.items()]),
    ):
        first, end = int(fields[at - 3]), int(fields[at - 2])
        text = b"\0".join(os.fsencode(each) for each in texts)[: end - first - 1]
        ctypes.memmove(first, text.ljust(end - first, b"\0"), end - first)
