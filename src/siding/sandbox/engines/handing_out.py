"""Hand listeners out of a sandbox, then become its command.

A sandbox with a network of its own is reached by nobody, and reaches nobody. This small program is
the first in it: it listens on ports of the sandbox's loopback, gives the listening sockets away
over a Unix socket, and execs the command. Who has got them outside accepts what connects inside. So
nothing stands between them inside, and nothing of ours lives there.

It is started by the interpreter alone (`-S -E -I`) and imports what that has built in:
``handing_out.py SOCKET PORT... -- PROGRAM ARGUMENT...``
"""

import os
import sys
from _socket import AF_INET, AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

_ENOEXEC = 8
_BACKLOG = 128


def hand_out(path: str, ports: list[int]) -> None:
    """Listen on the ports of loopback, and give the sockets to who listens at `path`."""
    listeners = []
    for port in ports:
        listener = socket(AF_INET, SOCK_STREAM)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
        listeners.append(listener)
    fds = b"".join(each.fileno().to_bytes(4, sys.byteorder) for each in listeners)
    taker = socket(AF_UNIX, SOCK_STREAM)
    taker.connect(path)
    taker.sendmsg([b"."], [(SOL_SOCKET, SCM_RIGHTS, fds)])
    for each in (taker, *listeners):
        each.close()


def main(words: list[str]) -> int:
    """Hand out, and become the command; return an exit status if that cannot be."""
    path, rest = words[0], words[1:]
    end = rest.index("--")
    try:
        hand_out(path, list(map(int, rest[:end])))
    except OSError as error:
        sys.stderr.write(f"siding: the way to the allowed hosts cannot be opened: {error}\n")
        return 125
    command = rest[end + 1 :]
    try:
        os.execv(command[0], command)
    except OSError as error:
        if error.errno == _ENOEXEC:  # a script without a first line that says so
            os.execv("/bin/sh", ["sh", *command])
        sys.stderr.write(f"siding: {command[0]!r} cannot be started: {error.strerror}\n")
    return 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
