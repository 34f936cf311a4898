"""Decisions whose files are damaged, in the way or left over: each is told, none hides another."""

import json
from pathlib import Path

import pytest

from siding.asking.decisions.record import (
    AlreadyClosed,
    Decision,
    DecisionState,
    Origin,
    open_document,
)
from siding.asking.decisions.store import DecisionStore, order
from siding.ground.errors import NotFound
from siding.ground.storage.errors import DamagedFile

from .test_store import AT, REQUEST, SECOND, answered, asked


@pytest.fixture
def store(tmp_path: Path) -> DecisionStore:
    return DecisionStore(tmp_path / "decisions")


def ask(store: DecisionStore, key: str = "") -> Decision:
    return store.ask(REQUEST, asked(key))[0]


def question(store: DecisionStore, session: str) -> Path:
    return store.directory / "open" / f"{session}.json"


def record(store: DecisionStore, session: str) -> Path:
    return store.directory / f"{session}.json"


def test_a_project_that_never_asked_has_no_decisions(store: DecisionStore) -> None:
    assert store.open_ids() == store.closed_ids() == []
    assert store.newest() is None
    assert store.with_key("k") is None
    assert store.damaged(closed=True) == []
    assert not store.exists(SECOND)
    assert store.is_gone(SECOND)
    assert not store.directory.exists()
    with pytest.raises(NotFound, match="there is no decision") as caught:
        store.load(SECOND)
    assert "siding decide list" in str(caught.value.hint)


def test_what_there_is_of_a_decision(store: DecisionStore) -> None:
    one = ask(store)
    assert (store.exists(SECOND), store.is_closed(SECOND), store.is_gone(SECOND)) == (
        True,
        False,
        False,
    )
    assert store.close(answered(one)) == answered(one)
    assert (store.exists(SECOND), store.is_closed(SECOND), store.is_gone(SECOND)) == (
        True,
        True,
        False,
    )
    assert not question(store, SECOND).exists()
    assert store.closed_ids() == [SECOND]


def test_sessions_are_in_the_order_of_their_time_then_of_their_number() -> None:
    names = {"2026-01-15T10-30-01", f"{SECOND}-10", SECOND, f"{SECOND}-2"}
    assert sorted(names, key=order) == [
        SECOND,
        f"{SECOND}-2",
        f"{SECOND}-10",
        "2026-01-15T10-30-01",
    ]
    assert order(SECOND) == order(f"{SECOND}-x") == order(f"{SECOND}-\u00b2") == (SECOND, 1)
    assert order(f"{SECOND}-12") == (SECOND, 12)


def test_files_that_are_no_records_are_none(store: DecisionStore) -> None:
    store.close(answered(ask(store)))
    for name in (".hidden.json", "x.txt", "x.json.tmp"):
        (store.directory / name).write_text("{}")
        (store.directory / "open" / name).write_text("{}")
    assert store.closed_ids() == [SECOND]
    assert store.open_ids() == []


def test_a_damaged_question_is_read_from_its_other_copy(store: DecisionStore) -> None:
    one = ask(store)
    question(store, SECOND).write_text("{")
    assert store.load(SECOND) == one
    two = ask(store)
    with pytest.raises(DamagedFile, match=SECOND):
        store.load(SECOND)
    assert store.load(two.session_id) == two
    assert [name for name, _ in store.damaged(closed=False)] == [SECOND]
    question(store, SECOND).write_text("{}")
    with pytest.raises(DamagedFile, match="session_id") as caught:
        store.load(SECOND)
    kept = store.set_aside(caught.value)
    assert kept.read_text() == "{}"
    assert not question(store, SECOND).exists()
    assert store.is_gone(SECOND)
    assert store.damaged(closed=True) == []


@pytest.mark.parametrize("own", ["{", "{}"])
@pytest.mark.parametrize("copy", ["{", '{"_meta": {}}'])
def test_with_both_copies_damaged_the_question_is_what_is_named(
    store: DecisionStore, own: str, copy: str
) -> None:
    ask(store)
    question(store, SECOND).write_text(own)
    (store.directory / "pending.json").write_text(copy)
    with pytest.raises(DamagedFile) as caught:
        store.load(SECOND)
    assert caught.value.path == question(store, SECOND)
    question(store, SECOND).unlink()
    with pytest.raises(NotFound):  # what is damaged may be another one's
        store.load(SECOND)


def test_a_question_under_another_name_is_not_taken_for_it(store: DecisionStore) -> None:
    one = ask(store)
    other = one._replace(origin=one.origin._replace(session_id="other"))
    question(store, SECOND).write_text(json.dumps(open_document(other)))
    assert store.load(SECOND) == one, "the newest has a second copy"
    ask(store)
    with pytest.raises(NotFound):
        store.load(SECOND)


def test_a_damaged_record_counts_while_its_question_is_there(store: DecisionStore) -> None:
    one = ask(store)
    kept = question(store, SECOND).read_bytes()
    store.close(answered(one))
    two = ask(store)
    record(store, SECOND).write_text("{")
    assert store.damaged(closed=False) == []
    assert [name for name, _ in store.damaged(closed=True)] == [SECOND]
    question(store, SECOND).write_bytes(kept)
    ((name, damage),) = store.damaged(closed=False)
    assert name == SECOND
    assert damage.path == record(store, SECOND)
    store.set_aside(damage)
    assert store.open_ids() == [SECOND, two.session_id], "the question is open again"
    assert not store.is_gone(SECOND)


