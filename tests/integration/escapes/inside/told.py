"""What is out there to be reached, as the environment tells it, and what many attempts need."""

# mypy: ignore-errors
import ctypes
import json
import os
import subprocess
import tempfile

WORLD = json.loads(os.environ["VICTIM"])
OUTSIDE, HOME, PID = WORLD["outside"], WORLD["home"], WORLD["pid"]
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
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


def done(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def any_of(attempt, arguments):
    """Return whether an attempt gets through with any of the arguments."""
    for each in arguments:
        try:
            if attempt(each):
                return True
        except OSError:
            pass
    return False


def succeeds(*argv):
    """Return whether a program ends well."""
    ended = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
    )
    return ended.returncode == 0


def in_namespaces(attempt, flags=0x10000000 | 0x20000):
    """Return whether an attempt gets through for a root of namespaces of its own: these, users
    and mounts, every user may have."""
    reading, writing = os.pipe()
    uid, gid = os.getuid(), os.getgid()
    pid = os.fork()
    if pid == 0:
        try:
            done(LIBC.unshare(flags))
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"0 {uid} 1"),
                ("gid_map", f"0 {gid} 1"),
            ):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
            if attempt():
                os.write(writing, b"!")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        return pipe.read() == b"!"


def a_directory():
    """Return an empty directory of the workspace: nobody else's place, if a mount gets through."""
    return tempfile.mkdtemp(dir=HERE)
