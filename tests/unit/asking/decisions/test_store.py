"""The store against a model: whatever is asked, answered, cut off or cleaned, in any order."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from siding.asking.decisions.answers import Answer
from siding.asking.decisions.record import AlreadyClosed, Decision, DecisionState, Origin
from siding.asking.decisions.request import check_request
from siding.asking.decisions.store import DecisionStore
from siding.ground.errors import NotFound
from siding.ground.storage.errors import DamagedFile

from .asking import simple
from .seed_reader import SeedReader

REQUEST = check_request(simple()).request
SECOND = "2026-01-15T10-30-00"
AT = "2026-01-15T10:30:00+08:00"
BOTH = (Answer(1, ("jwt",)), Answer(2, ("bcrypt",), "note"))


def asked(key: str = "", **more: Any) -> Origin:
    return Origin(session_id=SECOND, created_at=AT, key=key, **more)


def answered(decision: Decision, note: str = "note") -> Decision:
    answers = (BOTH[0], BOTH[1]._replace(note=note))
    return decision._replace(state=DecisionState.ANSWERED, answers=answers, completed_at=AT)


class Known(NamedTuple):
    """What the model holds of one decision."""

    key: str
    state: DecisionState
    note: str = ""


class StoreMachine(RuleBasedStateMachine):
    """Asks with keys from a small set, so that they meet; closes, cuts off, cleans."""

    sessions: Bundle[str] = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.directory = self.root / "decisions"
        self.trash = self.root / "trash"
        self.trash.mkdir()
        self.known: dict[str, Known] = {}
        self.keys: dict[str, str] = {}
        self.newest = ""
        self.count = 0

    @property
    def store(self) -> DecisionStore:
        """A new one each time: nothing may live in memory."""
        return DecisionStore(self.directory)

    @rule(target=sessions, key=st.sampled_from(["", "a", "b"]))
    def ask(self, key: str) -> str:
        held = self.keys.get(key, "") if key else ""
        there = self.known.get(held)
        decision, found = self.store.ask(REQUEST, asked(key))
        assert found == (there is not None and there.state is not DecisionState.CANCELLED)
        if found:
            assert decision.session_id == held
            return held
        assert decision.session_id not in self.known
        self.known[decision.session_id] = Known(key=key, state=DecisionState.OPEN)
        if key:
            self.keys[key] = decision.session_id
        self.newest = decision.session_id
        return decision.session_id

    @rule(session=sessions, cancel=st.booleans(), cut=st.booleans())
    def close(self, session: str, cancel: bool, cut: bool) -> None:
        """First wins. With `cut`, whoever closed it died before taking the question away."""
        if session not in self.known:
            return
        self.count += 1
        note = f"n{self.count}"
        question = self.directory / "open" / f"{session}.json"
        kept = question.read_bytes() if question.exists() else None
        decision = self.store.load(session)
        closing = answered(decision, note)
        if cancel:
            closing = closing._replace(state=DecisionState.CANCELLED, answers=(), reason=note)
        if self.known[session].state is not DecisionState.OPEN:
            with pytest.raises(AlreadyClosed):
                self.store.close(closing)
            return
        self.store.close(closing)
        self.known[session] = self.known[session]._replace(state=closing.state, note=note)
        if cut and kept is not None:
            question.write_bytes(kept)

    @rule(session=sessions)
    def collect(self, session: str) -> None:
        if session in self.known:
            self.store.forget_key(self.store.load(session))
            key = self.known[session].key
            if self.keys.get(key) == session:
                del self.keys[key]

    @rule(key=st.sampled_from(["a", "b"]))
    def die_before_the_question_is_there(self, key: str) -> None:
        """The key was written and the question was not: the key stands for nothing."""
        if key in self.keys or not (self.directory / "keys").is_dir():
            return
        decision, _ = self.store.ask(REQUEST, asked(key))
        (self.directory / "open" / f"{decision.session_id}.json").unlink()
        pending = self.directory / "pending.json"
        pending.unlink()
        if self.newest:
            newest = self.store.load(self.newest)
            from siding.asking.decisions.record import open_document
            from siding.ground.storage.documents import write_document

            write_document(pending, open_document(newest))

    @rule(session=sessions)
    def clean(self, session: str) -> None:
        there = self.known.get(session)
        if there is None or there.state is DecisionState.OPEN or session == self.newest:
            return
        self.store.remove(session, self.trash)
        shutil.move(self.trash / f"{session}.json", self.root / f"{session}.{self.count}")
        self.count += 1
        del self.known[session]
        if self.keys.get(there.key) == session:
            del self.keys[there.key]
        with pytest.raises(NotFound):
            self.store.load(session)

    @invariant()
    def everything_is_found_as_it_ended(self) -> None:
        store = self.store
        waiting = {s for s, each in self.known.items() if each.state is DecisionState.OPEN}
        assert set(store.open_ids()) == waiting
        assert set(store.closed_ids()) == self.known.keys() - waiting
        for session, each in self.known.items():
            found = store.load(session)
            assert (found.session_id, found.state) == (session, each.state)
            assert found.request == REQUEST
            if each.state is DecisionState.ANSWERED:
                assert found.answers[1].note == each.note
            elif each.state is DecisionState.CANCELLED:
                assert found.reason == each.note

    @invariant()
    def a_key_finds_its_question(self) -> None:
        for key in ("a", "b"):
            found = self.store.with_key(key)
            assert (found.session_id if found else None) == self.keys.get(key)

    @invariant()
    def a_reader_of_the_seeds_format_sees_the_newest(self) -> None:
        reader = SeedReader(self.directory)
        assert (reader.session_id() or "") == self.newest
        if not self.newest:
            return
        pending = reader.load_pending()
        assert pending is not None
        assert {k: pending[k] for k in ("task", "source", "items")} == simple()
        state = self.known[self.newest].state
        result = reader.load_result()
        if state is DecisionState.OPEN:
            assert result is None
        elif state is DecisionState.CANCELLED:
            assert result == []
        else:
            assert result is not None
            assert [each["chosen"] for each in result] == ["jwt", "bcrypt"]

    def teardown(self) -> None:
        shutil.rmtree(self.root)


StoreMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestStore = StoreMachine.TestCase


def test_sessions_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    store = DecisionStore(tmp_path)
    names = [store.ask(REQUEST, asked())[0].session_id for _ in range(12)]
    assert names == [SECOND, *(f"{SECOND}-{number}" for number in range(2, 13))]
    assert store.open_ids() == names


def test_what_another_program_left_pending_can_be_answered(tmp_path: Path) -> None:
    """The seed's own writer knows of ``pending.json`` only."""
    import json

    meta = {"created_at": AT, "session_id": SECOND}
    (tmp_path / "pending.json").write_text(json.dumps({**simple(), "_meta": meta}, indent=2) + "\n")
    store = DecisionStore(tmp_path)
    assert store.open_ids() == [SECOND]
    store.close(answered(store.load(SECOND)))
    assert store.open_ids() == []
    assert SeedReader(tmp_path).load_result() is not None


