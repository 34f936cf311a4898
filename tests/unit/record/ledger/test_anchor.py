"""The anchor of a ledger: its bytes, and what a keeper makes of a ledger that differs from it."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from siding.ground.errors import NotARegularFile
from siding.ground.storage.errors import DamagedFile, NewerVersion
from siding.record.ledger.anchor import (
    SIZE,
    Anchor,
    AnchorKeeper,
    TaskIdentity,
    announce_change,
    read_anchor,
    read_next_task,
    write_anchor,
)
from siding.record.ledger.store import Ledger

TASK = TaskIdentity("abcd2345", "parser", "main", "c" * 40, "siding/parser-abcd2345")
OTHER = TASK._replace(base_commit="d" * 40, branch="siding/parser-2")


class Desk:
    """A ledger with its anchor, and what the keeper said."""

    def __init__(self, directory: Path) -> None:
        self.ledger = Ledger(directory / "ledger.jsonl")
        self.path = directory / "store" / "ledger-head"
        self.task = TASK
        self.said: list[str] = []

    def keeper(self) -> AnchorKeeper:
        return AnchorKeeper(
            self.path, self.ledger.path, task=lambda: self.task, say=self.said.append
        )

    def append(self, *, anchored: bool = True) -> dict[str, object]:
        """Append a line; without its anchor, as if the act was cut off right after it."""
        keeper = self.keeper()
        step = self.ledger.append({"kind": "checkpoint"}, more=keeper.fields)
        if anchored:
            keeper.put()
        return dict(step.line)

    def anchor(self) -> Anchor:
        found = read_anchor(self.path)
        assert found is not None
        return found

    def matches(self) -> bool:
        raw = self.ledger.path.read_bytes()
        lines = raw.splitlines()
        return self.anchor() == Anchor(len(lines), len(raw), sha256(lines[-1]).hexdigest())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_it_is_one_line_of_a_fixed_size_that_is_written_in_place(desk: Desk) -> None:
    desk.append()
    inode = desk.path.stat().st_ino
    for _ in range(3):
        desk.append()
    raw = desk.path.read_bytes()
    assert (len(raw), raw[-1:], raw.count(b"\n")) == (SIZE, b"\n", 1)
    assert json.loads(raw)["lines"] == 4
    assert desk.path.stat().st_ino == inode
    assert desk.path.stat().st_mode & 0o777 == 0o600
    assert desk.matches()


def test_the_largest_fits() -> None:
    assert len(Anchor(10**15, 10**18, "f" * 64).encoded()) == SIZE


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b'"x"',
        Anchor(3, 30, "a" * 64).encoded()[:40],
        Anchor(3, 30, "a" * 64).encoded().replace(b"30", b"31"),
        Anchor(3, 30, "a" * 64).encoded()[:100] + Anchor(4, 40, "b" * 64).encoded()[100:],
    ],
)
def test_what_is_no_anchor_is_damaged_and_is_replaced_whole(desk: Desk, raw: bytes) -> None:
    desk.path.parent.mkdir()
    desk.path.write_bytes(raw)
    with pytest.raises(DamagedFile):
        read_anchor(desk.path)
    write_anchor(desk.path, Anchor(1, 2, "c" * 64))
    assert desk.anchor() == Anchor(1, 2, "c" * 64)


def test_a_newer_one_and_one_that_is_no_file_are_refused(desk: Desk) -> None:
    desk.path.parent.mkdir()
    desk.path.write_text('{"version": 2}')
    with pytest.raises(NewerVersion):
        read_anchor(desk.path)
    with pytest.raises(NewerVersion):
        desk.keeper().is_changing()
    desk.path.unlink()
    os.symlink("elsewhere", desk.path)
    with pytest.raises(NotARegularFile):
        read_anchor(desk.path)


def test_each_line_names_the_task(desk: Desk) -> None:
    assert desk.append() == {**desk.append(), "step_id": "0001", "on": "base", "prev": "0" * 64}
    assert list(desk.ledger.steps())[1].line["task"] == TASK.as_record()
    assert desk.said == []


def test_what_somebody_wrote_into_the_task_is_in_no_line(desk: Desk) -> None:
    desk.append()
    desk.task = OTHER._replace(name="renamed")
    assert desk.append()["task"] == TASK.as_record()


def test_an_announced_base_is_in_the_next_line_if_the_task_has_it(desk: Desk) -> None:
    announce_change(desk.path, OTHER)  # nothing is anchored: nothing is noted
    assert read_next_task(desk.path) is None
    desk.append()
    announce_change(desk.path, OTHER._replace(name="renamed"))
    assert not desk.keeper().is_changing()  # task.json does not have it yet
    assert desk.append()["task"] == TASK.as_record()
    announce_change(desk.path, OTHER._replace(name="renamed"))
    desk.task = OTHER._replace(name="renamed")
    assert desk.keeper().is_changing()
    assert (
        desk.append()["task"] == OTHER.as_record()
    )  # the name was not announced: it never changes
    assert read_next_task(desk.path) is None
    assert not desk.keeper().is_changing()


def test_the_line_of_an_act_that_was_cut_off_is_anchored_later(desk: Desk) -> None:
    desk.append(anchored=False)
    desk.keeper().catch_up()
    assert desk.matches()
    desk.append(anchored=False)
    desk.keeper().catch_up()
    desk.keeper().catch_up()
    assert desk.matches()
    assert "not_as_anchored" not in desk.append()


def test_lines_that_killed_writers_left_are_counted_and_are_no_difference(desk: Desk) -> None:
    desk.append()
    for _ in range(2):
        with desk.ledger.path.open("ab") as file:
            file.write(b'{"v":1,"st')
        desk.ledger.close_last_line()
    assert "not_as_anchored" not in desk.append()
    assert desk.matches()
    with desk.ledger.path.open("ab") as file:
        file.write(b'{"v":1,"st')
    assert "not_as_anchored" not in desk.append()
    assert desk.matches()
    assert desk.said == []


def test_an_anchor_that_was_not_written_to_its_end_is_written_by_recovery(desk: Desk) -> None:
    desk.append()
    desk.append(anchored=False)
    desk.path.write_bytes(desk.path.read_bytes()[:20].ljust(SIZE))
    desk.keeper().catch_up()
    assert desk.matches()


def test_recovery_anchors_nothing_else(desk: Desk) -> None:
    """Neither two lines, nor one line behind an anchored one that differs."""
    desk.append()
    before = desk.path.read_bytes()
    desk.append(anchored=False)
    desk.ledger.append({"kind": "checkpoint", "task": TASK.as_record()})
    desk.keeper().catch_up()
    assert desk.path.read_bytes() == before
    lines = desk.ledger.path.read_bytes().splitlines(keepends=True)
    desk.ledger.path.write_bytes(lines[0].replace(b"checkpoint", b"checkpoinT") + lines[1])
    desk.keeper().catch_up()
    assert desk.path.read_bytes() == before


@pytest.mark.parametrize(
    "cut",
    [
        lambda raw: raw[:0],
        lambda raw: raw[:-30],
        lambda raw: raw[:-30] + b"\n",
        lambda raw: raw.splitlines(keepends=True)[0],
        lambda raw: raw.replace(b"0002", b"0003"),
        lambda raw: raw.replace(b"\n", b"\n\n", 1),
    ],
)
def test_a_ledger_that_differs_is_said_by_the_next_line(desk: Desk, cut) -> None:  # type: ignore[no-untyped-def]  # one of the functions above
    desk.append()
    desk.append()
    before = desk.anchor()
    desk.ledger.path.write_bytes(cut(desk.ledger.path.read_bytes()))
    assert desk.append()["not_as_anchored"] == {"lines": 2, "head": before.head}
    assert desk.said == ["the ledger is not as its anchor says; `siding verify` says more"]
    assert "not_as_anchored" not in desk.append()


def test_an_anchor_that_is_gone_or_damaged_is_said_by_the_next_line(desk: Desk) -> None:
    desk.append()
    desk.path.unlink()
    assert desk.append()["not_as_anchored"] == {}
    desk.path.write_bytes(b"x")
    assert desk.append()["not_as_anchored"] == {"damaged": True}
    assert desk.matches()


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_lines_of_before_are_sealed_by_the_first_anchored_one(desk: Desk, end: bytes) -> None:
    old = b'{"step_id":"0001","kind":"run"}\n{"step_id":"0002","kind":"run"}'
    desk.ledger.path.write_bytes(old + end)
    line = desk.append()
    assert line["before"] == sha256(old + b"\n").hexdigest()
    assert "not_as_anchored" not in line
    assert "before" not in desk.append()
    assert desk.anchor().lines == 4
