"""Runs inside a sandbox and tries to get out. Prints JSON: attack -> what came of it.

A plain script for any Python: it imports nothing of ours. What is out there to be reached is told
in the environment (VICTIM, as JSON). Each attack returns True when it got through.
"""

# mypy: ignore-errors
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pty
import signal
import socket
import stat
import struct
import sys
import termios
import threading

WORLD = json.loads(os.environ["VICTIM"])
OUTSIDE, HOME, PID = WORLD["outside"], WORLD["home"], WORLD["pid"]
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = os.getcwd()


def write(path):
    with open(path, "a") as file:
        file.write("escaped\n")
    return True


def may_write(path):
    """Only open it: what is the machine's must stay as it is if this gets through."""
    with open(path, "r+b") as file:
        return file.fileno() >= 0


def read(path):
    with open(path) as file:
        return bool(file.read())


def write_outside():
    return write(OUTSIDE + "/by_name")


def write_etc():
    os.close(os.open("/etc/escaped", os.O_CREAT | os.O_WRONLY))
    os.unlink("/etc/escaped")
    return True


def write_through_a_link():
    if not os.path.islink(HERE + "/link"):
        os.symlink(OUTSIDE, HERE + "/link")
    return write(HERE + "/link/by_link")


def write_through_dots():
    dots = os.path.relpath(OUTSIDE, HERE)
    return write(dots + "/by_dots")


def write_while_a_link_is_swapped():
    os.mkdir(HERE + "/real")
    os.symlink(OUTSIDE, HERE + "/fake")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.rename(HERE + "/real", HERE + "/tmp-real")
            os.rename(HERE + "/fake", HERE + "/real")
            os.rename(HERE + "/real", HERE + "/fake")
            os.rename(HERE + "/tmp-real", HERE + "/real")

    thread = threading.Thread(target=swap)
    thread.start()
    through = False
    for number in range(2000):
        try:
            with open(f"{HERE}/real/race{number}", "w"):
                through = through or os.path.exists(f"{OUTSIDE}/race{number}")
        except OSError:
            pass
    stop.set()
    thread.join()
    return through


def link_a_file_in():
    os.link(OUTSIDE + "/file", HERE + "/hard")
    return write(HERE + "/hard")


def move_a_file_in():
    os.rename(OUTSIDE + "/file", HERE + "/moved")
    return True


def cut_a_file():
    os.truncate(OUTSIDE + "/file", 0)
    return True


def read_the_key():
    return read(HOME + "/.ssh/id")


def read_our_state():
    (project,) = os.listdir(WORLD["state"] + "/projects")
    return read(f"{WORLD['state']}/projects/{project}/config.yaml")


def write_our_state():
    return write(WORLD["state"] + "/projects/escaped")


def read_the_checkout():
    return read(WORLD["checkout"] + "/secret.txt")


def write_a_hook():
    return write(WORLD["git"] + "/hooks/post-commit")


def write_git_config():
    return write(WORLD["git"] + "/config")


def plant_in_its_git_directory():
    """What is written there may be a copy: whether it got out is for who looks from outside."""
    (place,) = (each.path for each in os.scandir(WORLD["git"] + "/worktrees"))
    for name in (
        "config.worktree",
        "HEAD",
        "commondir",
        "gitdir",
        "gitk.cache",
        "ORIG_HEAD",
        "rebase-merge/git-rebase-todo",
        "sequencer/todo",
        "hooks/post-commit",
        "info/attributes",
        "modules/x/config",
        "refs/worktree/x",
    ):
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
            write(f"{place}/{name}")
    return False


def write_the_git_file():
    return write(HERE + "/.git")


def replace_the_git_file():
    os.rename(HERE + "/.git", HERE + "/git-was")
    return True


def through_proc_root():
    return write(f"/proc/{PID}/root{OUTSIDE}/by_proc")


def through_proc_cwd():
    return bool(os.listdir(f"/proc/{PID}/cwd"))


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


def read_memory():
    with open(f"/proc/{PID}/mem", "rb") as file:
        return file.fileno() >= 0


def write_memory_above():
    with open(f"/proc/{WORLD['parent']}/mem", "r+b") as file:
        return file.fileno() >= 0


def trace_a_process():
    if LIBC.ptrace(16, PID, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return True


def signal_a_process():
    os.kill(PID, signal.SIGUSR1)
    return False  # whether it was the victim is seen outside


def reach_an_abstract_socket():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + WORLD["abstract"])
    return True


def reach_a_socket_by_name():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(WORLD["socket"])
    return True


