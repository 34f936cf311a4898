"""The steps of a ledger: their numbers grow, whoever appends; and they are found again."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.ground.storage.journals import Entry, Journal
from siding.record.ledger.step import Step
from siding.record.ledger.store import Ledger, link

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
    assert json.loads(first) == {
        **FIELDS,
        "v": 1,
        "step_id": "0001",
        "on": "base",
        "prev": link(None),
    }
    assert json.loads(second) == {
        **FIELDS,
        "v": 1,
        "step_id": "0002",
        "on": "0001",
        "prev": link(first),
    }


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


def filled(tmp_path: Path, *numbers: int, damaged_after: tuple[int, ...] = ()) -> Ledger:
    """Return a ledger with these steps, and a damaged line behind some of them."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for number in numbers:
        line = {"step_id": f"{number:04d}", "kind": "checkpoint", "message": f"m{number}"}
        with ledger.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            if number in damaged_after:
                file.write(b"damaged\n")
    return ledger


def numbers(steps: list[Step]) -> list[int]:
    return [step.number for step in steps]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_the_newest_steps_are_read_past_damaged_lines(tmp_path: Path, count: int) -> None:
    ledger = filled(tmp_path, 1, 2, 3, damaged_after=(1, 2, 3))
    assert numbers(ledger.tail(count)) == [1, 2, 3][-count:]
    last = ledger.last()
    assert last is not None
    assert last.number == 3


def test_the_newest_steps_cost_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more lines are read than are asked for, where all of them are steps."""
    ledger = filled(tmp_path, *range(1, 30))
    asked = []
    tail = Journal.tail

    def counting(journal: Journal, count: int) -> list[Entry]:
        asked.append(count)
        return tail(journal, count)

    monkeypatch.setattr(Journal, "tail", counting)
    assert numbers(ledger.tail(3)) == [27, 28, 29]
    assert numbers(ledger.tail(40)) == list(range(1, 30))
    assert asked == [3, 40]
    monkeypatch.setattr(Ledger, "steps", lambda _ledger: pytest.fail("all was read"))
    found = ledger.find(28)
    assert found is not None
    assert asked == [3, 40, 1, 2]


@pytest.mark.parametrize("number", [1, 2, 4, 5])
def test_a_step_is_found_by_its_number(tmp_path: Path, number: int) -> None:
    found = filled(tmp_path, 1, 2, 4, 5, damaged_after=(2, 5)).find(number)
    assert found is not None
    assert (found.number, found.message) == (number, f"m{number}")


@pytest.mark.parametrize("number", [-1, 0, 3, 6, 100])
def test_a_number_that_no_step_has_finds_none(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = filled(tmp_path, 1, 2, 4, 5)
    if number != 3:  # it is told from the newest step alone
        monkeypatch.setattr(Ledger, "steps", lambda _ledger: pytest.fail("all was read"))
    assert ledger.find(number) is None


def test_an_empty_ledger_has_no_step(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert (ledger.last(), ledger.find(1), ledger.tail(3)) == (None, None, [])
    assert (ledger.damage(), ledger.breaks()) == ([], [])


def test_numbers_out_of_order_are_found_and_the_later_of_two_counts(tmp_path: Path) -> None:
    """As another tool may write them."""
    ledger = filled(tmp_path, 9, 2, 2, 3)
    with ledger.path.open("ab") as file:
        file.write(b'{"step_id": "0003", "kind": "checkpoint", "message": "again"}\n')
    for number, message in ((2, "m2"), (3, "again")):
        found = ledger.find(number)
        assert found is not None
        assert found.message == message
    ledger.path.unlink()
    ledger = filled(tmp_path, 1, 2)
    with ledger.path.open("ab") as file:
        file.write(b'{"step_id": "0002", "kind": "checkpoint", "message": "again"}\n')
        file.write(b'{"step_id": "0009", "kind": "checkpoint", "message": "m9"}\n')
    found = ledger.find(2)
    assert found is not None
    assert found.message == "again"
    ledger.path.unlink()
    found = filled(tmp_path, 5, 4, 9).find(4)
    assert found is not None
    assert found.message == "m4"


def test_each_damaged_line_is_named_with_its_reason(tmp_path: Path) -> None:
    ledger = filled(tmp_path, 1, 2, damaged_after=(1,))
    with ledger.path.open("ab") as file:
        file.write(b'{"no": "step"}\n')
    found = ledger.damage()
    assert [each.line for each in found] == [2, 4]
    assert found[0].reason != "not a step"
    assert found[1].reason == "not a step"


def test_a_break_in_the_chain_is_found(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for _ in range(3):
        ledger.append(FIELDS)
    assert ledger.breaks() == []
    first, second, third = ledger.path.read_bytes().splitlines(keepends=True)
    ledger.path.write_bytes(first + second.replace(b"checkpoint", b"checkpoinT") + third)
    assert len(ledger.breaks()) == 1


def test_a_line_that_lacks_only_its_end_counts_once_it_is_closed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(FIELDS)
    ledger.append(FIELDS)
    ledger.path.write_bytes(ledger.path.read_bytes()[:-1])
    assert numbers(list(ledger.steps())) == [1]
    ledger.close_last_line()
    assert numbers(list(ledger.steps())) == [1, 2]


def test_the_first_step_is_number_one_even_behind_damage(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.path.write_bytes(b"damaged\n")
    assert ledger.append(FIELDS).number == 1


@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 900, 901])
def test_all_steps_come_newest_first(tmp_path: Path, length: int) -> None:
    path = tmp_path / "ledger.jsonl"
    lines = [json.dumps({**FIELDS, "step_id": f"{n:04d}"}) for n in range(1, length + 1)]
    path.write_text("".join(line + "\n" for line in [*lines[:-1], "{damaged", *lines[-1:]]))
    ledger = Ledger(path)
    assert [step.number for step in ledger.newest_first()] == list(range(length, 0, -1))
    tails = list(ledger.growing_tails())
    assert [tail.is_all for tail in tails] == [False] * (len(tails) - 1) + [True]
