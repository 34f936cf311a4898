"""Take variables of the environment from a pipe, then become the command.

bwrap stays the first process of its sandbox, and everybody inside can read the environment that it
was started with. So what the command alone is to have comes through a pipe, which is empty once it
was read.

It is started by the interpreter alone (`-S -E -I`) and imports what that has built in:
``handing_in.py DESCRIPTOR -- PROGRAM ARGUMENT...``. On the pipe are entries ``NAME=VALUE``, each
with a zero byte behind it.
"""

import os
import sys

_ENOEXEC = 8
_PART = 1 << 16


def variables_from(fd: int) -> "dict[bytes, bytes]":
    """Read all entries from a pipe and close it."""
    data = b""
    while part := os.read(fd, _PART):
        data += part
    os.close(fd)
    entries = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
    return {name: value for name, _equals, value in entries}


def main(words: "list[str]") -> int:
    """Take them, and become the command; return an exit status if that cannot be."""
    env = {**os.environb, **variables_from(int(words[0]))}
    command = words[2:]
    try:
        os.execve(command[0], command, env)
    except OSError as error:
        if error.errno == _ENOEXEC:  # a script without a first line that says so
            os.execve("/bin/sh", ["sh", *command], env)
        sys.stderr.write(f"siding: {command[0]!r} cannot be started: {error.strerror}\n")
    return 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