def reach_a_hidden_socket():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(WORLD["hidden_socket"])
    return True


def reach_a_server():
    with socket.create_connection(("127.0.0.1", WORLD["tcp"]), timeout=5):
        return True


def reach_a_udp_server():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.sendto(b"ping", ("127.0.0.1", WORLD["udp"]))
        return bool(client.recv(10))


def a_server_of_its_own():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5),
    ):
        return True


def reach_the_hypervisor():
    with socket.socket(40, socket.SOCK_STREAM) as vsock:
        return vsock.fileno() >= 0


def raw_packets():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        return raw.fileno() >= 0


def type_into_a_terminal():
    master, slave = pty.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    finally:
        os.close(master)
        os.close(slave)
    return True


def inherited_descriptors():
    names = {int(name) for name in os.listdir("/proc/self/fd")}
    found = {fd for fd in names if fd > 2 and os.path.exists(f"/proc/self/fd/{fd}")}
    return bool(found)


def mount_something():
    os.makedirs(HERE + "/mounted", exist_ok=True)  # nobody else's place, if it gets through
    return done(LIBC.mount(b"none", (HERE + "/mounted").encode(), b"tmpfs", 0, None))


def make_root_writable():
    return done(LIBC.mount(None, b"/", None, 32 | 4096, None)) and write_etc()


def uncover_the_home():
    """With namespaces of its own, as every user may have them."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            done(LIBC.unshare(0x10000000 | 0x20000))
            LIBC.umount2(HOME.encode(), 2)
            LIBC.umount2(b"/tmp", 2)
            LIBC.mount(None, b"/", None, 32 | 4096, None)
            if read_or_not(HOME + "/.ssh/id") or may_or_not("/etc/passwd"):
                os.write(writing, b"!")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(writing)
    return os.read(reading, 1) == b"!"


def set_a_file_setuid():
    with open(HERE + "/setuid", "w"):
        pass
    os.chmod(HERE + "/setuid", 0o4755)
    return bool(os.stat(HERE + "/setuid").st_mode & stat.S_ISUID)


def make_a_file_setuid():
    fd = os.open(HERE + "/setuid2", os.O_CREAT | os.O_WRONLY, 0o4755)
    return bool(os.fstat(fd).st_mode & stat.S_ISUID)


def make_a_device():
    os.mknod(HERE + "/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
    return True


def gain_rights():
    with open("/proc/self/status") as file:
        text = file.read()
    caps = [line.split()[1] for line in text.splitlines() if line.startswith(("CapEff", "CapBnd"))]
    locked = "NoNewPrivs:\t1" in text
    return not locked or any(int(cap, 16) for cap in caps if WORLD["root"])


def use_the_keyring():
    return done(LIBC.syscall(WORLD["keyctl"], 0, -3, 0, 0, 0))


def use_io_uring():
    return done(LIBC.syscall(425, 1, ctypes.create_string_buffer(struct.pack("30I", *[0] * 30))))


def change_the_kernel():
    return may_write("/proc/sys/kernel/core_pattern")


def press_sysrq():
    with open("/proc/sysrq-trigger", "w") as file:
        return file.fileno() >= 0


def change_sys():
    return any(map(may_or_not, ("/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run")))


def change_the_hostname():
    name = os.uname().nodename.encode()  # the one it has, if it gets through
    return done(LIBC.sethostname(name, len(name)))


def open_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount_id = ctypes.c_int()
    done(LIBC.name_to_handle_at(-100, b"/etc", handle, ctypes.byref(mount_id), 0))
    fd = LIBC.open_by_handle_at(os.open(HERE, os.O_RDONLY), handle, os.O_RDONLY)
    return done(0 if fd >= 0 else -1)


def change_root():
    os.chroot(HERE)
    return True


def done(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def read_or_not(path):
    try:
        return read(path)
    except OSError:
        return False


def may_or_not(path):
    try:
        return may_write(path)
    except OSError:
        return False


ATTACKS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and name not in {"write", "read", "done", "read_or_not", "may_or_not", "may_write"}
]


def main():
    told = {}
    only = os.environ.get("ONLY")
    for attack in ATTACKS:
        if only and attack.__name__ not in only.split(","):
            continue
        try:
            told[attack.__name__] = "through" if attack() else "refused"
        except OSError as error:
            told[attack.__name__] = "refused: " + errno.errorcode.get(error.errno or 0, str(error))
        except Exception as error:  # noqa: BLE001 - it is told
            told[attack.__name__] = f"broken: {error!r}"
    print(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main())
