"""Whatever a process of the run says, each line has one answer; a person's acts do not happen."""

import json
import os
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

import counted
from sandbox import Sandbox
from siding.broker import record as recording
from siding.broker.desk import DeskOfRun, PeerGone
from siding.broker.record import RequestRecord
from siding.broker.server import Broker, Conversation
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.running.hosting import host
from siding.running.request import RunRequest

from .inside import Line

LINES = 600 * int(os.environ.get("SIDING_FAULTS_TIMES", "1"))
SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
WORDS = [
    "ask",
    "note",
    "phase",
    "policy.check",
    "checkpoint",
    "status",
    "hello",
    "answer",
    "events2",
]
FIELDS = [
    *("do", "id", "version", "question", "session", "key", "wait", "timeout_s", "text"),
    *("command", "argv", "cwd", "move", "summary", "phase", "again", "message"),
]
TEXTS = [
    *("", "x", "\ud800", "\0", "../" * 30, "/etc/passwd", "é" * 200, "rm -rf /", "$(", "'" * 99),
    *("start", "next-step", "build", "gate:x:build:0", "a" * 5000, "2026-11-23T00-00-00"),
]


def anything(random: random.Random, depth: int = 0) -> object:
    """Return any JSON value."""
    kind = random.randrange(9 if depth < 3 else 6)
    if kind < 3:
        return random.choice(TEXTS)
    if kind == 3:
        return random.choice([0, -1, 1e308, 10**30, True, False, None, float("inf")])
    if kind == 4:
        return {"task": "t", "source": "s", "items": [{"id": 1, "title": "x", "kind": "text"}]}
    if kind == 5:
        return random.random()
    if kind < 8:
        return [anything(random, depth + 1) for _ in range(random.randrange(4))]
    return {random.choice(FIELDS): anything(random, depth + 1) for _ in range(random.randrange(4))}


def hostile(random: random.Random) -> bytes:
    """Return a line that is nearly a request, or nothing like one."""
    kind = random.randrange(10)
    if kind == 0:
        return random.randbytes(random.randrange(1, 300)).replace(b"\n", b" ")
    request = {random.choice(FIELDS): anything(random) for _ in range(random.randrange(6))}
    request = {"do": random.choice(WORDS), **request, "wait": False}
    data = json.dumps(request).encode()
    if kind == 1:
        at = random.randrange(len(data))
        data = data[:at] + random.randbytes(2).replace(b"\n", b" ") + data[at + 2 :]
    if kind == 2:
        data = data[: random.randrange(1, len(data))]
    return data


@pytest.fixture
def line(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """A conversation with a broker in this process, which answers as fast as it can."""
    monkeypatch.setattr(recording, "A_SECOND", 1e9)
    monkeypatch.setattr(recording, "AT_ONCE", 1e9)
    sandbox.siding("task", "start", "hostile")
    app = open_app(env=sandbox.env, cwd=sandbox.repo)
    project = require_project(app)
    hosted = host(project, RunRequest(argv=("sleep", "600")))
    began = hosted.began(60)
    of = DeskOfRun.of(app, began.task.id, began.run.id)
    record = RequestRecord(sandbox.directory / "requests", project.redaction, app.now)
    near, far = socket.socketpair()
    with socket.socket() as unused, near, far:
        broker = Broker(of, record, unused)

        def converse() -> None:
            with suppress(PeerGone, OSError):
                Conversation(broker, far).hold()

        thread = threading.Thread(target=converse)
        thread.start()
        yield Line(near)
        near.shutdown(socket.SHUT_RDWR)
        thread.join(60)
    hosted.cancel()
    hosted.wait(60)
    sandbox.siding("verify")


def test_each_line_has_one_answer(line: Line, sandbox: Sandbox) -> None:
    source = random.Random(SEED)
    before = sandbox.git("rev-parse", "HEAD")
    counted.add(LINES)
    for number in range(LINES):
        said = hostile(source)
        if not said.strip():
            continue
        line.say(said + b"\n")
        answer = line.answer()
        assert isinstance(answer["ok"], bool), said
        if not answer["ok"]:
            assert answer["error"]["code"] != "failed", (number, said, answer)
            assert answer["error"]["message"]
    assert sandbox.git("rev-parse", "HEAD") == before
    assert sandbox.git("status", "--porcelain") == ""
    assert not [each for each in sandbox.steps() if each["kind"] in ("apply", "rollback")]
    closed = sandbox.json("decide", "list", "--all", "--json")
    assert {each["state"] for each in closed} <= {"open"}
