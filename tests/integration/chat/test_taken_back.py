"""What is taken back of an agent's work while its conversation rests, the agent is told.

One that can go back is told only if that is wanted (`test_going_back`).
"""

from .talks import Conversation

ANSWER = ("decide", "answer", "--choose", "1=run")
GONE = "Taken back: your work on “edit {}”"


def edits(talk: Conversation, name: str, turns: int) -> None:
    """Have the agent write a file in a turn, and allow it."""
    said = f"edit {name} {name}"
    if turns == 1:
        talk.begin(said)
    else:
        talk.says("send", said)
    talk.until(lambda: len(talk.events("put")) == turns)
    talk.sandbox.siding(*ANSWER)
    talk.until(lambda: len(talk.events("recorded")) == turns)


def told(talk: Conversation) -> list[str]:
    return [each["text"] for each in talk.events("informed")]


def test_an_agent_is_told_what_was_taken_back_and_done_again(talk: Conversation) -> None:
    workspace = talk.sandbox.workspace
    for number, name in enumerate(("a.txt", "b.txt", "c.txt"), start=1):
        edits(talk, name, number)
    steps = [each["step"] for each in talk.events("recorded")]
    assert steps == [1, 2, 3]
    talk.sandbox.siding("undo")
    assert not (workspace() / "c.txt").exists()
    talk.says("send", "--remember", "and now")
    talk.until_text("You said: and now")
    (news,) = told(talk)
    assert GONE.format("c.txt c.txt") in news
    assert f"You said: {news}" in talk.text()
    talk.until(lambda: len(talk.events("recorded")) == 4)
    talk.says("send", "and again")
    talk.until_text("You said: and again")
    assert len(told(talk)) == 1  # it is told once
    talk.until(lambda: len(talk.events("recorded")) == 5)
    talk.sandbox.siding("rollback", "--step", "1")
    assert not (workspace() / "b.txt").exists()
    talk.says("send", "--remember", "at last")
    talk.until_text("You said: at last")
    assert GONE.format("b.txt b.txt") in told(talk)[-1]


def test_it_is_told_by_the_next_host_too(talk: Conversation) -> None:
    edits(talk, "a.txt", 1)
    edits(talk, "b.txt", 2)
    talk.end()
    talk.sandbox.siding("undo")
    talk.says("send", "--remember", "and now")
    talk.until_text("You said: and now")
    (news,) = told(talk)
    assert GONE.format("b.txt b.txt") in news
    assert "a.txt" not in news
