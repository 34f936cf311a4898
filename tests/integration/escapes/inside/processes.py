"""Processes outside: read, written, signalled, slowed down."""

# mypy: ignore-errors
import ctypes
import fcntl
import os
import resource
import signal

from told import LIBC, PID, WORLD, any_of, done


def read_an_environment():
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if b"OUTER_SECRET" in file.read():
                        return True
            except OSError:
                pass
    return False


def read_arguments():
    def has_marker(name):
        with open(f"/proc/{name}/cmdline", "rb") as file:
            return WORLD["argument"].encode() in file.read()

    return any_of(has_marker, filter(str.isdecimal, os.listdir("/proc")))


def read_memory():
    with open(f"/proc/{PID}/mem", "rb") as file:
        return file.fileno() >= 0


def write_memory_above():
    with open(f"/proc/{WORLD['parent']}/mem", "r+b") as file:
        return file.fileno() >= 0


def _vector(length):
    buffer = ctypes.create_string_buffer(length)
    return (ctypes.c_size_t * 2)(ctypes.addressof(buffer), length), buffer


def read_memory_by_a_call():
    local, _buffer = _vector(8)
    remote = (ctypes.c_size_t * 2)(WORLD["address"], 8)
    return done(LIBC.process_vm_readv(PID, local, 1, remote, 1, 0))


def write_memory_by_a_call():
    local, _buffer = _vector(8)
    remote = (ctypes.c_size_t * 2)(WORLD["address"], 8)
    return done(LIBC.process_vm_writev(PID, local, 1, remote, 1, 0))


def trace_a_process():
    return done(LIBC.ptrace(16, PID, 0, 0))


def seize_a_process():
    return done(LIBC.ptrace(0x4206, PID, 0, 0))


def take_a_descriptor():
    holder = os.pidfd_open(PID)
    return any_of(lambda fd: done(LIBC.syscall(438, holder, fd, 0)), range(10))


def enter_its_namespaces():
    def entered(kind):
        fd = os.open(f"/proc/{PID}/ns/{kind}", os.O_RDONLY)
        return done(LIBC.setns(fd, 0))

    return any_of(entered, ("mnt", "pid", "net", "user", "uts", "ipc"))


def enter_by_a_process_descriptor():
    return done(LIBC.setns(os.pidfd_open(PID), 0x20000))


# Whether it was the process outside that was signalled is seen there: it ends.
def signal_a_process():
    os.kill(PID, signal.SIGUSR1)
    return False


def signal_by_a_descriptor():
    signal.pidfd_send_signal(os.pidfd_open(PID), signal.SIGUSR1)
    return False


def signal_a_thread():
    done(LIBC.tgkill(PID, PID, signal.SIGUSR1))
    return False


def signal_a_group():
    os.killpg(PID, signal.SIGUSR1)
    return False


def signal_by_a_queue():
    value = ctypes.create_string_buffer(128)
    done(LIBC.syscall(129 if os.uname().machine == "x86_64" else 138, PID, signal.SIGUSR1, value))
    return False


def signal_by_a_pipe():
    """The kernel sends the owner of a pipe a signal when it can be read."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, PID)
    fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGUSR1)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")
    os.close(reading)
    os.close(writing)
    return False


def find_those_above():
    os.kill(WORLD["parent"], 0)
    return True


def change_limits():
    """To what they are: the process outside goes on."""
    resource.prlimit(PID, resource.RLIMIT_CORE, resource.prlimit(PID, resource.RLIMIT_CORE))
    return True


def change_a_priority():
    os.setpriority(os.PRIO_PROCESS, PID, os.getpriority(os.PRIO_PROCESS, PID))
    return True


def change_a_processor():
    os.sched_setaffinity(PID, os.sched_getaffinity(PID))
    return True


def change_who_is_killed_first():
    with open(f"/proc/{PID}/oom_score_adj", "r+") as file:
        return file.fileno() >= 0
