"""A conversation of the agent, written as the agent writes it, at times that are given."""

from typing import NamedTuple

from integration.undo.desk import Desk
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.session import AnswerPart, Session, Source
from siding.agents.transcripts.writer import Stamp
from siding.sessions.shelf import store_of

ID = "aaaaaaaa-0000-4000-8000-000000000001"


class Minutes:
    """A clock that stands until it is set on."""

    def __init__(self) -> None:
        self.seconds = 0
        self._ids = 0

    def now(self) -> str:
        minutes, seconds = divmod(self.seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return f"2026-11-25T{10 + hours:02d}:{minutes:02d}:{seconds:02d}.000Z"

    def new_id(self) -> str:
        self._ids += 1
        return f"bbbbbbbb-0000-4000-8000-{self._ids:012d}"


class Asked(NamedTuple):
    """The tokens of one request: sent anew, read from the cache, put into it, answered."""

    input: int = 10
    read: int = 0
    write: int = 0
    output: int = 5


USUAL = Asked()


class Talk:
    """A conversation that grows."""

    def __init__(self, desk: Desk, session_id: str = ID) -> None:
        self.clock = Minutes()
        self.session = Session.open(
            store_of(desk.project),
            session_id,
            stamp=Stamp(cwd=str(desk.root), version="1"),
            source=Source(new_id=self.clock.new_id, now=self.clock.now),
        )
        self._answers = 0

    def wait(self, seconds: int) -> None:
        self.clock.seconds += seconds

    def prompt(self, text: str, turn: str = "") -> None:
        self.session.user(text, turn=turn)

    def answer(self, block: Record, asked: Asked = USUAL, model: str = "scripted") -> None:
        self._answers += 1
        usage = {
            "input_tokens": asked.input,
            "cache_read_input_tokens": asked.read,
            "cache_creation_input_tokens": asked.write,
            "output_tokens": asked.output,
        }
        self.session.said(AnswerPart(f"msg_{self._answers}", model, block, usage, "end_turn"))

    def text(self, text: str, asked: Asked = USUAL, model: str = "scripted") -> None:
        self.answer({"type": "text", "text": text}, asked, model)

    def call(self, call: str, name: str, given: Record) -> None:
        self.answer({"type": "tool_use", "id": call, "name": name, "input": given})

    def result(self, call: str, text: str, *, is_error: bool = False) -> None:
        self.session.result(call, text, is_error=is_error, details={"lines": 1})

    def close(self) -> None:
        self.session.close()


def fixed(desk: Desk) -> None:
    """Write a conversation of two turns: a fix with calls, and a question."""
    talk = Talk(desk)
    talk.prompt("fix the parser\nplease", "turn-1")
    talk.wait(2)
    talk.call("toolu_1", "Read", {"file_path": "a.py"})
    talk.wait(1)
    talk.result("toolu_1", "x" * 300)
    talk.call("toolu_2", "Bash", {"command": "make test"})
    talk.wait(7)
    talk.result("toolu_2", "2 failed", is_error=True)
    talk.text("It is fixed.")
    talk.wait(60)
    talk.prompt("really?", "turn-2")
    talk.wait(3)
    talk.text("Yes.")
    talk.close()
