"""Going back to a message leaves all that was said behind it, whatever the readers put together."""

from pathlib import Path

import pytest

from siding.agents.transcripts.branches import rewind_session
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.store import SessionStore
from siding.ground.storage.writes import encode_line

from .building import SESSION, at, called, result, said, writer_of


def parallel_calls() -> list[Record]:
    """Return a conversation in which one answer made three calls, a line each."""
    return [
        said("u1", None, 1),
        called("a1", "u1", 2, "t1", answer="M"),
        called("a2", "a1", 3, "t2", answer="M"),
        result("r1", "a1", 4, "t1"),
        called("a3", "a2", 5, "t3", answer="M"),
        result("r3", "a3", 6, "t3"),
        result("r2", "a2", 7, "t2"),
        said("a4", "r2", 8, "assistant"),
        said("u2", "a4", 9),
    ]


def shown(store: SessionStore) -> list[str]:
    with Transcript.live(store.layout(SESSION).transcript) as transcript:
        return [head.uuid for head in transcript.chain()]


@pytest.mark.parametrize("place", range(9))
@pytest.mark.parametrize("answered", [False, True])
def test_behind_any_message_of_an_answer(tmp_path: Path, place: int, answered: bool) -> None:
    store = SessionStore(tmp_path)
    path = store.layout(SESSION).transcript
    path.write_bytes(b"".join(encode_line(each) + b"\n" for each in parallel_calls()))
    before = shown(store)
    with writer_of(store) as writer, store.live(SESSION) as transcript:
        rewind_session(writer, transcript, before[place], now=at(20), uuid="back")
    left = [*before[: place + 1], "back"]
    assert shown(store) == left
    if answered:
        with writer_of(store) as writer:
            writer.append([said("u9", None, 30)])
        left.append("u9")
    with Transcript.whole(path) as whole:
        assert [head.uuid for head in whole.chain()] == left
    with Transcript.unsettled(path) as everything:
        assert set(everything.tree.heads) >= set(before)
