"""The server: it answers from a script, in one wire, and keeps what it was sent."""

import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol

from wires.answers import Answer, Refusal, Reply, Silence


class Seen(NamedTuple):
    """A request that came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Wire(Protocol):
    """How one provider says things. (The modules beside this one.)"""

    ping: bytes

    def events(self, reply: Reply, model: str) -> Sequence[bytes]: ...

    def whole(self, reply: Reply, model: str) -> Mapping[str, Any]: ...

    def error_event(self, error: Mapping[str, Any]) -> bytes: ...

    def is_streamed(self, seen: Seen) -> bool: ...


def sse(data: Any, event: str = "") -> bytes:
    """Return an event of a stream; `data` is JSON, or a text that is sent as it is."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


class Server:
    """Answers what `script` has next."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.script: list[Answer] = []
        self.requests: list[Seen] = []
        self.hung_up = threading.Event()  # a client went away before its answer was whole
        outer = self

        class Handler(_Handler):
            server_of_models = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # The default looks every half second whether to end; tests end often.
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def last(self) -> Seen:
        return self.requests[-1]

    def answers(self, *script: Answer) -> None:
        """Begin anew, with a script."""
        self.script = [*script]
        self.requests.clear()
        self.hung_up.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of_models: Server

    def do_POST(self) -> None:
        ours = self.server_of_models
        size = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(size))
        headers = {key.lower(): value for key, value in self.headers.items()}
        seen = Seen(self.path, headers, body)
        ours.requests.append(seen)
        answer = ours.script.pop(0) if ours.script else Refusal(500, "nothing is left to say")
        model = str(body.get("model", "a-model"))
        if isinstance(answer, Silence):
            self._wait_until_gone()
        elif isinstance(answer, Refusal):
            self._plain(answer.body, answer.status, answer.headers)
        elif ours.wire.is_streamed(seen):
            try:
                self._stream(answer, ours.wire.events(answer, model))
            except OSError:
                ours.hung_up.set()
                self.close_connection = True
        else:
            self._plain(ours.wire.whole(answer, model))

    def _plain(self, body: Any, status: int = 200, headers: Mapping[str, str] = {}) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        kind = "text/plain" if isinstance(body, str) else "application/json"
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: Reply, events: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events):
            if number == reply.at and self._is_ended(reply):
                return
            if reply.pause_s:
                self._chunk(self.server_of_models.wire.ping)
                time.sleep(reply.pause_s)
            self._chunk(event)
        self._chunk(b"")

    def _is_ended(self, reply: Reply) -> bool:
        """Do what happens in the middle; tell whether nothing more is said."""
        if reply.garbage:
            self._chunk(reply.garbage)
        if reply.error is not None:
            self._chunk(self.server_of_models.wire.error_event(reply.error))
        if reply.error is not None or reply.ends:
            self._chunk(b"")
            return True
        if reply.cut:
            self.close_connection = True
            return True
        if reply.holds:
            self._wait_until_gone()
            return True
        return False

    def _chunk(self, data: bytes) -> None:
        if data or not self.wfile.closed:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

    def _wait_until_gone(self) -> None:
        with suppress(OSError):
            while self.connection.recv(1024):
                pass
        self.server_of_models.hung_up.set()
        self.close_connection = True

    def log_message(self, *_words: object) -> None:
        pass
