"""Lines that are no steps: each is named with what it may have been, and its number stays taken."""

import json
from pathlib import Path

import pytest

from siding.record.ledger.store import LOOKED_AT, DamagedLine, damaged_lines, highest_number


def step(number: int, **more: object) -> bytes:
    record = {"step_id": f"{number:04d}", "kind": "checkpoint", **more}
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def test_a_ledger_without_damage_has_none(path: Path) -> None:
    assert damaged_lines(path) == []
    path.write_bytes(step(1) + step(2))
    assert damaged_lines(path) == []


def test_a_damaged_line_has_the_number_it_names_else_the_next_one(path: Path) -> None:
    path.write_bytes(
        b"garbage\n"
        + step(4)
        + b'{"step_id": "0009", broken}\n'
        + b"again\n"
        + b'{"step_id": "0020"}\n'
        + b'{"kind": "run", "step_id": null}\n'
        + step(30)
    )
    found = damaged_lines(path)
    assert [(each.line, each.number, each.torn) for each in found] == [
        (1, 1, False),
        (3, 9, False),
        (4, 10, False),
        (5, 20, False),
        (6, 21, False),
    ]
    assert found[3].reason == "not a step: not a step: KeyError('kind')"
    assert found[0].reason
    assert found[3].where == "line 5 of ledger.jsonl"
    assert found[3].as_record() == {
        "step_id": "0020",
        "kind": "damaged",
        "line": 5,
        "reason": found[3].reason,
    }


def test_no_step_has_the_number_nought(path: Path) -> None:
    path.write_bytes(b'{"step_id": "0000", broken}\n' + b"damaged\n")
    assert [each.number for each in damaged_lines(path)] == [None, 1]
    assert highest_number(path, 0) == 0


def test_a_line_of_which_nothing_is_known_says_so() -> None:
    line = DamagedLine(line=None, number=None, reason="odd", torn=False)
    assert line.where == "a line near the end of ledger.jsonl"
    assert line.as_record() == {
        "step_id": None,
        "kind": "damaged",
        "line": None,
        "reason": "odd",
    }


def test_a_torn_line_is_told_until_its_step_is_recorded(path: Path) -> None:
    path.write_bytes(step(1) + b'{"step_id": "0002", "ki')
    (torn,) = damaged_lines(path)
    assert (torn.line, torn.number, torn.torn) == (2, 2, True)
    path.write_bytes(step(1) + b'{"step_id": "0002", "ki\n' + step(2))
    assert damaged_lines(path) == []


def test_of_a_long_ledger_only_the_end_is_looked_at(path: Path) -> None:
    many = b"".join(step(number) for number in range(2, 400))
    padding = step(1, message="x" * LOOKED_AT)
    path.write_bytes(b"early\n" + padding + many + b"late\n" + step(401) + b"later\n")
    found = damaged_lines(path)
    assert [each.number for each in found] == [400, 402]
    assert [each.line for each in damaged_lines(path, whole=True)] == [1, 401, 403]
    short = b"early\n" + step(2)
    path.write_bytes(short + step(3, message="x" * (LOOKED_AT - len(short) - len(step(3)) - 15)))
    assert path.stat().st_size == LOOKED_AT
    assert [each.line for each in damaged_lines(path)] == [1]


def test_without_a_step_before_it_the_number_of_a_damaged_line_is_not_known(path: Path) -> None:
    damaged = b"damaged\n" * 201
    path.write_bytes(step(1, message="x" * LOOKED_AT) + damaged)
    assert damaged_lines(path)[-1].where.startswith("a line near the end")


def test_the_highest_number_counts_damaged_lines_and_nothing_that_is_quoted(path: Path) -> None:
    assert highest_number(path, 0) == 0
    assert highest_number(path, 3) == 3
    path.write_bytes(step(9999) + step(2, message='"step_id": "7777777"') + b'{"step_id":"0012",\n')
    assert highest_number(path, 2) == 9999
    assert highest_number(path, 10000) == 10000
    path.write_bytes(b'torn "step_id" : "0012')
    assert highest_number(path, 2) == 2
    path.write_bytes(b'"step_id" : "0012"')
    assert highest_number(path, 2) == 12
