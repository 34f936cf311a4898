"""The numbers of a ledger's steps grow, whoever appends."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.ledger.chain import link
from siding.ledger.store import Ledger, StepTaken


def step(number: int) -> dict[str, Any]:
    return {"step_id": f"{number:04d}", "kind": "checkpoint"}


def test_gaps_are_allowed_and_four_digits_are_not_the_end(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for number in (1, 3, 9999, 10000):
        ledger.append(step(number))
    assert [each.number for each in ledger.steps()] == [1, 3, 9999, 10000]


def test_a_line_says_its_format_and_the_line_before_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for number in (1, 2):
        ledger.append(step(number))
    first, second = (tmp_path / "ledger.jsonl").read_bytes().splitlines()
    assert json.loads(first) == {"v": 1, **step(1), "prev": link(None)}
    assert json.loads(second) == {"v": 1, **step(2), "prev": link(first)}


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("end", [b"", b"{torn", b"damaged\n", b'{"step_id": "x"}\n', b"[1]\n{\n"])
def test_a_number_that_does_not_grow_is_refused_without_a_trace(
    tmp_path: Path, number: int, end: bytes
) -> None:
    """Also when lines that are no steps stand behind the last one."""
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    ledger.append(step(1))
    ledger.append(step(3))
    path.write_bytes(path.read_bytes() + end)
    before = path.read_bytes()
    with pytest.raises(StepTaken, match=f"step 000{number} .* already has step 0003") as raised:
        ledger.append(step(number))
    assert raised.value.hint
    assert path.read_bytes() == before
    with pytest.raises(StepTaken):
        ledger.require_free(number)
    assert ledger.append(step(4)).number == 4
