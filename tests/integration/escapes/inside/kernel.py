"""Rights, mounts, devices, and what else the kernel has."""

# mypy: ignore-errors
import ctypes
import fcntl
import os
import pty
import stat
import struct
import termios

from files import write_etc
from told import (
    HERE,
    HOME,
    LIBC,
    OUTSIDE,
    WORLD,
    a_directory,
    any_of,
    done,
    in_namespaces,
    may_write,
    read,
    write,
)

_CGROUPS = 0x02000000
_REMOUNT, _BIND, _RECURSIVE = 32, 4096, 16384


def _typed(code):
    master, slave = pty.openpty()
    try:
        return done(LIBC.ioctl(slave, ctypes.c_ulong(code), b"\x03"))
    finally:
        os.close(master)
        os.close(slave)


def type_into_a_terminal():
    return _typed(termios.TIOCSTI)


def type_with_more_bits():
    """The kernel looks at 32 of them."""
    return _typed(0x100000000 | termios.TIOCSTI)


def paste_into_a_terminal():
    return _typed(0x541C)


def take_the_console():
    return any_of(may_write, ("/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs"))


def control_a_console():
    master, slave = pty.openpty()
    try:
        fcntl.ioctl(slave, 0x541D, 0)  # TIOCCONS
    finally:
        os.close(master)
        os.close(slave)
    return True


def mount_something():
    return done(LIBC.mount(b"none", a_directory().encode(), b"tmpfs", 0, None))


def mount_by_the_new_calls():
    fd = LIBC.syscall(430, b"tmpfs", 0)
    return done(fd) and done(LIBC.syscall(431, fd, 6, None, None, 0))


def clone_the_tree():
    tree = LIBC.syscall(428, -100, b"/", 1)
    return done(tree)


def make_root_writable():
    return done(LIBC.mount(None, b"/", None, _REMOUNT | _BIND, None)) and write_etc()


def _is_bare():
    return any_of(read, (HOME + "/.ssh/id",)) or any_of(may_write, ("/etc/passwd",))


def uncover_the_home():
    """With namespaces of its own, as every user may have them."""

    def uncovered():
        LIBC.umount2(HOME.encode(), 2)
        LIBC.umount2(b"/tmp", 2)
        LIBC.umount2(os.path.dirname(HOME).encode(), 2)
        LIBC.mount(None, b"/", None, _REMOUNT | _BIND, None)
        return _is_bare()

    return in_namespaces(uncovered)


def bind_what_is_below():
    """A tree that is bound without what is mounted on it would show what the mounts hide."""

    def bound():
        place = a_directory()
        done(LIBC.mount(b"/", place.encode(), None, _BIND, None))
        return read(f"{place}{HOME}/.ssh/id")

    return in_namespaces(bound)


def clone_what_is_below():
    def cloned():
        tree = LIBC.syscall(428, -100, b"/", 1)
        done(tree)
        return read(f"/proc/self/fd/{tree}{HOME}/.ssh/id")

    return in_namespaces(cloned)


def lay_a_file_system_over():
    """The lower layer of an overlay is a copy of a mount."""

    def laid():
        place, upper, work = (a_directory() for _ in range(3))
        options = f"lowerdir=/,upperdir={upper},workdir={work}".encode()
        done(LIBC.mount(b"overlay", place.encode(), b"overlay", 0, options))
        return read(f"{place}{HOME}/.ssh/id")

    return in_namespaces(laid)


def make_a_copy_writable():
    """Of a bound tree the lock on `read-only` must come along."""

    def writable():
        place = a_directory()
        done(LIBC.mount(b"/", place.encode(), None, _BIND | _RECURSIVE, None))
        LIBC.mount(None, place.encode(), None, _REMOUNT | _BIND, None)
        return write(f"{place}{OUTSIDE}/by_copy")

    return in_namespaces(writable)


def make_writable_by_an_attribute():
    def writable():
        attributes = struct.pack("QQQQ", 0, 1, 0, 0)
        done(LIBC.syscall(442, -100, b"/", 0x8000, attributes, len(attributes)))
        return write(OUTSIDE + "/by_attribute")

    return in_namespaces(writable)


def turn_the_root_round():
    def turned():
        place = a_directory()
        done(LIBC.mount(b"/", place.encode(), None, _BIND | _RECURSIVE, None))
        os.chdir(place)
        done(LIBC.syscall(155 if os.uname().machine == "x86_64" else 41, b".", b"."))
        done(LIBC.umount2(b".", 2))
        return _is_bare()

    return in_namespaces(turned)


def climb_out_of_a_root():
    def climbed():
        os.chroot(a_directory())
        for _ in range(40):
            os.chdir("..")
        os.chroot(".")
        return _is_bare()

    return in_namespaces(climbed)


def change_root():
    os.chroot(HERE)
    return True


def mount_control_groups():
    """The files of a control group freeze, kill and starve all that is in it."""

    def mounted():
        for kind, options in ((b"cgroup2", None), (b"cgroup", b"memory"), (b"cgroup", b"pids")):
            place = a_directory()
            if LIBC.mount(b"none", place.encode(), kind, 0, options) == 0:
                return any_of(may_write, (f"{place}/cgroup.procs",))
        return False

    return in_namespaces(mounted, 0x10000000 | 0x20000 | _CGROUPS)


def write_control_groups():
    top = "/sys/fs/cgroup"
    names = [top, *(each.path for each in os.scandir(top) if each.is_dir())]
    return any_of(may_write, (f"{name}/cgroup.procs" for name in names))


