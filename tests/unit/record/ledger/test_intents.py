"""An act is there from its intent on, and counts as cut off when nobody holds it."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from siding.ground.storage.errors import DamagedFile
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, Holder
from siding.record.ledger.draft import Draft
from siding.record.ledger.intent_files import has_intents
from siding.record.ledger.intents import Intent, Intents
from siding.record.ledger.run_details import CheckpointDetail, RunDetail

HOLDER = Holder(pid=7, since="2026-01-01T00:00:00.000Z", what="run")


@pytest.fixture
def layout(tmp_path: Path) -> TaskLayout:
    (tmp_path / "task").mkdir()
    return TaskLayout(tmp_path / "task")


def intent(act: str = "a000000000001", number: int = 3, started_at: str = "2026-01-01") -> Intent:
    return Intent(
        act=act,
        number=number,
        kind="run",
        started_at=started_at,
        pid=7,
        token="t",
        parent="f" * 40,
        draft=Draft(RunDetail(cmd=("make", "it"))),
    )


def test_what_was_written_is_read_again(layout: TaskLayout) -> None:
    assert not has_intents(str(layout.root))
    Intents(layout).write(intent(), HOLDER)
    assert Intents(layout).all() == [intent()]
    assert Intents(layout).all()[0].title == "make it"
    assert has_intents(str(layout.root))


def test_it_lives_while_its_writer_holds_it(layout: TaskLayout) -> None:
    writer, reader = Intents(layout), Intents(layout)
    writer.write(intent(), HOLDER)
    writer.write(intent(number=4), HOLDER)  # what is told later changes the file, not the lock
    assert not reader.is_cut_off(intent())
    assert reader.holder(intent()) == HOLDER
    assert not reader.take_over(intent())
    writer.release()
    assert reader.is_cut_off(intent())
    assert reader.holder(intent()) is None
    assert reader.take_over(intent())
    assert not writer.take_over(intent())
    assert reader.take_over(intent())  # it is ours


def test_one_that_ended_is_not_cut_off(layout: TaskLayout) -> None:
    writer = Intents(layout)
    writer.write(intent(), HOLDER)
    writer.clear(intent())
    assert not Intents(layout).is_cut_off(intent())
    assert not has_intents(str(layout.root))
    assert os.listdir(layout.intents_dir) == []
    writer.clear(intent())  # again: after a kill in between


def test_the_newest_is_the_one_that_lives(layout: TaskLayout) -> None:
    first, second = intent(), intent("a000000000002", 4, "2026-01-02")
    alive, dead = Intents(layout), Intents(layout)
    alive.write(first, HOLDER)
    dead.write(second, HOLDER)
    dead.release()
    assert Intents(layout).all() == [first, second]
    assert Intents(layout).newest() == first
    alive.release()
    assert Intents(layout).newest() == second


def test_locks_and_temporary_files_are_no_intents(layout: TaskLayout) -> None:
    layout.intents_dir.mkdir()
    for name in ("a000000000001.lock", ".siding-tmp.1.json", "note"):
        (layout.intents_dir / name).write_bytes(b"{}")
    assert not has_intents(str(layout.root))
    assert Intents(layout).all() == []


def test_a_damaged_one_is_said(layout: TaskLayout) -> None:
    layout.intents_dir.mkdir()
    (layout.intents_dir / "a000000000001.json").write_bytes(b"{")
    assert has_intents(str(layout.root))
    with pytest.raises(DamagedFile, match="a000000000001"):
        Intents(layout).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", "3"),
        ("number", [3]),
        ("number", 0),
        ("number", True),
        ("kind", None),
        ("started_at", 4),
        ("pid", "7"),
        ("pid", {}),
        ("token", ["t"]),
        ("parent", 5),
        ("parent", "HEAD"),
        ("parent", "-" * 40),
        ("record", [1]),
    ],
)
def test_one_with_a_field_of_another_kind_is_said(
    layout: TaskLayout, field: str, value: object
) -> None:
    Intents(layout).write(intent(), HOLDER)
    path = layout.intents_dir / "a000000000001.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), field: value}))
    with pytest.raises(DamagedFile, match=f"a000000000001.*{field}"):
        Intents(layout).all()


def test_the_one_of_an_earlier_version_belongs_to_the_task_lock(layout: TaskLayout) -> None:
    old = {"version": 1, "number": 2, "kind": "checkpoint", "record": {"message": "m"}}
    layout.running_json.write_text(json.dumps(old))
    intents = Intents(layout)
    (found,) = intents.all()
    assert (found.act, found.number, found.stem) == ("", 2, "0002")
    assert found.draft.detail == CheckpointDetail("m", "")
    assert has_intents(str(layout.root))
    with FileLock(layout.lock).acquire(holder=HOLDER):
        assert not intents.is_cut_off(found)
        assert intents.holder(found) == HOLDER
    assert intents.is_cut_off(found)
    with FileLock(layout.lock).acquire(holder=HOLDER):  # as whoever takes an act over does
        assert intents.take_over(found)
        intents.clear(found)
    assert not layout.running_json.exists()


def test_its_artifacts_go_by_its_id_and_those_of_an_earlier_version_by_the_number() -> None:
    assert intent().stem == "a000000000001"
    assert intent(act="").stem == "0003"


def test_the_document_has_the_draft_as_the_line_so_far(layout: TaskLayout) -> None:
    Intents(layout).write(intent(), HOLDER)
    document = json.loads((layout.intents_dir / "a000000000001.json").read_bytes())
    assert "draft" not in document
    assert document["record"]["cmd"] == ["make", "it"]


def test_one_of_which_little_is_known_is_read(layout: TaskLayout) -> None:
    layout.running_json.write_text(json.dumps({"version": 1, "number": 2, "kind": "run"}))
    (found,) = Intents(layout).all()
    assert (found.pid, found.token, found.parent, found.title) == (0, "", None, "")


def test_what_is_cleared_is_let_go(layout: TaskLayout) -> None:
    writer = Intents(layout)
    writer.write(intent(), HOLDER)
    lock = layout.intents_dir / "a000000000001.lock"
    held = os.open(lock, os.O_RDWR)
    lock.unlink()  # as `clear` finds it after it was cut off
    writer.clear(intent())
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(held)
