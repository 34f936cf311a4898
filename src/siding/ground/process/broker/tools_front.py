"""Answer an agent that asks which tools there are, and start their server when one is used.

    python3 -S -E -I tools_front.py KNOWN VERSION -- SERVER [ARGUMENT ...]

The server of the tools loads a library for half a second, and an agent waits for it at each start,
whether or not it uses a tool. What an agent asks at its start has always the same answers: KNOWN
has them, as the server gives them (`tools/known_tools.py` writes it, and a test compares). Whatever
else comes starts the server. It is told all that was said before, and its answers to what is
answered already are left out; from then on every byte is passed on.

It speaks the Model Context Protocol over its standard streams: a JSON-RPC message a line. Of its
two eras the newer names the version of the protocol in each request, the older in the first one.
"""

import json
import os
import sys

TYPE_CHECKING = False  # `typing` takes as long to load as the rest
if TYPE_CHECKING:
    from typing import Any

_META = "io.modelcontextprotocol/"
_SUBSCRIPTION = f"{_META}subscriptionId"
_READ = 1 << 16


class Front:
    """Answers what is known; keeps what was said, for the server."""

    def __init__(self, known: str, version: str) -> None:
        self._known: dict[str, Any] = json.loads(known.replace("@VERSION@", version))
        self._old = ""  # the version of the older era, once it was agreed on
        self.said = b""
        self.answered: set[object] = set()  # the ids of requests that need no answer any more

    def answer(self, line: bytes) -> "bytes | None":
        """Return the answer to a line, b"" for none; None if the server has to be asked."""
        self.said += line
        try:
            message = json.loads(line)
            found = self._found(message)
        except (ValueError, TypeError, AttributeError, LookupError):
            return None
        if found is None or "id" not in message:
            return None if found is None else b""
        number = message["id"]
        if not isinstance(number, str | int):
            return None
        self.answered.add(number)
        if "notification" in found:
            text = json.dumps(found["notification"])
            told = json.loads(text.replace('"@ID@"', json.dumps(number)))
        else:
            told = {"jsonrpc": "2.0", "id": number, "result": found["result"]}
        return json.dumps(told).encode() + b"\n"

    def _found(self, message: "dict[str, Any]") -> "dict[str, Any] | None":
        method, params = message["method"], message.get("params") or {}
        meta = params.get("_meta") or {}
        new = meta.get(f"{_META}protocolVersion", "")
        if method == "initialize" and params.get("protocolVersion") in self._known["old versions"]:
            self._old = str(params["protocolVersion"])
            result = {**self._known["old"]["initialize"]["result"], "protocolVersion": self._old}
            return {"result": result}
        if not new and not self._old:
            return None
        if new and new != self._known["new version"]:
            return None
        found: dict[str, Any] | None = self._known["new" if new else "old"].get(method)
        return found


def main(words: "list[str]") -> int:
    """Answer until the client hangs up, or hand over to the server; return the exit status."""
    path, version, *server = words
    if server[:1] == ["--"]:
        server = server[1:]
    with open(path, encoding="utf-8") as file:
        front = Front(file.read(), version)
    rest = b""
    while os.path.exists(os.environ.get("SIDING_SOCKET", "")):
        data = os.read(0, _READ)
        if not data:
            return 0
        *lines, rest = (rest + data).split(b"\n")
        for at, line in enumerate(lines):
            told = front.answer(line + b"\n")
            if told is None:
                rest = b"\n".join([*lines[at + 1 :], rest])
                return _hand_over(server, front, rest)
            _write(1, told)
    return _hand_over(server, front, rest)  # it says what is wrong


def _hand_over(server: "list[str]", front: Front, rest: bytes) -> int:
    from subprocess import PIPE, Popen
    from threading import Thread

    with Popen(server, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told = process.stdin.fileno()
        _write(told, front.said + rest)
        Thread(target=_pass_on, args=(process.stdin,), daemon=True).start()
        for line in process.stdout:
            if not front.answered or not _is_answered(line, front.answered):
                _write(1, line)
        return process.wait()


def _pass_on(server: "object") -> None:
    """Pass on what the client says until it hangs up."""
    try:
        while data := os.read(0, _READ):
            _write(server.fileno(), data)  # type: ignore[attr-defined]
    except OSError:
        pass
    finally:
        try:
            server.close()  # type: ignore[attr-defined]
        except OSError:
            pass


def _is_answered(line: bytes, answered: "set[object]") -> bool:
    """Tell whether the client has this answer already; each is left out once."""
    try:
        message = json.loads(line)
        meta = (message.get("params") or {}).get("_meta") or {}
        number = message["id"] if "id" in message else meta[_SUBSCRIPTION]
        answered.remove(number)
    except (ValueError, TypeError, AttributeError, KeyError):
        return False
    return True


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
