"""Ask the broker of a run. Nothing but the interpreter is needed, so this starts in its time.

    python3 -S -E -I client.py '{"do": "status"}'    one request; the answer is printed
    … | python3 -S -E -I client.py                   a request on each line of standard input

The exit status is 0 if all went well, 1 if the broker refused, 2 if there is no broker. As a
module, `ask_line` sends one line and returns the other. `_socket` is what `socket` is built on; the
latter takes as long to load as the rest of the interpreter.
"""

import sys
from _socket import AF_UNIX, SOCK_STREAM, socket

VARIABLE = "SIDING_SOCKET"
_LONGEST = 4 << 20  # bytes of an answer
_READ = 64 << 10


class NoBroker(OSError):
    """Nobody answers at the socket."""


def connect(path: str, timeout_s: float | None = None) -> socket:
    """Return a connection to the broker whose socket is at `path`. Raises OSError."""
    connected = socket(AF_UNIX, SOCK_STREAM)
    try:
        connected.connect(path)
        connected.settimeout(timeout_s)
    except BaseException:
        connected.close()
        raise
    return connected


def ask_line(connection: socket, line: bytes) -> bytes:
    """Send one request without its newline; return the answer without its own. Raises NoBroker."""
    send(connection, line)
    return received_line(connection)


def received_line(connection: socket) -> bytes:
    """Return the answer without its newline. Raises NoBroker."""
    answer = bytearray()
    while not answer.endswith(b"\n"):
        piece = connection.recv(_READ)
        if not piece or len(answer) > _LONGEST:
            raise NoBroker("the broker went away before it answered")
        answer += piece
    return bytes(answer[:-1])


def send(connection: socket, line: bytes) -> None:
    """Send one request. What the broker says before it hangs up can still be read."""
    try:
        connection.sendall(line.replace(b"\n", b" ") + b"\n")
    except (BrokenPipeError, ConnectionResetError):
        pass  # it refused without reading: its reason is in what it sent


def main(words: list[str]) -> int:
    """Put the requests of a command line, or of standard input."""
    import posix  # `os` without what is built on it

    path = posix.environ.get(VARIABLE.encode(), b"").decode("utf-8", "surrogateescape")
    try:
        connection = connect(path)
    except OSError as error:
        reason = error.strerror or str(error)
        sys.stderr.write(f"siding: no broker at {path or 'no socket'}: {reason}\n")
        return 2
    lines = [word.encode() for word in words] or sys.stdin.buffer
    refused = False
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = ask_line(connection, line.strip())
        except OSError as error:
            sys.stderr.write(f"siding: {error}\n")
            return 2
        refused = refused or b'"ok": false' in answer[:200]
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
