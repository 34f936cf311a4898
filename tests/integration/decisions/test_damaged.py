"""A question whose file is damaged is shown as one, and there is a way out."""

import json
from pathlib import Path

import pytest

from sandbox import Sandbox

QUESTION = json.dumps(
    {"task": "t", "source": "s", "items": [{"id": 1, "title": "t", "kind": "text"}]}
)


@pytest.fixture
def asked(sandbox: Sandbox) -> tuple[Sandbox, str]:
    sandbox.siding("init")
    session = sandbox.siding("-q", "decide", QUESTION, "--no-wait").stdout.decode().strip()
    return sandbox, session


def decisions(sandbox: Sandbox) -> Path:
    return sandbox.project / "decisions"


def check_shown(sandbox: Sandbox, session: str, file: Path) -> None:
    listed = sandbox.siding("decide", "list")
    assert b"no decision waits" not in listed.stderr
    for part in (session, str(file), "damaged"):
        assert part in listed.stdout.decode()
    assert b"siding doctor" in listed.stderr
    (record,) = sandbox.json("decide", "list", "--json")
    assert (record["session_id"], record["state"], record["file"]) == (
        session,
        "damaged",
        str(file),
    )
    (entry,) = [each for each in sandbox.json("inbox", "--json") if session in each["title"]]
    assert entry["command"] == "siding doctor"


def test_a_damaged_record_hides_no_open_question(asked: tuple[Sandbox, str]) -> None:
    sandbox, session = asked
    record = decisions(sandbox) / f"{session}.json"
    record.write_bytes(b'{"input": ')
    check_shown(sandbox, session, record)
    assert b"the question is open again" in sandbox.siding("doctor").stdout
    (kept,) = decisions(sandbox).glob(f"{session}.json.damaged-*")
    assert kept.read_bytes() == b'{"input": '
    sandbox.siding("decide", "answer", session, "--set", "1=yes", status=None)
    (record_now,) = sandbox.json("decide", "list", "--all", "--json")
    assert record_now["session_id"] == session
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"


def test_a_damaged_question_is_set_aside(asked: tuple[Sandbox, str]) -> None:
    sandbox, session = asked
    file = decisions(sandbox) / "open" / f"{session}.json"
    (decisions(sandbox) / "pending.json").unlink()
    file.write_bytes(b"[]")
    check_shown(sandbox, session, file)
    sandbox.siding("doctor")
    assert [each.read_bytes() for each in file.parent.glob("*.damaged-*")] == [b"[]"]
    again = sandbox.siding("-q", "decide", QUESTION, "--no-wait").stdout.decode().strip()
    assert [each["session_id"] for each in sandbox.json("decide", "list", "--json")] == [again]


def test_the_newest_question_is_read_from_its_second_copy(asked: tuple[Sandbox, str]) -> None:
    sandbox, session = asked
    (decisions(sandbox) / "open" / f"{session}.json").write_bytes(b"")
    (record,) = sandbox.json("decide", "list", "--json")
    assert (record["session_id"], record["state"]) == (session, "open")


def test_a_damaged_newest_slot_is_said(asked: tuple[Sandbox, str]) -> None:
    sandbox, session = asked
    pending = decisions(sandbox) / "pending.json"
    pending.write_bytes(b"{")
    listed = sandbox.siding("decide", "list")
    assert session.encode() in listed.stdout
    assert b"pending.json" in listed.stderr
    sandbox.siding("doctor")
    assert b"pending.json" not in sandbox.siding("decide", "list").stderr
    assert [each["session_id"] for each in sandbox.json("decide", "list", "--json")] == [session]
