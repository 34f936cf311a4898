"""A program `siding` for shells and clients: it has the process that forks commands run this one.

A shell line of a session starts it in place of the product's own script. It loads nothing but what
is built into Python, so it costs a tenth of loading Siding. The command gets the line's streams,
directory and environment. It is not the shell's child: where a signal or the process matters, a
line starts the product itself.
"""

import sys
from pathlib import Path

import forked

_PROGRAM = """#!{python} -IS
import _socket, marshal, os, sys
umask = os.umask(0)
os.umask(umask)
request = ([*{words!r}, *sys.argv[1:]], dict(os.environ), os.getcwd(), umask, None, "", "", b"")
data = marshal.dumps(request)
connection = _socket.socket(_socket.AF_UNIX)
connection.connect({address!r})
streams = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2))
head = len(data).to_bytes(8, "big")
connection.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
connection.sendall(data)
answer = connection.recv(1024)
if not answer:
    sys.exit("the process that forks commands is gone")
status = marshal.loads(answer)[0]
os._exit(status if status >= 0 else 128 - status)
"""


def put_program(directory: Path, name: str = "siding", *words: str) -> Path:
    """Write the program into a directory for PATH, and return it; its words come after these."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / name
    text = _PROGRAM.format(python=sys.executable, address=forked.start(), words=words)
    program.write_text(text)
    program.chmod(0o755)
    return program
