"""Which lines of a conversation have to be on the disk when the call that writes them returns."""

from collections.abc import Iterable
from itertools import count

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.session import AnswerPart, Session, Source, UnstoredLines


class Noting(UnstoredLines):
    """Takes lines, and notes whether they had to be durable."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.durable: list[bool] = []

    def append(self, messages: Iterable[Record], *, durable: bool = False) -> list[Record]:
        self.durable.append(durable)
        return super().append(messages, durable=durable)


def test_a_prompt_has_to_be_whoever_wrote_it() -> None:
    numbers = count(1)
    source = Source(lambda: f"u{next(numbers)}", lambda: "2026-01-01T00:00:00Z")
    lines = Noting(source)
    session = Session("s", lines, source)
    session.user("a prompt")
    session.user("hidden", hidden=True)
    session.said(AnswerPart("a", "m", {"type": "text", "text": "hello"}, {}))
    session.result("c", "done")
    session.failed("no")
    assert lines.durable == [True, True, False, False, False]
