"""Make a system call filter in the form the kernel reads (classic BPF). Pure.

The filter blocks what neither mounts nor Landlock can: typing into a terminal (TIOCSTI), the
kernel's keyrings, sockets to the hypervisor, io_uring (whose operations a filter cannot see),
making setuid files, control groups of the machine and, with the network off, every socket that
leads anywhere.
"""

import struct

from siding.ground.namedtuples import NamedTuple

_LOAD, _AND, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_EPERM, _EACCES, _ENOSYS, _EOPNOTSUPP, _EAFNOSUPPORT = 1, 13, 38, 95, 97
_X32_BIT = 0x40000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_INET, _AF_INET6, _AF_PACKET, _AF_VSOCK = 2, 10, 17, 40
# With the network off only these are left: within the machine, to the kernel, and its cryptography.
# Some of the others lead out by themselves (SMC falls back to TCP, which Landlock does not see).
_AF_UNIX, _AF_NETLINK, _AF_ALG = 1, 16, 38
_FAMILIES = 64  # more than any kernel has
_CLONE_NEWCGROUP = 0x02000000
_ANY = 0xFFFFFFFF
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
            "clone": 56,
            "creat": 85,
            "chmod": 90,
            "fchmod": 91,
            "mknod": 133,
            "setxattr": 188,
            "lsetxattr": 189,
            "fsetxattr": 190,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "openat": 257,
            "mknodat": 259,
            "fchmodat": 268,
            "unshare": 272,
            "perf_event_open": 298,
            "prlimit64": 302,
            "bpf": 321,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "clone3": 435,
            "openat2": 437,
            "fchmodat2": 452,
            "setxattrat": 463,
        },
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        numbers={
            "setxattr": 5,
            "lsetxattr": 6,
            "fsetxattr": 7,
            "ioctl": 29,
            "mknodat": 33,
            "fchmod": 52,
            "fchmodat": 53,
            "openat": 56,
            "unshare": 97,
            "socket": 198,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "clone": 220,
            "perf_event_open": 241,
            "prlimit64": 261,
            "bpf": 280,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "clone3": 435,
            "openat2": 437,
            "fchmodat2": 452,
            "setxattrat": 463,
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


class Demand(NamedTuple):
    """What a filter has to hold besides what every filter does.

    ``network_off``: no socket leads out of the machine. ``as_root``: the run has root's user id.
    ``among_others``: it sees the machine's processes, because it has no process ids of its own.
    """

    network_off: bool = False
    as_root: bool = False
    among_others: bool = False


def rules(demand: Demand) -> list[SyscallRule]:
    """Return the rules for the system calls that a sandboxed run may not make."""
    found = [SyscallRule("ioctl", _EPERM, (Test(1, code),)) for code in (_TIOCSTI, _TIOCLINUX)]
    found += [SyscallRule(call, _EPERM) for call in ("add_key", "request_key", "keyctl", "bpf")]
    found.append(SyscallRule("perf_event_open", _EACCES))
    found += [SyscallRule(f"io_uring_{act}", _ENOSYS) for act in ("setup", "enter", "register")]
    found += _no_setuid_files()
    found += _no_control_groups()
    if demand.as_root:
        # In a user namespace of its own, root may give a file capabilities that count outside as
        # well. The name of an attribute is in memory that a filter cannot read, so there is none.
        names = ("setxattr", "lsetxattr", "fsetxattr", "setxattrat")
        found += [SyscallRule(call, _EOPNOTSUPP) for call in names]
    if demand.among_others:  # a limit on processor time kills; Landlock sees no limits
        found.append(SyscallRule("prlimit64", _EPERM, (Test(0, _ANY, True),)))
    found.append(SyscallRule("socket", _EAFNOSUPPORT, (Test(0, _AF_VSOCK),)))
    if demand.network_off:
        found += _no_sockets_that_lead_out()
    return found


def _no_setuid_files() -> list[SyscallRule]:
    at = {
        "chmod": 1,
        "fchmod": 1,
        "fchmodat": 2,
        "fchmodat2": 2,
        "creat": 1,
        "mknod": 1,
        "mknodat": 2,
    }
    found = [SyscallRule(call, _EPERM, (Test(arg, _S_ISUID, True),)) for call, arg in at.items()]
    for call, flags in (("open", 1), ("openat", 2)):
        making = Test(flags, _O_CREAT | _O_TMPFILE, True)
        found.append(SyscallRule(call, _EPERM, (making, Test(flags + 1, _S_ISUID, True))))
    # The mode of openat2 is in a struct that a filter cannot read. Programs fall back to openat.
    found.append(SyscallRule("openat2", _ENOSYS))
    return found


def _no_control_groups() -> list[SyscallRule]:
    """With a namespace of control groups of its own a run may mount the tree that it is in. The
    files there, which belong to its user, freeze and kill what else is in the group: the terminal,
    Siding. The flags of clone3 are in a struct; programs fall back to clone.
    """
    new = (Test(0, _CLONE_NEWCGROUP, True),)
    return [
        SyscallRule("unshare", _EPERM, new),
        SyscallRule("clone", _EPERM, new),
        SyscallRule("clone3", _ENOSYS),
    ]


def _no_sockets_that_lead_out() -> list[SyscallRule]:
    stay = (_AF_UNIX, _AF_NETLINK, _AF_ALG)
    refused = dict.fromkeys((_AF_INET, _AF_INET6, _AF_PACKET), _EACCES)
    return [
        SyscallRule("socket", refused.get(family, _EAFNOSUPPORT), (Test(0, family),))
        for family in range(_FAMILIES)
        if family not in stay
    ]


def compiled(machine: str, demand: Demand) -> bytes:
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
    for rule in rules(demand):
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
