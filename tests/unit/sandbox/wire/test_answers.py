"""What is read from the copy of an answer, however it is cut into pieces and encoded."""

import gzip
import zlib
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.wire.tokens import Said, Tokens, said_in
from siding.sandbox.wire import exchange
from siding.sandbox.wire.exchange import AnswerReader
from unit.sandbox.wire.answers import ANSWERS, Answer, stream

NAMED = pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
PLAIN: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}
CUTS = st.lists(st.integers(0, 5000), max_size=12)


def pieces(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Return data in pieces, cut at these places."""
    ends = [*sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def read(content_type: str, parts: Sequence[bytes], encoding: str = "") -> AnswerReader:
    reader = AnswerReader(content_type, encoding)
    for part in parts:
        reader.feed(part)
    reader.end()
    return reader


class TestCounts:
    @NAMED
    @pytest.mark.parametrize("encoding", PLAIN)
    def test_are_those_of_the_answer(self, answer: Answer, encoding: str) -> None:
        found = read(answer.content_type, [PLAIN[encoding](answer.body)], encoding)
        assert found.said == Said(
            answer.model, answer.tokens, is_finished=answer.is_finished, is_known=True
        )
        assert not found.uncounted

    @given(st.sampled_from(ANSWERS), st.sampled_from(sorted(PLAIN)), CUTS)
    def test_do_not_depend_on_the_pieces(
        self, answer: Answer, encoding: str, cuts: list[int]
    ) -> None:
        data = PLAIN[encoding](answer.body)
        found = read(answer.content_type, pieces(data, cuts), encoding)
        assert found.said == read(answer.content_type, [data], encoding).said

    @NAMED
    def test_are_the_same_byte_by_byte(self, answer: Answer) -> None:
        parts = [answer.body[at : at + 1] for at in range(len(answer.body))]
        assert read(answer.content_type, parts).said.tokens == answer.tokens


class TestNotCounted:
    def test_in_an_encoding_that_nobody_can_undo(self) -> None:
        found = read("application/json", [b"\x1b\x00"], "br-of-a-later-day")
        assert found.uncounted == "it is encoded as br-of-a-later-day"
        assert found.said == Said()

    def test_if_it_is_not_encoded_as_it_says(self) -> None:
        found = read("application/json", [b'{"usage": {"input_tokens": 1}}'], "gzip")
        assert "not encoded as it says" in found.uncounted

    def test_if_one_piece_is_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(exchange, "LONGEST", 100)
        for kind in ("application/json", "text/event-stream"):
            assert "in one piece" in read(kind, [b"data: " + b"x" * 200]).uncounted

    @pytest.mark.parametrize("body", [b"[1, 2", b"null", b'"usage"', b"[[]]", b"[" * 100_000])
    def test_if_it_is_something_else(self, body: bytes) -> None:
        assert read("application/json", [body]).said == Said()
        assert read("text/event-stream", [b"data: ", body, b"\n\n"]).said == Said()

    def test_of_text(self) -> None:
        assert read("text/html", [b'{"usage": {"input_tokens": 1}}']).said == Said()


class TestErrors:
    @pytest.mark.parametrize(
        ("event", "word"),
        [
            ({"type": "error", "error": {"type": "overloaded_error"}}, "overloaded_error"),
            ({"error": {"message": "no", "type": "insufficient_quota"}}, "insufficient_quota"),
            ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, "RESOURCE_EXHAUSTED"),
            ({"error": {"message": "sk-not-to-be-kept is no key"}}, "error"),
            (
                {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
                "server_error",
            ),
        ],
    )
    def test_are_the_words_of_the_api(self, event: dict[str, object], word: str) -> None:
        assert said_in(event).error == word
        assert read("text/event-stream", [stream([event], named=False)]).said.error == word

    def test_keep_what_was_counted_before(self) -> None:
        whole = ANSWERS[0].body.split(b"event: content_block_start")[0]
        broken = whole + stream([{"type": "error", "error": {"type": "overloaded_error"}}])
        said = read("text/event-stream", [broken]).said
        assert said.error == "overloaded_error"
        assert said.tokens == ANSWERS[0].tokens._replace(output=1)
        assert not said.is_finished


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_counts_of_any_type_are_no_failure(value: object) -> None:
    for usage in (
        {"input_tokens": value},
        {"input_tokens_details": value},
        {"cache_creation": value},
    ):
        for kind in ("message", "message_delta", "response.completed", ""):
            found = said_in({"type": kind, "usage": usage, "message": value, "model": value})
            assert found.tokens is None or isinstance(found.tokens, Tokens)
