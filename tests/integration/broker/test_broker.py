"""The broker of a run: what its processes may ask, from any sandbox, and what nobody may."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import SIDING, Sandbox, alive
from siding.ground.process.broker import client

from .inside import Foothold, Line, connected, foothold, until

QUESTION = {
    "task": "Log in",
    "source": "plan.md",
    "items": [
        {
            "id": 1,
            "title": "How?",
            "options": [{"value": "jwt", "label": "Tokens"}, {"value": "ses", "label": "Sessions"}],
        }
    ],
}
ENGINES = [
    "none",
    pytest.param("bwrap", marks=needs_bwrap),
    pytest.param(
        "landlock",
        marks=pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock"),
    ),
]


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    (sandbox.repo / ".siding").mkdir(exist_ok=True)
    gates = {"names": ["build", "finish"], "gates": {"build": ["test -e ready"]}}
    (sandbox.repo / ".siding" / "config.yaml").write_text(json.dumps({"phases": gates}))
    sandbox.git("add", ".siding")
    sandbox.git("commit", "-qm", "settings")
    sandbox.siding("task", "start", "asks")
    sandbox.siding("-q", "trust")
    return sandbox


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest, task: Sandbox, tmp_path: Path) -> Iterator[Foothold]:
    """A run in each kind of sandbox."""
    engine = request.param
    options = () if engine == "none" else ("--sandbox",)
    env = without_bwrap(tmp_path) if engine == "landlock" else None
    with foothold(task, *options, env=env) as found:
        yield found


@pytest.fixture
def plain(task: Sandbox) -> Iterator[Foothold]:
    with foothold(task) as found:
        yield found


def answered(task: Sandbox, session: str, value: str) -> None:
    task.siding("decide", "answer", session, "-c", f"1={value}")


def test_a_run_asks_and_is_told(run: Foothold) -> None:
    task, line = run.task, run.line()
    (task.directory / "siding" / "policy.yaml").write_text("version: 1\n")
    hello = line.result("hello")
    assert (hello["version"], hello["run"]) == (1, run.run)
    found = line.result("status")
    assert found["task"]["name"] == "asks"
    assert found["workspace"] == str(run.workspace)
    assert found["policy"] is True
    assert line.result("policy.check", command="git push --force")["runs"] is False
    assert line.result("policy.check", argv=["ls", "-l"])["runs"] is True
    assert line.result("phase", move="start", summary="begin", phase="build")["phase"] == "build"
    (run.workspace / "made").write_text("made\n")
    made = line.result("checkpoint", message="half way")
    assert made["files"] >= 1
    assert line.result("checkpoint")["step"] is None
    assert line.result("note", text="the parser is fine")["noted"] is True
    asked = line.result("ask", question=QUESTION, wait=False)
    assert asked["state"] == "open"
    waiting: list[dict[str, Any]] = []
    other = run.line()
    thread = threading.Thread(
        target=lambda: waiting.append(dict(other.result("ask", session=asked["session"])))
    )
    thread.start()
    answered(task, asked["session"], "jwt")
    thread.join(60)
    assert waiting[0]["output"]["decisions"] == [{"id": 1, "chosen": "jwt"}]
    # The run goes on to the next phase, past a gate that is a command.
    assert line.result("phase", move="next-part", summary="built", phase="finish")
    task.siding("stop", "--all")
    step = task.steps()[-1]
    shown = task.siding("show").stdout.decode()
    assert "the parser is fine" in shown
    assert "policy.check 2" in shown
    recorded = task.project / "tasks" / task.json("task", "show", "--format", "json")["id"]
    lines = [
        json.loads(each)
        for each in (recorded / step["artifacts"]["requests"]).read_text().splitlines()
    ]
    kinds = [each["do"] for each in lines if "do" in each]
    assert kinds.count("policy.check") == 2
    assert step["requests"]["number"] == len(kinds)
    task.siding("verify")


def test_the_verbs_work_inside(task: Sandbox, tmp_path: Path) -> None:
    """The same commands, with a sandbox and without, and what they print."""
    script = "\n".join(
        [
            "set -e",
            "siding status",
            "siding policy check -c 'git push --force' || echo refused $?",
            "siding note 'tried it'",
            "echo new >new; siding checkpoint -m one",
            "siding phase start build begin",
            f"siding decide '{json.dumps(QUESTION)}' --no-wait",
        ]
    )
    for options in ((), *([("--sandbox",)] if not _no_bwrap() else [])):
        done = task.siding("run", *options, "--", "sh", "-c", script, status=None)
        assert done.returncode == 0, done.stderr
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "asks" in out
        assert "refused 5" in out
        assert "no policy is switched on" in err
        assert "noted" in err
        assert "phase build, step 1" in err
        assert "siding decide answer" in err
        (session,) = [each for each in out.splitlines() if each.startswith("20")]
        answered(task, session, "ses")
        again = f"siding decide '{json.dumps(QUESTION)}'"
        done = task.siding("run", *options, "--", "sh", "-c", again)
        assert json.loads(done.stdout)["decisions"] == [{"id": 1, "chosen": "ses"}]
        # It was read, so the same words are a new question.
        done = task.siding("run", *options, "--", "sh", "-c", f"{again} --timeout 0.1", status=1)
        assert b"nobody has answered" in done.stderr
        task.siding("decide", "cancel", *_open(task))
        task.siding("rollback", "--base")


def _no_bwrap() -> bool:
    return bool(needs_bwrap.args[0])


def _open(task: Sandbox) -> list[str]:
    return [each["session_id"] for each in task.json("decide", "list", "--json")]


def test_nobody_else_may_ask(plain: Foothold) -> None:
    task = plain.task
    # A process of this user that is no part of the run.
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(plain.broker)
        outside = Line(connection)
        assert json.loads(outside.hear())["error"]["code"] == "not_of_this_run"
        assert outside.hear() == b""
    # A process of another run of the task.
    asks = [sys.executable, client.__file__, '{"do": "hello"}']
    words = ("env", f"SIDING_SOCKET={plain.broker}", *asks)
    done = task.siding("run", "--", *words, status=None)
    assert b"not_of_this_run" in done.stdout
    # The place is nobody else's.
    place = Path(plain.broker).parent
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(plain.broker).stat().st_mode) == 0o600
    assert plain.line().result("hello")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_another_user_may_not_ask(plain: Foothold) -> None:
    place = Path(plain.broker).parent
    place.chmod(0o755)  # as if it were open
    Path(plain.broker).chmod(0o666)
    source = (
        "import os,socket,sys; os.setuid(65534); s=socket.socket(socket.AF_UNIX);"
        "s.connect(sys.argv[1]); print(s.recv(4096))"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, plain.broker], capture_output=True, check=False
    )
    assert b"not_of_this_run" in done.stdout, done.stderr


def test_what_a_person_does_a_run_may_not(plain: Foothold) -> None:
    line = plain.line()
    for what in ("answer", "decide.answer", "apply", "rollback", "undo", "close", "stop", "trust"):
        assert line.refused(what) == "bad_request"
    assert line.refused("ask", question=QUESTION, key="gate:x:build:0") != "bad_request"
    plain.task.siding("decide", json.dumps(QUESTION), "--no-wait", cwd=plain.task.repo)
    (session,) = _open(plain.task)
    assert line.refused("ask", session=session) == "not_found"  # of no task, or another one's
    assert line.refused("ask", session="../../etc") == "not_found"


def test_a_gate_that_does_not_hold_says_why(plain: Foothold) -> None:
    line = plain.line()
    line.result("phase", move="start", summary="begin", phase="build")
    ready = plain.workspace / "ready"
    text = ready.read_text()
    ready.unlink()
    found = line.ask("phase", move="next-part", summary="built", phase="finish")
    assert found["error"]["code"] == "gate_closed"
    ready.write_text(text)
    assert line.result("phase", move="next-part", summary="built", phase="finish")


def test_a_question_outlives_the_broker_and_the_host(task: Sandbox) -> None:
    with foothold(task) as run:
        line = run.line()
        session = line.result("ask", question=QUESTION, wait=False)["session"]
        line.say(json.dumps({"do": "ask", "session": session}).encode() + b"\n")
        os.kill(brokers_of(run)[0], signal.SIGKILL)
        assert line.hear() == b""
        again = run.line()
        assert again.result("ask", question=QUESTION, wait=False)["session"] == session
        os.kill(run.record["host"]["pid"], signal.SIGKILL)
        until(lambda: again.hear() == b"")
        until(lambda: not alive(run.record["keeper"]["pid"]))
    answered(task, session, "ses")
    with foothold(task) as run:
        found = run.line().result("ask", question=QUESTION)
        assert (found["session"], found["output"]["decisions"][0]["chosen"]) == (session, "ses")
    cut_off = task.steps()[-2] if task.steps()[-1]["kind"] == "run" else task.steps()[-1]
    assert cut_off["run"] == "r1"
    assert cut_off["requests"]["number"] >= 2
    task.siding("verify")


READER = """
import json, os, select, socket, sys
there = socket.socket(socket.AF_UNIX)
there.connect(os.environ["SIDING_SOCKET"])
there.sendall(json.dumps({"do": "ask", "question": json.loads(sys.argv[1])}).encode() + b"\\n")
select.select([there], [], [])
if sys.argv[2] == "reads":
    answer = json.loads(there.makefile().readline())
    print(answer["result"]["found"], answer["result"]["session"])