def set_a_file_setuid():
    with open(HERE + "/setuid", "w"):
        pass
    os.chmod(HERE + "/setuid", 0o4755)
    return bool(os.stat(HERE + "/setuid").st_mode & stat.S_ISUID)


def make_a_file_setuid():
    fd = os.open(HERE + "/setuid2", os.O_CREAT | os.O_WRONLY, 0o4755)
    return bool(os.fstat(fd).st_mode & stat.S_ISUID)


def make_a_node_setuid():
    os.mknod(HERE + "/setuid3", 0o4755 | stat.S_IFREG)
    return bool(os.stat(HERE + "/setuid3").st_mode & stat.S_ISUID)


def make_a_nameless_file_setuid():
    fd = os.open(HERE, os.O_TMPFILE | os.O_RDWR, 0o4755)
    return bool(os.fstat(fd).st_mode & stat.S_ISUID)


def make_a_file_setuid_by_a_struct():
    how = struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    fd = LIBC.syscall(437, -100, (HERE + "/setuid4").encode(), how, len(how))
    return done(fd) and bool(os.fstat(fd).st_mode & stat.S_ISUID)


def set_a_file_setuid_by_the_newest_call():
    with open(HERE + "/setuid5", "w"):
        pass
    done(LIBC.syscall(452, -100, (HERE + "/setuid5").encode(), 0o4755, 0))
    return bool(os.stat(HERE + "/setuid5").st_mode & stat.S_ISUID)


def give_a_file_capabilities():
    """By a root of its own: whether they count outside is seen there."""

    def given():
        path = HERE + "/capable"
        with open(path, "w") as file:
            file.write("#!/bin/true\n")
        os.chmod(path, 0o755)
        caps = struct.pack("<5I", 0x02000001, 0xFFFFFFFF, 0, 0xFF, 0)
        os.setxattr(path, "security.capability", caps)
        return False

    return in_namespaces(given)


def become_root():
    if WORLD["root"]:
        return False  # it is, in name; `gain_rights` sees what that is worth
    os.setuid(0)
    return True


def become_root_by_a_program():
    def became(program):
        return not WORLD["root"] and b"uid=0" in os.popen(f"{program} 2>&1").read().encode()

    return any_of(became, ("su -c id </dev/null", "sudo -n id", "pkexec id"))


def join_a_group():
    os.setgroups([0, 6])
    return True


def gain_rights():
    with open("/proc/self/status") as file:
        text = file.read()
    caps = [line.split()[1] for line in text.splitlines() if line.startswith(("CapEff", "CapBnd"))]
    locked = "NoNewPrivs:\t1" in text
    return not locked or any(int(cap, 16) for cap in caps if WORLD["root"])


def make_a_device():
    os.mknod(HERE + "/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
    return True


def read_a_disk():
    """What is hidden lies on it."""

    def opened(name):
        os.close(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))
        return True

    return any_of(opened, os.listdir("/sys/class/block"))


def read_memory_of_the_machine():
    return any_of(read, ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/dev/kmsg"))


def open_a_device():
    def opened(path):
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        return True

    names = "fuse kvm loop-control uinput input/event0 snd/seq video0 net/tun hwrng vhost-vsock"
    return any_of(opened, (f"/dev/{name}" for name in names.split()))


def use_the_keyring():
    return done(LIBC.syscall(WORLD["keyctl"], 0, -3, 0, 0, 0))


def add_a_key():
    return done(LIBC.syscall(WORLD["keyctl"] - 2, b"user", b"x", b"y", 1, -4))


def request_a_key():
    return done(LIBC.syscall(WORLD["keyctl"] - 1, b"user", b"x", None, -4))


def by_numbers_of_another_kind():
    """System calls have other numbers for 32-bit programs, which a filter may forget."""
    return done(LIBC.syscall(0x40000000 | WORLD["keyctl"], 0, -3, 0, 0, 0))


def use_io_uring():
    return done(LIBC.syscall(425, 1, ctypes.create_string_buffer(struct.pack("30I", *[0] * 30))))


def load_a_program_into_the_kernel():
    number = {"aarch64": 280}.get(os.uname().machine, 321)
    return done(LIBC.syscall(number, 0, ctypes.create_string_buffer(128), 128))


def count_events_of_others():
    number = {"aarch64": 241}.get(os.uname().machine, 298)
    attributes = ctypes.create_string_buffer(struct.pack("IIQ", 1, 128, 0), 128)
    return done(LIBC.syscall(number, attributes, WORLD["pid"], -1, -1, 0))


def load_a_module():
    number = {"aarch64": 105}.get(os.uname().machine, 175)
    return done(LIBC.syscall(number, b"", 0, b""))


def change_the_kernel():
    return may_write("/proc/sys/kernel/core_pattern")


def change_a_setting_of_the_network():
    return any_of(
        may_write,
        (
            "/proc/sys/net/ipv4/ip_forward",
            "/proc/sys/vm/overcommit_memory",
            "/proc/sys/fs/suid_dumpable",
        ),
    )


def press_sysrq():
    with open("/proc/sysrq-trigger", "w") as file:
        return file.fileno() >= 0


def change_sys():
    return any_of(may_write, ("/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run"))


def open_what_debugs_the_kernel():
    return any_of(os.listdir, ("/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf/"))


def change_the_hostname():
    name = os.uname().nodename.encode()  # the one it has, if it gets through
    return done(LIBC.sethostname(name, len(name)))


def reach_ports_of_the_machine():
    number = {"x86_64": 172}.get(os.uname().machine)
    return number is not None and done(LIBC.syscall(number, 3))


def keep_an_account():
    return done(LIBC.acct(None))
