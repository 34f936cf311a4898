"""A conversation under way: what it remembers is what its file says, whatever happens."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from siding.agents.transcripts.compaction import Trigger
from siding.agents.transcripts.reading.recovery import CUT_OFF_RESULT
from siding.agents.transcripts.reading.views import Spoken
from siding.agents.transcripts.session import AnswerPart, Session, Source, UnstoredLines
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp
from siding.ground.errors import UsageError
from siding.ground.storage.locks import LockBusy

USAGE = {"input_tokens": 7, "output_tokens": 3}
ID = "5a3d1c2e-0000-4000-8000-000000000001"


@pytest.fixture
def source() -> Source:
    numbers: Iterator[int] = count(1)
    return Source(
        new_id=lambda: f"00000000-0000-4000-8000-{next(numbers):012}",
        now=lambda: f"2026-11-25T10:00:00.{next(numbers):03}Z",
    )


@pytest.fixture
def opened(tmp_path: Path, source: Source) -> Callable[[], Session]:
    stamp = Stamp(cwd=str(tmp_path), version="1.0.0")
    return lambda: Session.open(SessionStore(tmp_path), ID, stamp=stamp, source=source)


def text(answer: str, said: str, **more: Any) -> AnswerPart:
    return AnswerPart(answer, "m", {"type": "text", "text": said}, USAGE, **more)


def call(answer: str, name: str) -> AnswerPart:
    block = {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": "a"}}
    return AnswerPart(answer, "m", block, USAGE)


def words(spoken: list[Spoken]) -> list[tuple[str, list[str]]]:
    """Return who said what, a word a block."""
    said = []
    for each in spoken:
        blocks = [{"type": "text", "text": each.content}] * isinstance(each.content, str)
        found = blocks or each.content
        said.append((each.role, [_word(block) for block in found]))
    return said


def _word(block: dict[str, Any]) -> str:
    if block["type"] == "tool_use":
        return f"call {block['id']}"
    if block["type"] == "tool_result":
        return f"result {block['tool_use_id']}: {block['content']}"
    return str(block["text"])


def test_a_conversation_is_the_same_when_it_is_opened_again(opened: Callable[[], Session]) -> None:
    with opened() as session:
        session.user("Read a", turn="t1")
        session.said(text("one", "I look."))
        session.said(call("one", "c1"))
        session.said(call("one", "c2"))
        session.result("c2", "two")
        session.result("c1", "one", is_error=True, details={"file": "a"})
        session.said(text("two", "Done.", stop_reason="end_turn", kept={"provider": "p"}))
        session.user("And b")
        before = session.context()
    assert words(before) == [
        ("user", ["Read a"]),
        ("assistant", ["I look.", "call c1", "call c2"]),
        ("user", ["result c1: one", "result c2: two"]),
        ("assistant", ["Done."]),
        ("user", ["And b"]),
    ]
    assert [each.kept for each in before][3] == {"provider": "p"}
    with opened() as again:
        assert again.context() == before
        assert again.records[0]["promptId"] == "t1"


def test_a_prompt_and_a_call_are_on_the_disk_at_once(
    opened: Callable[[], Session], tmp_path: Path
) -> None:
    """If the power fails while the tool runs, the file must say what was run."""
    file = tmp_path / f"{ID}.jsonl"
    with opened() as session:
        session.user("Read a")
        assert "Read a" in file.read_text()
        session.said(call("one", "c1"))
        assert '"c1"' in file.read_text()


def test_calls_of_who_was_killed_are_open_and_answered_as_cut_off(
    opened: Callable[[], Session],
) -> None:
    with opened() as session:
        session.user("Read a")
        session.said(call("one", "c1"))
        session.said(call("one", "c2"))
        session.result("c1", "one")
    with opened() as again:
        assert [each["id"] for each in again.open_calls()] == ["c2"]
        last = words(again.context())[-1]
        assert last == ("user", ["result c1: one", f"result c2: {CUT_OFF_RESULT}"])
        again.result("c2", "two after all")
        assert again.open_calls() == []
        assert words(again.context())[-1][1][1] == "result c2: two after all"


def test_an_answer_is_withdrawn_with_the_results_of_its_calls(
    opened: Callable[[], Session],
) -> None:
    with opened() as session:
        session.user("Read a")
        session.said(text("one", "I look."))
        session.said(call("one", "c1"))
        session.result("c1", "one")
        assert len(session.withdraw("one")) == 3
        session.said(text("two", "Hello."))
        before = session.context()
        assert words(before) == [("user", ["Read a"]), ("assistant", ["Hello."])]
    with opened() as again:
        assert again.context() == before


def test_a_compaction_leaves_the_summary_and_what_is_kept(opened: Callable[[], Session]) -> None:
    with opened() as session:
        session.user("Read a")
        session.said(text("one", "It says one."))
        kept = session.user("And b")["uuid"]
        session.compact("The file a says one.", trigger=Trigger.AUTO, tokens=9, keep_from=kept)
        session.said(text("two", "It says two."))
        before = session.context()
        assert [role for role, _ in words(before)] == ["user", "assistant"]
        first = words(before)[0][1]
        assert first[0].endswith("The file a says one.")
        assert first[1] == "And b"
    with opened() as again:
        assert again.context() == before


def test_an_empty_conversation_cannot_be_compacted(opened: Callable[[], Session]) -> None:
    with opened() as session, pytest.raises(UsageError, match="nothing to compact"):
        session.compact("x", trigger=Trigger.MANUAL, tokens=0)


def test_another_text_is_shown_in_the_place_of_a_result(opened: Callable[[], Session]) -> None:
    with opened() as session:
        session.user("Read a")
        session.said(call("one", "c1"))
        session.result("c1", "a long text")
        session.said(text("two", "Done."))
        assert "a long text" in str(session.context())
        session.replace("c1", "[cleared]")
        before = session.context()
        assert words(before)[2] == ("user", ["result c1: [cleared]"])
    with opened() as again:
        assert again.context() == before


def test_it_goes_back_and_forth_between_branches(opened: Callable[[], Session]) -> None:
    with opened() as session:
        first = session.user("One")["uuid"]
        done = session.said(text("one", "First."))["uuid"]
        session.user("Two")
        left = session.said(text("two", "Second."))["uuid"]
        session.rewind(done)
        assert words(session.context()) == [("user", ["One"]), ("assistant", ["First."])]
        session.user("Three")
        session.rewind(left)
        assert words(session.context())[-1] == ("assistant", ["Second."])
        session.rewind(first)
        assert words(session.context()) == [("user", ["One"])]
    with opened() as again:
        assert words(again.context()) == [("user", ["One"])]


def test_a_branch_begins_with_what_was_said(
    opened: Callable[[], Session], tmp_path: Path, source: Source
) -> None:
    other = "5a3d1c2e-0000-4000-8000-000000000002"
    with opened() as session:
        session.user("One")
        session.said(text("one", "First."))
        assert "One" in session.branch(other)
        session.user("Two")
    stamp = Stamp(cwd=str(tmp_path), version="1.0.0")
    with Session.open(SessionStore(tmp_path), other, stamp=stamp, source=source) as branch:
        assert words(branch.context()) == [("user", ["One"]), ("assistant", ["First."])]


def test_one_process_writes_to_a_conversation(opened: Callable[[], Session]) -> None:
    with opened() as session:
        session.user("One")
        with pytest.raises(LockBusy):
            opened()


def test_a_failure_is_shown_to_people_only(opened: Callable[[], Session]) -> None:
    with opened() as session:
        session.user("One")
        session.failed("the server said 401")
        assert words(session.context()) == [("user", ["One"])]
        assert session.records[-1]["isApiErrorMessage"] is True


def test_a_conversation_need_not_be_kept(source: Source, tmp_path: Path) -> None:
    with Session(ID, UnstoredLines(source), source) as session:
        session.user("One")
        session.said(call("one", "c1"))
        session.result("c1", "one")
        session.withdraw("one")
        session.said(text("two", "Hello."))
        assert words(session.context()) == [("user", ["One"]), ("assistant", ["Hello."])]
    assert list(tmp_path.iterdir()) == []


def test_results_may_come_while_the_answer_goes_on(opened: Callable[[], Session]) -> None:
    """A tool that only reads runs while the model still speaks."""
    with opened() as session:
        session.user("Read a and b")
        for number in range(3):
            session.said(call("one", f"c{number}"))
            session.context()
            session.result(f"c{number}", str(number))
            session.context()
        expected = [
            ("user", ["Read a and b"]),
            ("assistant", ["call c0", "call c1", "call c2"]),
            ("user", ["result c0: 0", "result c1: 1", "result c2: 2"]),
        ]
        assert words(session.context()) == expected
    with opened() as again:
        assert words(again.context()) == expected


def test_making_the_context_does_not_depend_on_how_often_it_is_asked_for(
    opened: Callable[[], Session],
) -> None:
    """What is settled is made once: asking in between changes nothing of it."""
    with opened() as session:
        for turn in range(6):
            session.user(f"prompt {turn}")
            session.context()
            session.said(text(f"a{turn}", "I look."))
            session.context()
            session.said(call(f"a{turn}", f"c{turn}"))
            session.context()
            session.result(f"c{turn}", "x")
            session.said(text(f"b{turn}", "Done."))
        asked_often = session.context()
    with opened() as again:
        assert again.context() == asked_often