there.close()
"""


def test_an_answer_that_nobody_read_waits(task: Sandbox) -> None:
    def ask(how: str) -> bytes:
        words = (sys.executable, "-c", READER, json.dumps(QUESTION), how)
        return task.siding("run", "--", *words).stdout

    task.siding("run", "--", "siding", "decide", json.dumps(QUESTION), "--no-wait")
    (session,) = _open(task)
    answered(task, session, "jwt")
    assert ask("hangs up") == b""
    assert ask("reads") == f"True {session}\n".encode()
    task.siding("run", "--", "siding", "decide", json.dumps(QUESTION), "--no-wait")
    assert _open(task) != [session], "it was read, so this is a new question"


def test_what_cannot_be_recorded_is_not_done_and_that_is_said(plain: Foothold) -> None:
    line = plain.line()
    assert line.result("note", text="first")
    (record,) = plain.task.project.glob("tasks/*/artifacts/*.requests")
    os.kill(brokers_of(plain)[0], signal.SIGKILL)
    line.hear()
    record.rename(record.with_suffix(".kept"))
    record.mkdir()  # what cannot be written to
    line = plain.line()
    found = line.ask("note", text="second")
    assert found["error"]["code"] == "not_a_regular_file"
    record.rmdir()
    record.with_suffix(".kept").rename(record)
    assert line.result("note", text="third")


def brokers_of(run: Foothold) -> list[int]:
    """Return the processes that answer for a run."""
    host = run.record["host"]["pid"]
    children = Path(f"/proc/{host}/task/{host}/children").read_text().split()
    return [
        int(each) for each in children if b"__broker" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]


def test_the_place_goes_with_the_run(task: Sandbox) -> None:
    with foothold(task) as run:
        place = Path(run.broker).parent
        assert run.line().result("hello")
        assert place.exists()
    assert not place.exists()
    with foothold(task) as run:
        place = Path(run.broker).parent
        os.kill(run.record["host"]["pid"], signal.SIGKILL)
        until(lambda: not alive(run.record["keeper"]["pid"]))
        task.siding("run", "--", "true")
        assert not place.exists()


def test_a_broker_that_nobody_needs_is_not_there(task: Sandbox) -> None:
    with foothold(task) as run:
        assert brokers_of(run) == []
        run.line().result("hello")
        assert len(brokers_of(run)) == 1


def test_the_run_hears_of_pauses_and_of_others(plain: Foothold) -> None:
    task, line = plain.task, plain.line()
    line.result("checkpoint", message="before")
    line.say(b'{"do": "events", "id": "e"}\n')
    assert line.answer()["event"]["event"] == "listening"
    (plain.workspace / "unwanted").write_text("x\n")
    task.siding("rollback", "--base")
    seen: list[dict[str, Any]] = []
    while not any(each.get("moved") for each in seen) or _count(seen, "paused") != _count(
        seen, "resumed"
    ):
        found = line.answer()
        assert found["id"] == "e"
        seen.append(found["event"])
    (moved,) = [each for each in seen if each.get("moved")]
    assert moved["kind"] == "rollback"
    assert _count(seen, "paused") == 1


def _count(events: list[dict[str, Any]], name: str) -> int:
    return sum(1 for each in events if each["event"] == name)


def test_one_run_cannot_ask_without_end(plain: Foothold) -> None:
    lines = [plain.line() for _ in range(40)]
    told = []
    for each in lines:
        each.say(b'{"do": "hello"}\n')
        told.append(each.answer())
    refused = [each["error"]["code"] for each in told if not each["ok"]]
    assert refused == ["too_much"] * 8
    for each in lines:
        each.close()
    until(plain.can_ask)
    line = plain.line()
    line.say(b'{"do": "hello"}\n' * 1000)
    codes = [line.answer() for _ in range(1000)]
    assert any(not each["ok"] and each["error"]["code"] == "too_much" for each in codes)
    line.say(b"x" * (1 << 20) + b"yy\n")
    while heard := line.hear():
        last = json.loads(heard)
    assert last["error"]["code"] == "bad_request"
    until(plain.can_ask)


def test_a_thousand_connections_harm_nobody(plain: Foothold) -> None:
    held = [connected(plain.workspace / "foothold") for _ in range(1000)]
    for each in held:
        each.close()
    until(plain.can_ask)


HOSTILE = [
    b"\x00\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b'"do"',
    b'{"do": null}',
    b'{"do": {"do": 1}}',
    b'{"do": "ask"}',
    b'{"do": "ask", "question": {}}',
    b'{"do": "ask", "question": {"task": "\\ud800", "source": "\\u0000", "items": []}}',
    b'{"do": "ask", "session": "../../../etc/passwd"}',
    b'{"do": "ask", "session": "\\ud800"}',
    b'{"do": "note", "text": "\\ud800\\udfff\\u0000"}',
    b'{"do": "note", "text": 7}',
    b'{"do": "phase", "move": "start", "summary": "s", "phase": "../x"}',
    b'{"do": "phase", "move": "__class__", "summary": "s"}',
    b'{"do": "policy.check", "argv": []}',
    b'{"do": "policy.check", "argv": ["\\u0000"]}',
    b'{"do": "policy.check", "command": "\\ud800", "cwd": "/\\u0000"}',
    b'{"do": "policy.check", "command": "' + b"(" * 5000 + b'"}',
    b'{"do": "checkpoint", "message": ["x"]}',
    b'{"do": "hello", "id": {"a": 1}}',
    b'{"do": "hello", "version": 99}',
    b'{"do": "hello", "id": 1e999}',
    b"[" * 100_000,
    b'{"a":' * 20_000,
    b'{"do": "' + b"x" * 100_000 + b'"}',
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: each[:40].decode("latin-1"))
def test_hostile_lines_have_one_answer_each(shared: Foothold, hostile: bytes) -> None:
    line = shared.line()
    line.say(hostile + b'\n{"do": "hello", "id": "after"}\n')
    line.answer()
    after = line.answer()
    assert (after["ok"], after["id"]) == (True, "after")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foothold]:
    sandbox = Sandbox(tmp_path_factory.mktemp("broker"))
    sandbox.siding("task", "start", "hostile")
    with foothold(sandbox) as found:
        yield found
        sandbox.siding("verify")


def test_without_a_broker_the_verbs_work_as_outside(task: Sandbox) -> None:
    words = ("env", f"SIDING_SOCKET={task.directory / 'gone'}", *SIDING)
    done = task.siding("run", "--", *words, "checkpoint", "-m", "without")
    assert b"without" in done.stderr
    done = task.siding("run", "--", *words, "note", "text", status=2)
    assert b"its broker cannot be reached" in done.stderr


def test_a_command_that_is_sent_elsewhere_is_about_what_is_there(task: Sandbox) -> None:
    task.siding("task", "start", "other")
    task.siding("switch", "asks", status=None)
    done = task.siding("run", "-t", "asks", "--", *SIDING, "checkpoint", "-t", "other", "-m", "x")
    assert b"other" in done.stderr
    assert task.steps("other")[-1]["message"] == "x"


def test_a_run_reads_the_steps_of_its_own_task(plain: Foothold) -> None:
    line = plain.line()
    (plain.workspace / "made").write_text("made\n")
    made = line.result("checkpoint", message="half way")
    found = line.result("steps", limit=1)["steps"]
    assert (found[0]["message"], found[0]["files"]) == ("half way", made["files"])
    patch = line.result("patch", step=found[0]["step"])
    assert "+made\n" in patch["patch"]
    assert patch["cut"] is False
    assert line.ask("patch", step=99)["ok"] is False
    assert line.ask("patch")["error"]["code"] == "bad_request"
    assert line.ask("steps", limit=True)["error"]["code"] == "bad_request"
