"""How far a request and an answer go, and what is refused because it can be read in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.sandbox.wire.heads import (
    LONGEST_HEAD,
    BadHead,
    RequestReader,
    ResponseReader,
    without_hops,
)
from unit.sandbox.wire.test_answers import CUTS, pieces

HEAD = b"POST /abc/v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:1\r\nX-Api-Key:  k \r\n"
SIZED = HEAD + b"Content-Length: 5\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNKS = b"5;ext=1\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n"


def read(data: bytes, cuts: list[int]) -> tuple[bytes, bytes, bytes]:
    """Return the head, the bytes of the body, and what came behind them."""
    reader, head, body, behind = RequestReader(), b"", b"", b""
    for part in pieces(data, cuts):
        rest = part
        if not head:
            found = reader.head(part)
            if found is None:
                continue
            head, rest = found[0].raw, found[1]
        own = b""
        if not reader.is_over:
            own, rest = reader.body(rest)
        body, behind = body + own, behind + rest
    assert reader.is_over
    return head, body, behind


class TestRequests:
    @given(
        st.sampled_from([(SIZED, b"hello"), (CHUNKED, CHUNKS), (HEAD + b"\r\n", b"")]),
        st.sampled_from([b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"]),
        CUTS,
    )
    def test_end_where_they_end(
        self, request_of: tuple[bytes, bytes], behind: bytes, cuts: list[int]
    ) -> None:
        head, body = request_of
        assert read(head + body + behind, cuts) == (head, body, behind)

    def test_are_told_another_target_and_host_and_keep_every_other_byte(self) -> None:
        found = RequestReader().head(SIZED)
        assert found is not None
        changed = found[0].redirected("/v1/messages?beta=true", "api.example.org")
        assert changed == SIZED.replace(b"/abc/", b"/").replace(b"127.0.0.1:1", b"api.example.org")

    def test_lose_what_is_for_a_proxy_alone(self) -> None:
        head = (
            b"GET / HTTP/1.1\r\nProxy-Connection: x\r\nproxy-authorization: Basic y\r\nA: b\r\n\r\n"
        )
        assert without_hops(head) == b"GET / HTTP/1.1\r\nA: b\r\n\r\n"

    @pytest.mark.parametrize(
        "head",
        [
            HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            HEAD + b"Content-Length: 5, 6\r\n\r\n",
            HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            HEAD + b"Transfer-Encoding: xchunked\r\n\r\n",
            HEAD + b"Transfer-Encoding : chunked\r\n\r\n",
            HEAD + b"Content-Length: +5\r\n\r\n",
            HEAD + b"Host: b\r\n\r\n",
            HEAD + b"X: 1\nY: 1\r\n\r\n",
            HEAD + b"X: 1\r\n Host: b\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1 x\r\nHost: a\r\n\r\n",
            b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
            b"\x16\x03\x01\x02\x00\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\n",
        ],
    )
    def test_that_can_be_read_in_two_ways_are_refused(self, head: bytes) -> None:
        with pytest.raises(BadHead):
            RequestReader().head(head)

    def test_with_a_head_without_end_are_refused(self) -> None:
        reader = RequestReader()
        for _ in range(LONGEST_HEAD // 1024):
            assert reader.head(b"x" * 1024) is None
        with pytest.raises(BadHead) as refused:
            reader.head(b"x")
        assert refused.value.status == 431

    def test_with_broken_chunks_are_refused(self) -> None:
        reader = RequestReader()
        reader.head(CHUNKED)
        with pytest.raises(BadHead):
            reader.body(b"zz\r\n")


def response(data: bytes, head: bytes = SIZED) -> tuple[ResponseReader, bytes]:
    found = RequestReader().head(head)
    assert found is not None
    reader = ResponseReader(found[0])
    return reader, b"".join(reader.feed(data))


class TestResponses:
    def test_of_known_length_are_over_at_their_end(self) -> None:
        reader, body = response(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        assert (body, reader.is_over, reader.closes) == (b"ok", True, False)

    def test_of_unknown_length_are_over_with_the_connection(self) -> None:
        reader, body = response(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")
        assert (body, reader.is_over) == (b"ok", False)
        reader.feed(b"")
        assert reader.is_over
        assert reader.closes

    def test_that_are_cut_are_never_over(self) -> None:
        for start in (
            b"Content-Length: 3\r\n\r\nok",
            b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        ):
            reader, _body = response(b"HTTP/1.1 200 OK\r\n" + start)
            reader.feed(b"")
            assert not reader.is_over

    def test_without_a_body_are_over_at_once(self) -> None:
        reader, _body = response(
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"HEAD" + SIZED[4:]
        )
        assert reader.is_over

    def test_may_come_after_others_that_only_inform(self) -> None:
        data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n"
        reader, _body = response(data)
        assert reader.head is not None
        assert (reader.head.status, reader.is_over) == (204, True)

    def test_that_change_the_protocol_are_not_read_on(self) -> None:
        asks = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        data = b"HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x01a"
        reader, _body = response(data, asks)
        assert reader.is_upgraded
        assert not reader.is_odd

    def test_that_are_no_http_are_let_pass_unread(self) -> None:
        reader, body = response(b"ICY 200 OK\r\n\r\nmusic")
        assert (reader.is_odd, body) == (True, b"")
