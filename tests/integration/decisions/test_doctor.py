"""Doctor and completion know of decisions and phases."""

import json

from sandbox import Sandbox

QUESTION = json.dumps(
    {"task": "t", "source": "s", "items": [{"id": 1, "title": "t", "kind": "text"}]}
)


def test_doctor_names_what_cannot_be_read(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")
    session = sandbox.siding("-q", "decide", QUESTION, "--no-wait").stdout.decode().strip()
    assert sandbox.siding("doctor", "--check").stdout == b"everything agrees\n"
    (sandbox.project / f"decisions/open/{session}.json").write_text("{")
    (sandbox.project / "decisions/pending.json").unlink()  # it has the question as well
    (status,) = sandbox.project.glob("tasks/*/flow-status.json")
    status.write_text("[]")
    said = sandbox.siding("doctor", "--check", status=1).stdout.decode()
    assert f"{session}.json" in said
    assert "flow-status.json" in said
    assert "phase start PHASE SUMMARY --again" in said
    listed = sandbox.siding("decide", "list")
    assert b"is damaged" in listed.stderr
    assert b"is damaged" in sandbox.siding("inbox").stderr
    assert b"is damaged" in sandbox.siding("phase", "list").stderr


def test_a_damaged_intent_is_named_and_stops_no_run(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")
    (status,) = sandbox.project.glob("tasks/*/flow-status.json")
    status.with_name("phase-intent.json").write_text("{")
    assert b"phase-intent.json" in sandbox.siding("doctor", status=1).stdout
    done = sandbox.siding("phase", "next-step", "x", status=1)
    assert b"phase-intent.json" in done.stderr
    sandbox.siding("run", "--no-tty", "--", "true")


def test_open_sessions_are_completed(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    session = sandbox.siding("-q", "decide", QUESTION, "--no-wait").stdout.decode().strip()
    offered = f"{session}\tt\n"
    assert sandbox.siding("__complete", "decide", "answer", "").stdout.decode() == offered
    sandbox.siding("decide", "cancel", session)
    assert sandbox.siding("__complete", "decide", "answer", "").stdout == b""
    assert sandbox.siding("__complete", "decide", "result", "").stdout.decode() == offered