@pytest.mark.parametrize("text", ["{", "[]", '{"task": 1}', '{"_meta": {"session_id": "../x"}}'])
def test_a_damaged_pending_is_told_beside_the_others(store: DecisionStore, text: str) -> None:
    ask(store)
    pending = store.directory / "pending.json"
    pending.write_text(text)
    ((name, damage),) = store.damaged(closed=False)
    assert (name, damage.path) == ("pending", pending)
    assert store.open_ids() == [SECOND]


def test_a_pending_whose_decision_is_gone_is_no_damage(store: DecisionStore) -> None:
    ask(store)
    question(store, SECOND).unlink()
    assert store.damaged(closed=True) == []
    assert store.open_ids() == [SECOND], "its copy is all there is"
    assert not store.is_gone(SECOND)


def test_the_pending_copy_is_made_again_when_it_is_damaged(store: DecisionStore) -> None:
    one = ask(store, "k")
    (store.directory / "pending.json").write_text("{")
    assert store.ask(REQUEST, asked("k")) == (one, True)
    assert store.newest() == one


def test_what_was_answered_is_not_put_up_as_pending_again(store: DecisionStore) -> None:
    store.close(answered(ask(store, "k")))
    (store.directory / "pending.json").write_text("{")
    assert store.ask(REQUEST, asked("k")) == (store.load(SECOND), True)
    assert (store.directory / "pending.json").read_text() == "{"


def test_a_decision_that_is_closed_between_two_looks_is_found(
    store: DecisionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = ask(store)

    def too_late(self: DecisionStore, session_id: str) -> None:
        monkeypatch.undo()
        self.close(answered(one))

    monkeypatch.setattr(DecisionStore, "_still_open", too_late)
    assert store.load(SECOND).state is DecisionState.ANSWERED


def test_a_key_that_is_found_leaves_the_newest_in_its_place(store: DecisionStore) -> None:
    one = ask(store, "k")
    two = ask(store)
    assert store.ask(REQUEST, asked("k")) == (one, True)
    assert store.newest() == two


def test_a_key_of_what_was_cancelled_asks_anew(store: DecisionStore) -> None:
    one = ask(store, "k")
    store.close(one._replace(state=DecisionState.CANCELLED))
    two, found = store.ask(REQUEST, asked("k"))
    assert not found
    assert two.session_id == f"{SECOND}-2"
    store.forget_key(store.load(SECOND))
    assert store.with_key("k") == two, "the key is another's by now"
    store.forget_key(two)
    assert store.with_key("k") is None


def test_a_key_that_names_another_question_stands_for_nothing(store: DecisionStore) -> None:
    ask(store, "k")
    (path,) = (store.directory / "keys").iterdir()
    other = ask(store, "another")
    path.write_text(json.dumps({"version": 1, "session_id": other.session_id}))
    assert store.with_key("k") is None
    path.write_text(json.dumps({"version": 1}))
    assert store.with_key("k") is None
    assert path.stem.isalnum()


def test_the_second_to_close_is_told_and_changes_nothing(store: DecisionStore) -> None:
    one = ask(store)
    store.close(answered(one))
    before = record(store, SECOND).read_bytes()
    for state in (DecisionState.ANSWERED, DecisionState.CANCELLED):
        with pytest.raises(AlreadyClosed):
            store.close(one._replace(state=state, reason="late"))
    assert record(store, SECOND).read_bytes() == before
    record(store, SECOND).write_text("{")
    with pytest.raises(DamagedFile):
        store.close(answered(one))


def test_a_record_moves_to_the_trash_with_all_that_is_its_own(
    store: DecisionStore, tmp_path: Path
) -> None:
    one = ask(store, "k")
    kept = question(store, SECOND).read_bytes()
    store.close(answered(one))
    question(store, SECOND).write_bytes(kept)  # whoever answered was cut off
    (tmp_path / "trash").mkdir()
    store.remove(SECOND, tmp_path / "trash")
    assert [each.name for each in (tmp_path / "trash").iterdir()] == [f"{SECOND}.json"]
    assert list((store.directory / "open").iterdir()) == []
    assert list((store.directory / "keys").iterdir()) == []


def test_a_name_whose_question_or_record_is_there_is_not_given_again(store: DecisionStore) -> None:
    one = ask(store)
    store.close(answered(one))
    question(store, f"{SECOND}-2").write_text("{")
    assert ask(store).session_id == f"{SECOND}-3"
    assert ask(store).session_id == f"{SECOND}-4"


def test_what_cannot_name_a_decision_is_not_looked_for(store: DecisionStore) -> None:
    with pytest.raises(NotFound, match="cannot be the id of a decision"):
        store.load("../" + "x" * 300)
    for _ in range(2):
        with pytest.raises(NotFound, match="no decision 'pending'"):
            store.load("pending")
        ask(store)  # now there is a file of that name


def test_asking_sweeps_the_questions_whose_record_is_there(store: DecisionStore) -> None:
    one = ask(store)
    kept = question(store, SECOND).read_bytes()
    store.close(answered(one))
    question(store, SECOND).write_bytes(kept)
    waiting = ask(store)
    assert not question(store, SECOND).exists()
    assert question(store, waiting.session_id).exists()
    assert store.load(SECOND).state is DecisionState.ANSWERED
    assert Origin(session_id="s", created_at=AT).key_named is False
