"""Make a system call filter in the form the kernel reads (classic BPF). Pure.

The filter blocks what neither mounts nor Landlock can: typing into a terminal (TIOCSTI), the
kernel's keyrings, sockets to the hypervisor, io_uring (whose operations a filter cannot see),
making setuid files and, with the network off, every IP socket.
"""

import struct

from siding.namedtuples import NamedTuple

_LOAD, _AND, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_EPERM, _EACCES, _ENOSYS, _EAFNOSUPPORT = 1, 13, 38, 97
_X32_BIT = 0x40000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_INET, _AF_INET6, _AF_PACKET, _AF_VSOCK = 2, 10, 17, 40
_O_CREAT, _O_TMPFILE, _S_ISUID = 0o100, 0o20000000, 0o4000


class Machine(NamedTuple):
    """An architecture: its AUDIT_ARCH value, and its numbers of system calls."""

    audit: int
    numbers: dict[str, int]


MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        numbers={
            "open": 2,
            "ioctl": 16,
            "socket": 41,
            "creat": 85,
            "chmod": 90,
            "fchmod": 91,
            "mknod": 133,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "openat": 257,
            "mknodat": 259,
            "fchmodat": 268,
            "perf_event_open": 298,
            "bpf": 321,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "openat2": 437,
            "fchmodat2": 452,
        },
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        numbers={
            "ioctl": 29,
            "mknodat": 33,
            "fchmod": 52,
            "fchmodat": 53,
            "openat": 56,
            "socket": 198,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "perf_event_open": 241,
            "bpf": 280,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "openat2": 437,
            "fchmodat2": 452,
        },
    ),
}


class Test(NamedTuple):
    """A condition on the low 32 bits of an argument.

    With ``bits`` it holds when any bit of ``value`` is set, else when the argument equals it.
    """

    argument: int
    value: int
    bits: bool = False


class SyscallRule(NamedTuple):
    """Refuse a call with an errno when every test holds."""

    call: str
    errno: int
    tests: tuple[Test, ...] = ()


def rules(*, network_off: bool) -> list[SyscallRule]:
    """Return the rules for the system calls that a sandboxed run may not make."""
    setuid = {
        "chmod": 1,
        "fchmod": 1,
        "fchmodat": 2,
        "fchmodat2": 2,
        "creat": 1,
        "mknod": 1,
        "mknodat": 2,
    }
    found = [SyscallRule("ioctl", _EPERM, (Test(1, code),)) for code in (_TIOCSTI, _TIOCLINUX)]
    found += [SyscallRule(call, _EPERM) for call in ("add_key", "request_key", "keyctl", "bpf")]
    found.append(SyscallRule("perf_event_open", _EACCES))
    found += [SyscallRule(f"io_uring_{act}", _ENOSYS) for act in ("setup", "enter", "register")]
    found += [SyscallRule(call, _EPERM, (Test(at, _S_ISUID, True),)) for call, at in setuid.items()]
    for call, flags in (("open", 1), ("openat", 2)):
        making = Test(flags, _O_CREAT | _O_TMPFILE, True)
        found.append(SyscallRule(call, _EPERM, (making, Test(flags + 1, _S_ISUID, True))))
    # The mode of openat2 is in a struct that a filter cannot read. Programs fall back to openat.
    found.append(SyscallRule("openat2", _ENOSYS))
    found.append(SyscallRule("socket", _EAFNOSUPPORT, (Test(0, _AF_VSOCK),)))
    if network_off:
        found += [
            SyscallRule("socket", _EACCES, (Test(0, family),))
            for family in (_AF_INET, _AF_INET6, _AF_PACKET)
        ]
    return found


def compiled(machine: str, *, network_off: bool) -> bytes:
    """Return the filter for a machine (uname's name); b"" for one whose numbers are not known.

    System calls of another architecture (32-bit programs) have other numbers, which would pass
    the filter. So all of them fail with ENOSYS.
    """
    known = MACHINES.get(machine)
    if known is None:
        return b""
    code = [
        _step(_LOAD, _ARCH_AT),
        _step(_EQUAL, known.audit, yes=1),
        _step(_RETURN, _ERRNO | _ENOSYS),
        _step(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        code += [_step(_ANY_BIT, _X32_BIT, no=1), _step(_RETURN, _ERRNO | _ENOSYS)]
    for rule in rules(network_off=network_off):
        if rule.call in known.numbers:
            code += _block(rule, known.numbers[rule.call])
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _block(rule: SyscallRule, number: int) -> list[bytes]:
    body: list[bytes] = []
    left = 2 * len(rule.tests) + 1  # what follows the first comparison: the tests and the return
    for test in rule.tests:
        body.append(_step(_LOAD, _ARGUMENTS_AT + 8 * test.argument))
        left -= 2
        body.append(_step(_ANY_BIT if test.bits else _EQUAL, test.value, no=left))
    body.append(_step(_RETURN, _ERRNO | rule.errno))
    return [_step(_LOAD, _NUMBER_AT), _step(_EQUAL, number, no=len(body)), *body]


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
