"""The passes of a task on disk: the present one, earlier ones, and the move that is under way."""

import json
from pathlib import Path

import pytest

from siding.ground.storage.errors import DamagedFile
from siding.record.phases.store import (
    FlowStatus,
    HistoryEntry,
    PhaseIntent,
    PhaseStore,
    document_of,
    started,
)


def a_pass(name: str) -> FlowStatus:
    entry = HistoryEntry(timestamp="then", action="start", phase="impl", step=1, summary="text")
    return started(entry, pass_id=name, task="t", phases=("impl",))


def intent(name: str, *, ends: FlowStatus | None = None) -> PhaseIntent:
    return PhaseIntent(after=a_pass(name), ends=ends, branch="b", old="1", new="2", token="t")


def test_a_task_without_phases_has_none(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "gone"):
        store = PhaseStore(root)
        assert store.load() is None
        assert store.earlier() == []
        assert store.earlier_ids() == set()
        assert store.cut_off() is None
        assert not store.has_intent()


def test_passes_that_made_room_are_told_oldest_first(tmp_path: Path) -> None:
    store = PhaseStore(tmp_path)
    store.record(intent("2025-01-02"))
    store.record(intent("2025-01-03", ends=a_pass("2025-01-02")))
    store.record(intent("2025-01-04", ends=a_pass("2025-01-01")))
    for name in ("flow-status.json.tmp", "flow-status.txt", "other.json", "xflow-status.x.json"):
        (tmp_path / name).write_text(json.dumps(document_of(a_pass("nothing of ours"))))
    assert [each.task_id for each in store.earlier()] == ["2025-01-01", "2025-01-02"]
    assert store.earlier_ids() == {"2025-01-01", "2025-01-02"}
    assert store.load() == a_pass("2025-01-04")


def test_an_earlier_pass_that_cannot_be_read_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "flow-status.broken.json").write_text("{")
    store = PhaseStore(tmp_path)
    assert store.earlier_ids() == {"broken"}
    with pytest.raises(DamagedFile, match="broken"):
        store.earlier()


def test_a_move_that_did_not_happen_is_forgotten(tmp_path: Path) -> None:
    store = PhaseStore(tmp_path)
    store.begin(intent("one"))
    assert store.has_intent()
    assert store.cut_off() == intent("one")
    store.give_up()
    assert not store.has_intent()
    assert store.cut_off() is None
    assert store.load() is None


def test_what_is_recorded_before_all_is_done_keeps_its_intent(tmp_path: Path) -> None:
    store = PhaseStore(tmp_path)
    store.begin(intent("one"))
    store.record(intent("one"))
    assert store.load() == a_pass("one")
    assert store.has_intent()
    assert store.earlier() == []


@pytest.mark.parametrize("missing", ["branch", "after", "new", "history"])
def test_an_intent_that_cannot_be_read_is_damage(tmp_path: Path, missing: str) -> None:
    store = PhaseStore(tmp_path)
    store.begin(intent("one"))
    path = tmp_path / "phase-intent.json"
    document = json.loads(path.read_text())
    document.pop(missing, None)
    document.get("after", {}).pop(missing, None)
    path.write_text(json.dumps(document))
    with pytest.raises(DamagedFile, match="phase-intent"):
        store.cut_off()
    assert store.has_intent()


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"version": 1, "history": []}'])
def test_a_damaged_pass_can_be_kept_beside_and_the_way_out_is_named(
    tmp_path: Path, content: bytes
) -> None:
    store = PhaseStore(tmp_path)
    (tmp_path / "flow-status.json").write_bytes(content)
    with pytest.raises(DamagedFile) as caught:
        store.load()
    assert "siding phase start" in str(caught.value.hint)
    kept = store.keep_damaged()
    assert kept.read_bytes() == content
    assert kept.parent == tmp_path
    assert kept.name != "flow-status.json"
