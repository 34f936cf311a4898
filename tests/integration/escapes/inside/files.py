"""Files outside: by their names, by links, by descriptors, by handles."""

# mypy: ignore-errors
import ctypes
import fcntl
import os
import socket
import stat
import struct
import threading

from told import HERE, HOME, LIBC, OUTSIDE, PID, WORLD, any_of, done, read, write


def inherited_descriptors():
    """The first of all attempts: those that follow open some."""
    names = {int(name) for name in os.listdir("/proc/self/fd")}
    found = {fd for fd in names if fd > 2 and os.path.exists(f"/proc/self/fd/{fd}")}
    return bool(found)


def write_outside():
    return write(OUTSIDE + "/by_name")


def write_etc():
    os.close(os.open("/etc/escaped", os.O_CREAT | os.O_WRONLY))
    os.unlink("/etc/escaped")
    return True


def write_what_others_start():
    def planted(directory):
        os.close(os.open(directory + "/escaped", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(directory + "/escaped")
        return True

    return any_of(
        planted,
        ("/etc/cron.d", "/etc/profile.d", "/usr/local/bin", "/var/spool/cron", "/etc/systemd/user"),
    )


def write_through_a_link():
    if not os.path.islink(HERE + "/link"):
        os.symlink(OUTSIDE, HERE + "/link")
    return write(HERE + "/link/by_link")


def write_through_dots():
    dots = os.path.relpath(OUTSIDE, HERE)
    return write(dots + "/by_dots")


def write_above_the_workspace():
    return write(os.path.dirname(HERE) + "/above")


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
    for number in range(1000):
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


def link_a_descriptor_in():
    with open(OUTSIDE + "/file") as file:
        os.link(f"/proc/self/fd/{file.fileno()}", HERE + "/hard2", follow_symlinks=True)
    return write(HERE + "/hard2")


def open_a_descriptor_again():
    with open(OUTSIDE + "/file") as file, open(f"/proc/self/fd/{file.fileno()}", "r+b") as again:
        return again.fileno() >= 0


def move_a_file_in():
    os.rename(OUTSIDE + "/file", HERE + "/moved")
    return True


def move_a_file_out():
    with open(HERE + "/to_move", "w"):
        pass
    os.rename(HERE + "/to_move", OUTSIDE + "/moved_out")
    return True


def exchange_a_file():
    with open(HERE + "/exchanged", "w"):
        pass
    names = (f"{HERE}/exchanged".encode(), f"{OUTSIDE}/file".encode())
    return done(LIBC.renameat2(-100, names[0], -100, names[1], 2))


def move_the_workspace_away():
    os.rename(HERE, HERE + "-moved")
    os.rename(HERE + "-moved", HERE)
    return True


def cut_a_file():
    os.truncate(OUTSIDE + "/file", 0)
    return True


def remove_a_file():
    os.unlink(OUTSIDE + "/file")
    return True


def make_a_directory_outside():
    os.mkdir(OUTSIDE + "/directory")
    return True


def make_a_link_outside():
    os.symlink("/", OUTSIDE + "/a_link")
    return True


def make_a_pipe_outside():
    os.mkfifo(OUTSIDE + "/pipe")
    return True


def bind_a_socket_outside():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(OUTSIDE + "/bound")
    return True


def change_a_mode():
    os.chmod(OUTSIDE + "/file", stat.S_IMODE(os.stat(OUTSIDE + "/file").st_mode))
    return True


def change_a_time():
    seen = os.stat(OUTSIDE + "/file")
    os.utime(OUTSIDE + "/file", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    return True


def change_an_owner():
    os.chown(OUTSIDE + "/file", os.getuid(), os.getgid())
    return True


def change_an_attribute():
    os.setxattr(OUTSIDE + "/file", "user.escaped", b"1")
    os.removexattr(OUTSIDE + "/file", "user.escaped")
    return True


def lock_a_file():
    """A lock needs no more than to read the file."""
    with open(OUTSIDE + "/file") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def read_the_key():
    return read(HOME + "/.ssh/id")


def see_that_a_key_is_there():
    return os.stat(HOME + "/.ssh/id").st_size > 0


def watch_the_keys():
    watching = LIBC.inotify_init1(os.O_CLOEXEC)
    return done(LIBC.inotify_add_watch(watching, (HOME + "/.ssh").encode(), 0xFFF))


def list_the_keys():
    return bool(os.listdir(HOME + "/.ssh"))


def write_a_start_up_file():
    return any_of(
        write,
        (f"{HOME}/{name}" for name in (".bashrc", ".profile", ".ssh/authorized_keys")),
    )


def change_settings_of_git():
    return write(HOME + "/.gitconfig")


def make_settings_of_an_agent():
    def made(name):
        os.makedirs(f"{HOME}/{name}", exist_ok=True)
        return write(f"{HOME}/{name}/settings.json")

    return any_of(made, (".claude", ".codex", ".gemini", ".config/autostart"))


def read_the_checkout():
    return read(WORLD["checkout"] + "/secret.txt")


def write_the_checkout():
    return write(WORLD["checkout"] + "/escaped")


def write_the_git_file():
    return write(HERE + "/.git")


def replace_the_git_file():
    os.rename(HERE + "/.git", HERE + "/git-was")
    return True


def through_proc_root():
    return write(f"/proc/{PID}/root{OUTSIDE}/by_proc")


def through_its_own_proc_root():
    return write(f"/proc/self/root{OUTSIDE}/by_own_proc")


def through_the_root_of_the_first_process():
    return read(f"/proc/1/root{HOME}/.ssh/id") or write(f"/proc/1/root{OUTSIDE}/by_first")


def through_proc_cwd():
    return bool(os.listdir(f"/proc/{PID}/cwd"))


def through_a_thread():
    return write(f"/proc/{PID}/task/{PID}/root{OUTSIDE}/by_thread")


def through_map_files():
    return any_of(
        lambda name: read(f"/proc/{PID}/map_files/{name}"), os.listdir(f"/proc/{PID}/map_files")
    )


def through_descriptors_of_others():
    """The process outside has the key open, and the directory of keys."""

    def is_key(path):
        for name in (path, path + "/id"):
            try:
                fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK)  # it may be a pipe
                with open(fd, "rb", buffering=0) as file:
                    if file.read(5) == b"a key":
                        return True
            except OSError:
                pass
        return False

    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            found += [f"/proc/{pid}/fd/{fd}" for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            pass
    return any_of(is_key, found)


def open_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount_id = ctypes.c_int()
    done(LIBC.name_to_handle_at(-100, b"/etc", handle, ctypes.byref(mount_id), 0))
    fd = LIBC.open_by_handle_at(os.open(HERE, os.O_RDONLY), handle, os.O_RDONLY)
    return done(0 if fd >= 0 else -1)


def search_by_handles():
    """Handles of the first inodes of the file system, made up: the way out of old containers."""
    here = os.open(HERE, os.O_RDONLY)

    def opened(inode):
        handle = ctypes.create_string_buffer(struct.pack("IiII", 8, 1, inode, 0), 136)
        fd = LIBC.open_by_handle_at(here, handle, os.O_RDONLY)
        return done(0 if fd >= 0 else -1)

    return any_of(opened, range(1, 20))
