"""The server's end of a WebSocket, for the tests' model server."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from typing import Any

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE = 1, 8


def accepted(key: str) -> str:
    """Return what a server answers to the key of a client."""
    return base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()


def frame(payload: bytes, first: int = 0x80 | _TEXT) -> bytes:
    """Return a frame as a server sends it; `first` is its first byte."""
    size = len(payload)
    if size < 126:
        return bytes([first, size]) + payload
    if size < 1 << 16:
        return bytes([first, 126]) + size.to_bytes(2, "big") + payload
    return bytes([first, 127]) + size.to_bytes(8, "big") + payload


def masked(payload: bytes, first: int = 0x80 | _TEXT, mask: bytes = b"mask") -> bytes:
    """Return a frame as a client sends it."""
    head = bytearray(frame(payload, first)[: -len(payload) or None])
    head[1] |= 0x80
    return bytes(head) + mask + bytes(each ^ mask[at % 4] for at, each in enumerate(payload))


def talk(handler: BaseHTTPRequestHandler, answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answer one message of a client after the other, each with the events of a stream."""
    handler.send_response(101)
    handler.send_header("upgrade", "websocket")
    handler.send_header("connection", "upgrade")
    handler.send_header("sec-websocket-accept", accepted(handler.headers["sec-websocket-key"]))
    handler.end_headers()
    while (body := _asked(handler.rfile)) is not None:
        _say(handler.wfile, answer(body))
    handler.close_connection = True


def _asked(file: BufferedIOBase) -> dict[str, Any] | None:
    """Read the client's next message; None when it has hung up."""
    message = b""
    while True:
        head = file.read(2)
        if len(head) < 2 or head[0] & 0x0F == _CLOSE:
            return None
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(file.read(2 if size == 126 else 8), "big")
        mask = file.read(4)
        payload = bytes(each ^ mask[at % 4] for at, each in enumerate(file.read(size)))
        if head[0] & 0x0F > _CLOSE:
            continue  # a ping
        message += payload
        if head[0] & 0x80:
            found = json.loads(message)
            assert isinstance(found, dict)
            return found


def _say(file: BufferedIOBase, events: Iterable[Mapping[str, Any]]) -> None:
    """Send events, each as a message."""
    for event in events:
        file.write(frame(json.dumps(event).encode()))
        file.flush()
