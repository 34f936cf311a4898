"""Answer requests on loopback: the model's server of the figure `wire`.

``python -m benchmarks.wire_worker`` prints its port. `/answer` gets one object, `/stream/N` so many
events of a stream, with the words of the Messages API.
"""

import socket
import threading
from io import BufferedReader

OBJECT = (
    b'{"type": "message", "model": "m", "content": [{"type": "text", "text": "%s"}], '
    b'"usage": {"input_tokens": 9, "output_tokens": 9}}' % (b"word " * 100)
)
EVENT = (
    b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, '
    b'"delta": {"type": "text_delta", "text": "a few words of it, "}}\n\n'
)
LAST = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
_AT_ONCE = 20  # events that are in one piece


def head_of(file: BufferedReader) -> tuple[bytes, int]:
    """Read the head of a request or an answer; return its first line and the body's length."""
    line, length = file.readline(), 0
    while (header := file.readline()) not in (b"\r\n", b""):
        if header.lower().startswith(b"content-length:"):
            length = int(header.split(b":")[1])
    return line, length


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _serve(peer: socket.socket) -> None:
    with peer, peer.makefile("rb") as file:
        while True:
            line, length = head_of(file)
            if not line:
                return
            file.read(length)
            path = line.split()[1]
            if path == b"/answer":
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                peer.sendall(head + b"Content-Length: %d\r\n\r\n" % len(OBJECT) + OBJECT)
            else:
                _stream(peer, int(path.rpartition(b"/")[2]))


def _stream(peer: socket.socket, events: int) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    peer.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
    piece = chunk(EVENT * _AT_ONCE)
    for _ in range(events // _AT_ONCE):
        peer.sendall(piece)
    peer.sendall(chunk(LAST) + b"0\r\n\r\n")


def main() -> None:
    """Serve until somebody ends this process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            peer, _address = listener.accept()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_serve, args=(peer,), daemon=True).start()


if __name__ == "__main__":
    main()
