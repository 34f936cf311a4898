"""System calls that Python has no function for.

Most of them restrict the calling process for good. Call those only in a forked child, right before
it execs the command.
"""

import ctypes
import errno
import os
import struct

from siding.ground.namedtuples import NamedTuple

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 22, 24, 38, 47
_FILTER, _AMBIENT_CLEAR = 2, 4
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAP_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class PathRules(NamedTuple):
    """A Landlock domain: masks of the rights it handles, and (path, allowed rights) pairs.

    A handled right is denied everywhere but below the paths that allow it.
    """

    handled_fs: int
    handled_net: int
    scoped: int
    paths: tuple[tuple[str, int], ...]


def landlock_version() -> int:
    """Return the version of the kernel's Landlock ABI; 0 when the kernel has no Landlock."""
    try:
        return _call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def no_new_privileges() -> None:
    """Make exec ignore setuid bits and file capabilities from here on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Drop all of root's capabilities; do nothing for any other user.

    The process still owns root's files.
    """
    machine = os.uname().machine
    if os.geteuid() != 0 or machine not in _CAPSET:
        return
    _prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR)
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAP_VERSION, 0))
    _call(_CAPSET[machine], header, ctypes.create_string_buffer(24))


def ruleset(rules: PathRules, version: int) -> int:
    """Return a descriptor of a Landlock domain, which `restrict` enters. Raises OSError.

    Paths that do not exist any more are left out.
    """
    # The struct grew with the ABI: network rights came with version 4, scopes with version 6.
    attributes = struct.pack("=QQQ", rules.handled_fs, rules.handled_net, rules.scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    made = _call(_CREATE_RULESET, ctypes.create_string_buffer(attributes), size, 0)
    try:
        for path, rights in rules.paths:
            _allow(made, path, rights)
    except BaseException:
        os.close(made)
        raise
    return made


def restrict(ruleset_fd: int) -> None:
    """Enter a Landlock domain. Call `no_new_privileges` first. Raises OSError."""
    _call(_RESTRICT_SELF, ruleset_fd, 0)


def _allow(ruleset_fd: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd))
        _call(_ADD_RULE, ruleset_fd, _PATH_BENEATH, rule, 0)
    except OSError as error:
        if error.errno != errno.EBADFD:  # /dev/stdout is a pipe, say: no rule can name it
            raise
    finally:
        os.close(fd)


def install_filter(code: bytes) -> None:
    """Install a system call filter. Call `no_new_privileges` first. Raises OSError."""
    instructions = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=H6xQ", len(code) // 8, ctypes.addressof(instructions))
    buffer = ctypes.create_string_buffer(program)
    _prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(buffer))


def _prctl(option: int, value: int, more: int = 0) -> None:
    arguments = (ctypes.c_ulong(each) for each in (value, more, 0, 0))
    if _libc.prctl(option, *arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _call(number: int, *arguments: object) -> int:
    passed = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    result = int(_libc.syscall(ctypes.c_long(number), *passed))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
