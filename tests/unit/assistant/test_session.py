"""What the model sees is made once, and is still what a fresh look shows."""

from itertools import count

from siding.agents.transcripts.session import AnswerPart, Session, Source, UnstoredLines
from siding.assistant.session import SessionConversation


def session() -> Session:
    numbers = count(1)
    source = Source(new_id=lambda: f"id-{next(numbers)}", now=lambda: "2026-01-01T00:00:00Z")
    return Session("s", UnstoredLines(source), source)


def said(open_session: Session, number: int) -> None:
    open_session.user(f"prompt {number}")
    block = {"type": "text", "text": f"answer {number}"}
    open_session.said(AnswerPart(f"a-{number}", "m", block, {}, "end_turn"))


def test_what_is_settled_is_made_once() -> None:
    talk = session()
    conversation = SessionConversation(talk)
    for number in range(5):
        said(talk, number)
    before = conversation.context()
    said(talk, 5)
    after = conversation.context()
    assert len(after) == 12
    assert sum(one is other for one, other in zip(before, after, strict=False)) >= 8
    assert after == SessionConversation(talk).context()


def test_what_is_withdrawn_is_not_shown_any_more() -> None:
    talk = session()
    conversation = SessionConversation(talk)
    for number in range(3):
        said(talk, number)
    assert "answer 1" in str(conversation.context())
    talk.withdraw("a-1")
    assert "answer 1" not in str(conversation.context())
    assert conversation.context() == SessionConversation(talk).context()
