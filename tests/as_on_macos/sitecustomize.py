"""Python as it is on macOS, as far as Linux can show it: Python loads this when it starts.

What is faked: the name of the platform, the names that Python's modules lack there (typeshed has
them under ``sys.platform``), /proc and /sys, and `fcntl` with F_FULLFSYNC. The kernel is Linux all
the same: its signals, terminals, sockets and file systems are not those of macOS.
"""

import _socket
import builtins
import fcntl
import io
import os
import resource
import select
import signal
import sys
import types
from importlib import import_module
from typing import Any

ABSENT: dict[types.ModuleType, str] = {
    os: """
    pidfd_open memfd_create MFD_CLOEXEC sched_getaffinity sched_setaffinity copy_file_range splice
    eventfd O_PATH O_TMPFILE O_DIRECT O_NOATIME posix_fadvise POSIX_FADV_DONTNEED posix_fallocate
    getxattr setxattr listxattr removexattr getrandom unshare setns getresuid setresuid fdatasync
    pipe2 waitid P_PIDFD
    """,  # `waitid` is there from Python 3.13 on
    select: "epoll",
    signal: "pidfd_send_signal SIGSTKFLT SIGPWR SIGPOLL SIGRTMIN SIGRTMAX sigtimedwait sigwaitinfo",
    fcntl: """
    F_SETPIPE_SZ F_GETPIPE_SZ F_SETLEASE F_GETLEASE F_SETSIG F_GETSIG F_NOTIFY F_OFD_SETLK
    F_OFD_SETLKW F_OFD_GETLK F_ADD_SEALS
    """,
    _socket: """
    SO_PEERCRED SO_PEERSEC AF_NETLINK SO_PASSCRED SCM_CREDENTIALS AF_PACKET SOCK_CLOEXEC
    SOCK_NONBLOCK
    """,
    resource: "prlimit RLIMIT_MSGQUEUE",
}
for module, names in ABSENT.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

# These look at the platform as they are loaded, and would want modules that only macOS has.
for name in ("asyncio", "socket", "subprocess"):
    import_module(name)
import_module("sysconfig").get_config_vars()

F_FULLFSYNC = 51
_fcntl, _open = fcntl.fcntl, builtins.open


def _fcntl_there(fd: Any, command: int, argument: Any = 0) -> Any:
    if command == F_FULLFSYNC:
        os.fsync(fd)
        return 0
    return _fcntl(fd, command, argument)


def _refuse(path: object) -> None:
    if isinstance(path, str | bytes | os.PathLike):
        there = os.fsdecode(path)
        if there.startswith(("/proc/", "/sys/")):
            raise FileNotFoundError(2, "No such file or directory", there)


def _without_proc(real: Any) -> Any:
    def call(path: Any = ".", *more: Any, **named: Any) -> Any:
        _refuse(path)
        return real(path, *more, **named)

    return call


proxies = types.ModuleType("_scproxy")
vars(proxies)["_get_proxies"] = dict
vars(proxies)["_get_proxy_settings"] = lambda: {"exclude_simple": False}
sys.modules["_scproxy"] = proxies
vars(fcntl)["F_FULLFSYNC"] = F_FULLFSYNC
fcntl.fcntl = _fcntl_there
builtins.open = io.open = _without_proc(_open)
for name in ("open", "listdir", "stat", "lstat", "readlink", "scandir"):
    setattr(os, name, _without_proc(getattr(os, name)))
sys.platform = "darwin"
