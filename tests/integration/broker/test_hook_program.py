"""The program that agents start: what it does when its broker does not answer as a broker does."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import siding
from siding.ground.process.broker import client

PROGRAM = Path(client.__file__).with_name("hook.py")
EARLIER = Path(siding.__file__).parent / "process/broker"
WORDS = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
DENIED = json.dumps({"ok": True, "result": {"output": "no", "status": 0}}).encode() + b"\n"
ANSWERS = {
    "nothing": b"",
    "half a line": DENIED[:20],
    "no JSON": b"yes, go on\n",
    "another kind": b"[]\n",
    "a refusal": b'{"ok": false, "error": {"code": "failed", "message": "m"}}\n',
    "no result": b'{"ok": true}\n',
    "no text": b'{"ok": true, "result": {"output": null, "status": 0}}\n',
    "no number": b'{"ok": true, "result": {"output": "", "status": "x"}}\n',
}


class Twin:
    """A broker that answers each connection with the same bytes, and hangs up."""

    def __init__(self, path: Path, answer: bytes) -> None:
        self.asked: list[bytes] = []
        self.ends_after = sys.maxsize  # answers
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _address = self._socket.accept()
                with peer, peer.makefile("rb") as lines:
                    self.asked.append(lines.readline())
                    if len(self.asked) == self.ends_after:
                        self._socket.close()
                    peer.sendall(self._answer)

    def close(self) -> None:
        self._socket.close()


def hook(path: Path, *more: str, said: bytes = json.dumps(WORDS).encode()) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-I", str(PROGRAM), "claude", *more],
        env={client.VARIABLE: str(path)},
        input=said,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def path() -> Iterator[Path]:
    found = Path(f"/tmp/siding-hook-{os.getpid()}.s")  # workers run cases side by side
    found.unlink(missing_ok=True)
    yield found
    found.unlink(missing_ok=True)


def test_it_prints_what_the_broker_has_for_the_agent(path: Path) -> None:
    twin = Twin(path, DENIED)
    assert hook(path, "--closed") == (0, "no", "")
    (line,) = twin.asked
    assert json.loads(line) == {"do": "report", "agent": "claude", "payload": WORDS}
    twin.close()


def test_agents_that_run_since_before_an_update_find_it(path: Path) -> None:
    Twin(path, DENIED)
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-I", str(EARLIER / "hook.py"), "claude", "--closed"],
        env={client.VARIABLE: str(path)},
        input=json.dumps(WORDS).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"no")
    moved = {each.name for each in EARLIER.glob("*.py")}
    assert moved == {"client.py", "hook.py", "integrated.py", "tools_front.py"}
    assert all(Path(client.__file__).with_name(name).is_file() for name in moved)


def test_whole_files_are_not_sent(path: Path) -> None:
    """A broker takes no request of more than 1 MiB."""
    long = "x" * (3 << 20)
    given = {
        "file_path": "a",
        "content": long,
        "edits": [{"new_string": long}],
        "replace_all": True,
    }
    words = {"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": given}
    twin = Twin(path, DENIED)
    said = {**words, "tool_response": {"originalFile": long}}
    assert hook(path, "--closed", said=json.dumps(said).encode())[:2] == (0, "no")
    patch = {**words, "tool_input": {"command": long}}
    assert hook(path, "--closed", said=json.dumps(patch).encode())[:2] == (0, "no")
    first, second = (json.loads(line)["payload"] for line in twin.asked)
    assert {**first, "tool_input": None} == {**words, "tool_input": None}
    kept = first["tool_input"]
    assert (kept["file_path"], kept["replace_all"]) == ("a", True)
    assert len(json.dumps(kept)) < 100_000
    assert long.startswith(kept["content"] or "nothing")
    assert second == patch, "a command is judged whole, or not at all"
    twin.close()


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_whatever_is_no_answer_lets_the_agent_go_on_or_not_at_all(
    path: Path, answer: bytes
) -> None:
    twin = Twin(path, answer)
    assert hook(path) == (0, "", "")
    status, said, why = hook(path, "--closed")
    assert (status, said) == (2, "")
    assert "Siding did not answer" in why
    twin.close()


def test_where_nobody_listens(path: Path) -> None:
    assert hook(path) == (0, "", "")
    assert hook(path, "--closed")[0] == 2


@pytest.mark.parametrize("said", [b"", b"{", b"\xff\xfe", b"null", b"[1]"])
def test_words_of_an_agent_that_are_none(path: Path, said: bytes) -> None:
    """An agent that says nothing that can be read is not judged: nothing runs if it has to be."""
    refusal = b'{"ok": false, "error": {"code": "bad_request", "message": "m"}}\n'
    twin = Twin(path, refusal)
    assert hook(path, said=said) == (0, "", "")
    assert hook(path, "--closed", said=said)[0] == 2
    twin.close()


class Silent:
    """A broker that reads what it is asked, and lets whoever asks wait."""

    def __init__(self, path: Path) -> None:
        self.asked = threading.Event()
        self._peers: list[socket.socket] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _address = self._socket.accept()
                self._peers.append(peer)
                peer.recv(65536)
                self.asked.set()

    def say(self, data: bytes) -> None:
        self._peers[-1].sendall(data)

    def close(self) -> None:
        self._socket.close()
        for peer in self._peers:
            peer.close()


OVER = b'{"ok": false, "error": {"code": "run_over", "message": "the run has ended"}}\n'


@pytest.mark.parametrize("way", ["TERM", "HUP", "INT", "reader", "over", "gone"])
def test_who_waits_for_a_person_is_refused_when_that_ends(path: Path, way: str) -> None:
    """An agent takes a hook that a signal has ended for one that has no objection."""
    broker = Silent(path)
    words = [sys.executable, "-S", "-E", "-I", str(PROGRAM), "claude", "--judges"]
    with subprocess.Popen(
        words,
        env={client.VARIABLE: str(path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as waiting:
        assert waiting.stdin
        assert waiting.stdout
        assert waiting.stderr
        waiting.stdin.write(json.dumps(WORDS).encode())
        waiting.stdin.close()
        assert broker.asked.wait(30)
        if way == "reader":
            waiting.stdout.close()
        elif way == "over":
            broker.say(OVER)
        elif way == "gone":
            time.sleep(0.6)
            path.unlink()
            broker.close()
        else:
            waiting.send_signal(signal.Signals[f"SIG{way}"])
        assert waiting.wait(30) == 2
        assert b"not done" in waiting.stderr.read()
    broker.close()


def test_it_refuses_also_if_nobody_reads_why_and_nobody_was_waited_for_long(path: Path) -> None:
    """A host that is killed takes its broker along, and who read the output of the run."""
    twin = Twin(path, b"")
    unread, ours = os.pipe()
    os.close(unread)
    twin.ends_after = 1
    with os.fdopen(ours, "wb") as nobody_reads:
        done = subprocess.run(
            [sys.executable, "-S", "-E", "-I", str(PROGRAM), "claude", "--judges"],
            env={client.VARIABLE: str(path)},
            input=json.dumps(WORDS).encode(),
            stdout=subprocess.PIPE,
            stderr=nobody_reads,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(twin.asked) == 1


def test_who_only_reports_is_ended_as_any_program(path: Path) -> None:
    """The status 2 of such a hook would have the agent go on."""
    broker = Silent(path)
    words = [sys.executable, "-S", "-E", "-I", str(PROGRAM), "claude"]
    said = json.dumps({"hook_event_name": "Stop"}).encode()
    with subprocess.Popen(
        words, env={client.VARIABLE: str(path)}, stdin=subprocess.PIPE
    ) as reporting:
        assert reporting.stdin
        reporting.stdin.write(said)
        reporting.stdin.close()
        assert broker.asked.wait(30)
        reporting.terminate()
        assert reporting.wait(30) == -signal.SIGTERM
    broker.close()
