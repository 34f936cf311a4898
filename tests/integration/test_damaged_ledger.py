"""Lines of a ledger that cannot be read are said, never passed over; no step id is used twice."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import Sandbox


def _worked(sandbox: Sandbox) -> None:
    """A task of three steps."""
    sandbox.siding("-q", "task", "start", "x")
    for name in ("one", "two", "three"):
        sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", f"echo {name} >{name}.txt")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def ledger(sandbox: Sandbox) -> Path:
    (task,) = (sandbox.project / "tasks").iterdir()
    return task / "ledger.jsonl"


def change_line(sandbox: Sandbox, number: int, change: Callable[[bytes], bytes]) -> None:
    lines = ledger(sandbox).read_bytes().splitlines(keepends=True)
    lines[number - 1] = change(lines[number - 1])
    ledger(sandbox).write_bytes(b"".join(lines))


def garbage(line: bytes) -> bytes:
    return b"\xff\xfe not a step " + line[60:90] + b"\n"


def cut(line: bytes) -> bytes:
    return line[:60] + b"\n"


def flip(line: bytes) -> bytes:
    return line[:20] + b"\xff" + line[21:]


@pytest.mark.parametrize("harm", [garbage, cut, flip])
def test_a_damaged_line_is_said(worked: Sandbox, harm: Callable[[bytes], bytes]) -> None:
    change_line(worked, 2, harm)
    logged = worked.siding("log", status=1)
    assert b"line 2 of ledger.jsonl is damaged" in logged.stderr
    assert b"0001" in logged.stdout
    assert b"0003" in logged.stdout
    listed = json.loads(worked.siding("log", "--format", "json", status=1).stdout)
    (told,) = [each for each in listed if each["kind"] == "damaged"]
    assert (told["step_id"], told["line"]) == ("0002", 2)
    shown = worked.siding("show", "2", status=1).stderr
    assert b"step 0002" in shown
    assert b"line 2 of ledger.jsonl" in shown
    assert b"has no step" not in shown
    assert b"line 2 of ledger.jsonl" in worked.siding("diff", "--step", "2", status=1).stderr
    assert b"line 2 of ledger.jsonl" in worked.siding("status", status=1).stdout
    problems = json.loads(worked.siding("status", "--format", "json", status=1).stdout)["problems"]
    assert len(problems) == 1
    # A step that there never was is another thing.
    assert b"has no step" in worked.siding("show", "9", status=None).stderr
    worked.siding("-q", "run", "--no-tty", "--", "true")
    assert b'"step_id": "0004"' in ledger(worked).read_bytes().replace(b'":"', b'": "')


@pytest.mark.parametrize("with_newline", [False, True])
def test_a_last_line_that_was_cut_off_is_missed(worked: Sandbox, with_newline: bool) -> None:
    raw = ledger(worked).read_bytes()
    ledger(worked).write_bytes(raw[:-30] + (b"\n" if with_newline else b""))
    said = worked.siding("verify", status=1).stdout
    assert b"step 0003" in said
    assert b"is whole" not in said
    assert b"damaged" in worked.siding("status", status=1).stdout
    worked.siding("-q", "run", "--no-tty", "--", "true")
    said = worked.siding("verify", status=1).stdout
    assert b"step 0003" in said
    ids = [
        each["step_id"]
        for each in json.loads(worked.siding("log", "-n", "0", "--format", "json", status=1).stdout)
    ]
    assert len(ids) == len(set(ids))


def test_a_last_line_that_is_gone_altogether_is_missed(worked: Sandbox) -> None:
    lines = ledger(worked).read_bytes().splitlines(keepends=True)
    ledger(worked).write_bytes(b"".join(lines[:-1]))
    assert b"step 0003" in worked.siding("verify", status=1).stdout
    worked.siding("-q", "run", "--no-tty", "--", "true")
    assert [each["step_id"] for each in worked.steps()][:3] == ["0001", "0002", "0004"]


def test_a_line_that_was_promised_to_nobody_is_no_damage(worked: Sandbox) -> None:
    with ledger(worked).open("ab") as file:
        file.write(b'{"v":1,"step_id":"0004","kind":"run","st')
    assert b"damaged" not in worked.siding("status").stdout
    worked.siding("log")
    worked.siding("verify")
    worked.siding("-q", "run", "--no-tty", "--", "true")
    ids = [
        each["step_id"]
        for each in json.loads(
            worked.siding("log", "-n", "0", "--format", "json", status=None).stdout
        )
        if each["kind"] != "damaged"
    ]
    assert ids[:3] == ["0001", "0002", "0003"]
    assert len(ids) == len(set(ids)) == 4


def test_a_line_that_a_power_cut_left_as_nuls_is_no_damage(worked: Sandbox) -> None:
    """The size of the file had arrived on the disk, the bytes of its last line had not."""
    with ledger(worked).open("ab") as file:
        file.write(bytes(900))
    worked.siding("log")
    worked.siding("-q", "run", "--no-tty", "--", "true")
    assert [each["step_id"] for each in worked.steps()] == ["0001", "0002", "0003", "0004"]
    worked.siding("verify")
    assert b"damaged" not in worked.siding("status").stdout


def test_ids_that_began_again_are_not_used_a_third_time(worked: Sandbox) -> None:
    """A tool of before counted on from 9999 with 0000."""
    lines = ledger(worked).read_bytes().splitlines(keepends=True)
    other: list[dict[str, object]] = [
        {
            "step_id": name,
            "kind": "run",
            "cmd": ["true"],
            "started_at": "2024-01-15T10:00:00Z",
            "ended_at": "2024-01-15T10:00:00Z",
            "exit_code": 0,
            "diff_stat": {},
            "artifacts": {},
        }
        for name in ("0002", "9999", "0000")
    ]
    ledger(worked).write_bytes(b"".join([*lines, *(json.dumps(e).encode() + b"\n" for e in other)]))
    worked.siding("-q", "run", "--no-tty", "--", "true")
    made = [each["step_id"] for each in worked.steps()][6:]
    assert made == ["10000", "10001"]  # what was there, and the run
