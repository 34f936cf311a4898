"""The numbers of a ledger's steps grow, whoever appends."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.ledger.chain import link
from siding.ledger.store import Ledger

FIELDS: dict[str, Any] = {"kind": "checkpoint"}


def test_gaps_are_allowed_and_four_digits_are_not_the_end(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for number in (1, 3, 9999, 10000):
        ledger.append(FIELDS, at_least=number)
    assert [each.number for each in ledger.steps()] == [1, 3, 9999, 10000]


def test_a_line_says_its_format_and_the_line_before_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for _number in (1, 2):
        ledger.append(FIELDS)
    first, second = (tmp_path / "ledger.jsonl").read_bytes().splitlines()
    assert json.loads(first) == {"v": 1, "step_id": "0001", **FIELDS, "prev": link(None)}
    assert json.loads(second) == {"v": 1, "step_id": "0002", **FIELDS, "prev": link(first)}


@pytest.mark.parametrize("wanted", [0, 1, 2, 3])
@pytest.mark.parametrize("end", [b"", b"{torn", b"damaged\n", b'{"step_id": "x"}\n', b"[1]\n{\n"])
def test_a_number_that_is_taken_is_given_to_nobody_else(
    tmp_path: Path, wanted: int, end: bytes
) -> None:
    """Also when lines that are no steps stand behind the last one."""
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    ledger.append(FIELDS, at_least=1)
    ledger.append(FIELDS, at_least=3)
    path.write_bytes(path.read_bytes() + end)
    assert ledger.append(FIELDS, at_least=wanted).number == 4
    assert ledger.append(FIELDS).number == 5


def test_what_a_step_left_is_named_before_its_line_is_there(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(FIELDS)

    def name(number: int) -> Mapping[str, str]:
        assert [each.number for each in ledger.steps()] == [1]
        return {"patch": f"artifacts/{number:04d}.patch"}

    step = ledger.append(FIELDS, name=name)
    assert step.number == 2
    assert dict(step.artifacts) == {"patch": "artifacts/0002.patch"}


def test_a_step_whose_artifacts_have_no_name_is_not_recorded(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(FIELDS)
    before = ledger.path.read_bytes()

    def name(_number: int) -> Mapping[str, str]:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        ledger.append(FIELDS, name=name)
    assert ledger.path.read_bytes() == before
