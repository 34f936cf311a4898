"""ptrace(2), the registers and the seccomp filter under the tracer (Linux, x86_64 and aarch64)."""

import ctypes
import errno
import os
import platform
import signal
import struct
from collections.abc import Mapping, Sequence
from functools import cache

from .syscalls import IO_URING_SETUP, by_number

MACHINE = platform.machine()
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# ptrace(2) requests and options
_POKEUSER, CONT, SYSCALL, _GETEVENTMSG, _SEIZE, LISTEN = 6, 7, 24, 0x4201, 0x4206, 0x4208
_GETREGSET, _SETREGSET, _GET_SYSCALL_INFO = 0x4204, 0x4205, 0x420E
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000  # SYSGOOD FORK VFORK CLONE SECCOMP EXITKILL
WALL = 0x40000000  # waitpid(2): also children made by clone
_NT_PRSTATUS, _NT_ARM_SYSTEM_CALL = 1, 0x404
O_CHANGES = os.O_CREAT | os.O_TRUNC | os.O_ACCMODE  # O_ACCMODE: opened for writing

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> int:
    ctypes.set_errno(0)
    result = int(_libc.ptrace(request, pid, address, data))
    if result == -1 and (code := ctypes.get_errno()):
        raise OSError(code, f"ptrace request {request:#x}: {os.strerror(code)}")
    return result


def resume(pid: int, how: int, number: int = 0) -> None:
    _ptrace(how, pid, 0, number)


def event_message(pid: int) -> int:
    message = ctypes.c_ulong()
    _ptrace(_GETEVENTMSG, pid, 0, ctypes.addressof(message))
    return message.value


def syscall_at_entry(pid: int) -> tuple[int, Sequence[int]]:
    buffer = ctypes.create_string_buffer(88)  # struct ptrace_syscall_info
    _ptrace(_GET_SYSCALL_INFO, pid, 88, ctypes.addressof(buffer))
    number, *args = struct.unpack_from("7Q", buffer.raw, 24)
    return number, args


def result_at_exit(pid: int) -> int:
    buffer = ctypes.create_string_buffer(88)
    _ptrace(_GET_SYSCALL_INFO, pid, 88, ctypes.addressof(buffer))
    return int(struct.unpack_from("q", buffer.raw, 24)[0])


_X86_ARGUMENTS = (14, 13, 12, 7, 9, 8)  # rdi rsi rdx r10 r8 r9 in struct user_regs_struct
_X86_RESULT, _X86_NUMBER = 10, 15


def set_argument(pid: int, index: int, value: int) -> None:
    if MACHINE == "x86_64":
        _ptrace(_POKEUSER, pid, 8 * _X86_ARGUMENTS[index], value)
    else:
        _poke_arm(pid, index, value)


def skip(pid: int, result: int) -> None:
    """At a seccomp stop: the call is not made and returns `result`."""
    if MACHINE == "x86_64":
        _ptrace(_POKEUSER, pid, 8 * _X86_NUMBER, 2**64 - 1)
        _ptrace(_POKEUSER, pid, 8 * _X86_RESULT, result % 2**64)
    else:
        none = ctypes.c_int(-1)
        _regset(pid, _SETREGSET, _NT_ARM_SYSTEM_CALL, none)
        _poke_arm(pid, 0, result % 2**64)


def _poke_arm(pid: int, index: int, value: int) -> None:
    registers = (ctypes.c_uint64 * 34)()  # x0..x30, sp, pc, pstate
    _regset(pid, _GETREGSET, _NT_PRSTATUS, registers)
    registers[index] = value
    _regset(pid, _SETREGSET, _NT_PRSTATUS, registers)


def _regset(
    pid: int, request: int, kind: int, data: "ctypes.c_int | ctypes.Array[ctypes.c_uint64]"
) -> None:
    vector = (ctypes.c_uint64 * 2)(ctypes.addressof(data), ctypes.sizeof(data))  # struct iovec
    _ptrace(request, pid, kind, ctypes.addressof(vector))


def spawn_seized(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], stdout: int, stderr: int, reads: bool
) -> int:
    """Starts `argv` in a session of its own, seized and filtered, about to exec."""
    program = filter_program(reads=reads)
    gate_read, gate_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.read(gate_read, 1)
            _become(argv, cwd, env, stdout, stderr, program)
        except BaseException as error:  # noqa: BLE001 - a forked child must never return
            os.write(2, f"fault tracer: cannot start {argv[0]!r}: {error!r}\n".encode())
        finally:
            os._exit(127)
    os.close(gate_read)
    try:
        seize(pid)
        os.write(gate_write, b"x")
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        os.close(gate_write)
    return pid


def seize(pid: int) -> None:
    """Begin to trace a process, and everything that it starts."""
    _ptrace(_SEIZE, pid, 0, _OPTIONS)


def allow_tracing() -> None:
    """Let a process trace this one that is not above it; Yama may ask for that."""
    set_tracer, anybody = 0x59616D61, ctypes.c_ulong(-1)
    _libc.prctl(set_tracer, anybody, 0, 0, 0)  # a kernel without Yama does not know it


def filter_calls(program: bytes) -> None:
    """Stop this process, and everything that it starts, at the calls of the filter."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))  # struct sock_fprog
    )
    no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    if _libc.prctl(no_new_privileges, 1, 0, 0, 0) or _libc.prctl(
        set_seccomp, mode_filter, ctypes.byref(header), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "prctl")


def _become(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    stdout: int,
    stderr: int,
    program: bytes,
) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    for number in (
        signal.SIGPIPE,
        signal.SIGXFSZ,
    ):  # Python ignores them; a command expects neither
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    filter_calls(program)
    os.execvpe(argv[0], list(argv), dict(env))


@cache
def filter_program(*, reads: bool) -> bytes:
    """Classic BPF over struct seccomp_data: stop at our calls, refuse io_uring, allow the rest.

    open and openat that neither create, truncate nor write are allowed in the kernel already:
    a Python start makes some hundred of them.
    """
    load, jump_equal, jump_any_bit, done = 0x20, 0x15, 0x45, 0x06
    allow, stop, refuse = 0x7FFF0000, 0x7FF00000, 0x00050000 | errno.ENOSYS
    code = [
        (load, 0, 0, 4),
        (jump_equal, 1, 0, AUDIT_ARCH[MACHINE]),
        (done, 0, 0, allow),
        (load, 0, 0, 0),
        (jump_equal, 0, 1, IO_URING_SETUP),
        (done, 0, 0, refuse),
    ]
    for number, row in by_number(MACHINE, reads=reads).items():
        if row.flags is not None and not reads:
            code += [
                (jump_equal, 0, 4, number),
                (load, 0, 0, 16 + 8 * row.flags),
                (jump_any_bit, 0, 1, O_CHANGES),
                (done, 0, 0, stop),
                (done, 0, 0, allow),
            ]
        else:
            code += [(jump_equal, 0, 1, number), (done, 0, 0, stop)]
    code.append((done, 0, 0, allow))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)
