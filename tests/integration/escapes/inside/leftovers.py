"""What goes on when the command has ended: its marker is seen in the list of processes."""

# mypy: ignore-errors
import os
import signal
import sys

from told import LIBC, WORLD


def _sleeper(name):
    os.execve(sys.executable, [sys.executable, "-c", _SLEEP, WORLD["left"] + name], {})


_SLEEP = (
    "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(300)"
)


def _begun(name, *acts):
    if os.fork() == 0:
        for act in acts:
            act()
        for fd in range(64):
            try:
                os.close(fd)
            except OSError:
                pass
        _sleeper(name)
    return True


def _end_in_front():
    if os.fork():
        os._exit(0)


def a_child():
    return _begun("child")


def a_daemon():
    return _begun("daemon", os.setsid, _end_in_front, lambda: os.chdir("/"))


def a_daemon_of_daemons():
    return _begun("daemons", os.setsid, _end_in_front, os.setsid, _end_in_front)


def a_session_that_ignores_the_end():
    return _begun("ignoring", os.setsid, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))


def one_in_namespaces_of_its_own():
    return _begun("apart", lambda: LIBC.unshare(0x10000000 | 0x20000000), _end_in_front)