def test_an_answer_that_another_program_wrote_is_read(tmp_path: Path) -> None:
    import json

    record = {
        "input": simple(),
        "output": {"decisions": [{"id": 1, "chosen": "jwt"}, {"id": 2, "chosen": "bcrypt"}]},
        "completed_at": AT,
    }
    (tmp_path / f"{SECOND}.json").write_text(json.dumps(record))
    found = DecisionStore(tmp_path).load(SECOND)
    assert (found.state, found.answers[0].values) == (DecisionState.ANSWERED, ("jwt",))


@pytest.mark.parametrize("text", ["", "{", '{"task": 1}', "[]", "\0\0", '{"_meta": {}}'])
def test_a_damaged_pending_is_named_and_keeps_nobody_from_asking(tmp_path: Path, text: str) -> None:
    store = DecisionStore(tmp_path)
    first, _ = store.ask(REQUEST, asked())
    (tmp_path / "pending.json").write_text(text)
    with pytest.raises(DamagedFile, match=r"pending\.json"):
        store.newest()
    assert store.open_ids() == [first.session_id]
    second, _ = store.ask(REQUEST, asked())
    newest = store.newest()
    assert newest is not None
    assert newest.session_id == second.session_id


def test_a_record_in_a_wrong_place_is_no_answer(tmp_path: Path) -> None:
    store = DecisionStore(tmp_path)
    one, two = (store.ask(REQUEST, asked())[0] for _ in range(2))
    store.close(answered(one))
    shutil.copy(tmp_path / f"{one.session_id}.json", tmp_path / f"{two.session_id}.json")
    with pytest.raises(DamagedFile, match="it is the record of"):
        store.load(two.session_id)


@pytest.mark.parametrize("name", ["pending", "../x", "a/b", "", ".."])
def test_a_session_is_a_name_and_nothing_else(tmp_path: Path, name: str) -> None:
    from siding.ground.errors import SidingError

    with pytest.raises(SidingError):
        DecisionStore(tmp_path).load(name)
