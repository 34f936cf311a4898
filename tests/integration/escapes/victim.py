"""A process outside the sandbox, with all that processes of one user can share.

A plain program for any Python. It prints as JSON what it has, waits for a line, and says whether
all is as it was.
"""

# mypy: ignore-errors
import ctypes
import json
import os
import pty
import resource
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
MQ_OPEN, MQ_UNLINK = {"aarch64": (180, 181)}.get(os.uname().machine, (240, 241))
MAKE = 0o1000  # IPC_CREAT
SECRET = ctypes.create_string_buffer(b"kept")


def circumstances():
    """Return what others may change of a process."""
    with open("/proc/self/oom_score_adj") as file:
        score = file.read()
    limits = [resource.getrlimit(number) for number in range(16)]
    return limits, os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0)), score


def main():
    signal.signal(signal.SIGUSR1, lambda *_: os._exit(9))
    keys = os.open(sys.argv[1] + "/id", os.O_RDONLY)
    place = os.open(sys.argv[1], os.O_RDONLY)
    key = 0x51D00000 | os.getpid() & 0xFFFFF
    made = (
        LIBC.shmget(key, 4096, MAKE | 0o600),
        LIBC.semget(key, 1, MAKE | 0o600),
        LIBC.msgget(key, MAKE | 0o600),
    )
    queue = f"siding-test-{os.getpid()}"
    mq = LIBC.syscall(MQ_OPEN, queue.encode(), os.O_RDWR | os.O_CREAT, 0o600, None)
    memory = f"/dev/shm/siding-test-{os.getpid()}"
    with open(memory, "w") as file:
        file.write("kept")
    _master, terminal = pty.openpty()
    before = circumstances()
    told = {"key": key, "queue": queue, "memory": memory, "terminal": os.ttyname(terminal)}
    print(json.dumps(told | {"address": ctypes.addressof(SECRET)}), flush=True)
    sys.stdin.readline()
    with open(memory) as file:
        same = file.read() == "kept" and SECRET.value == b"kept" and circumstances() == before
    LIBC.shmctl(made[0], 0, None)
    LIBC.semctl(made[1], 0, 0)
    LIBC.msgctl(made[2], 0, None)
    LIBC.syscall(MQ_UNLINK, queue.encode())
    os.unlink(memory)
    os.close(keys)
    os.close(place)
    os.close(mq)
    print("all is as it was" if same else "something was changed", flush=True)


if __name__ == "__main__":
    main()
