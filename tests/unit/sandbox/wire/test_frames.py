"""Frames of a WebSocket are read from a copy, however they are cut, fragmented and deflated."""

import json
import zlib
from collections.abc import Callable

import pytest

from agents.sockets import frame, masked
from siding.record.wire.journal import Ending, Kind, Passed
from siding.sandbox.wire.exchange import SocketCalls
from siding.sandbox.wire.frames import LONGEST, FrameReader, MessageReader, NotFrames

TEXTS = [b"a", b"b" * 125, b"c" * 126, b"d" * 70_000]
TEXT, MORE, PING, LAST, DEFLATED = 1, 0, 9, 0x80, 0x40


def deflating() -> Callable[[bytes], bytes]:
    """Return what deflates one message after the other, as a server that keeps its window does."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)

    def deflated(data: bytes) -> bytes:
        packed = packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
        return packed.removesuffix(b"\x00\x00\xff\xff")

    return deflated


@pytest.mark.parametrize("size", [1, 2, 3, 1000, 1 << 20])
def test_messages_come_whole_however_they_are_cut(size: int) -> None:
    data = b"".join(map(frame, TEXTS))
    reader, found = MessageReader(""), list[bytes]()
    for at in range(0, len(data), size):
        found += reader.feed(data[at : at + size])
    assert found == TEXTS


def test_a_message_of_several_frames_with_a_ping_in_between() -> None:
    parts = [frame(b"ab", TEXT), frame(b"?", LAST | PING), frame(b"cd", MORE)]
    assert MessageReader("").feed(b"".join([*parts, frame(b"ef", LAST | MORE)])) == [b"abcdef"]


@pytest.mark.parametrize(
    "keeps", ["permessage-deflate", "permessage-deflate; server_max_window_bits=15"]
)
def test_messages_that_are_deflated(keeps: str) -> None:
    deflated, reader = deflating(), MessageReader(keeps)
    for text in [b"the same words " * 20] * 3:
        assert reader.feed(frame(deflated(text), LAST | DEFLATED | TEXT)) == [text]
    assert reader.feed(frame(b"plain")) == [b"plain"]
    packed = deflated(b"in two frames")
    both = frame(packed[:4], DEFLATED | TEXT) + frame(packed[4:], LAST | MORE)
    assert reader.feed(both) == [b"in two frames"]


def test_a_client_s_frame_is_unmasked_at_its_beginning() -> None:
    (found,) = FrameReader().feed(masked(b"0123456789" * 1000, mask=b"\x01\xff\x00\x7f"))
    assert (found.size, found.payload) == (10_000, (b"0123456789" * 1000)[:4096])


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(NotFrames, match="MiB"):
        FrameReader().feed(b"\x81\x7f" + (LONGEST + 1).to_bytes(8, "big"))
    with pytest.raises(NotFrames, match="'x-other'"):
        MessageReader("permessage-deflate, x-other; a=1").feed(b"")
    with pytest.raises(NotFrames, match="not deflated"):
        MessageReader("permessage-deflate").feed(frame(b"\xff\xff", LAST | DEFLATED | TEXT))


class Socket:
    """A WebSocket in which calls are measured, at a clock that the test moves."""

    def __init__(self) -> None:
        self.ms = 0.0
        opened = Passed(at="0", kind=Kind.REQUEST, host="h", status=101, ended="whole")
        self.calls = SocketCalls(opened, "", at=lambda: f"{self.ms}", now=lambda: self.ms)

    def asks(self, **question: object) -> None:
        self.calls.sends(masked(json.dumps(question).encode()))

    def says(self, kind: str, **response: object) -> list[Passed]:
        said = {"type": kind, "response": response}
        return self.calls.receives(frame(json.dumps(said).encode()))


def test_each_call_is_a_line_and_so_is_the_connection() -> None:
    socket = Socket()
    for number in (1, 2):
        socket.asks(type="response.create", model=f"model-{number}")
        socket.ms += 5
        assert socket.says("response.created") == []
        socket.ms += 5
        usage = {"input_tokens": 10 * number, "output_tokens": number}
        (line,) = socket.says("response.completed", usage=usage)
        assert line.tokens is not None
        assert (line.tokens.input, line.tokens.output) == (10 * number, number)
        assert (line.model, line.first_ms, line.ms) == (f"model-{number}", 5, 10)
        assert (line.status, line.ended, line.why) == (101, "whole", "")
    (opened,) = socket.calls.ended(Ending.LEFT)
    assert (opened.tokens, opened.ended, opened.why, opened.ms) == (None, "whole", "", 20)


def test_a_call_that_is_cut_and_one_that_fails() -> None:
    socket = Socket()
    socket.asks(type="response.create")
    (line,) = socket.says("response.failed", error={"code": "rate_limit_exceeded"})
    assert (line.error, line.failed) == ("rate_limit_exceeded", True)
    socket.asks(type="response.create")
    socket.says("response.created")
    cut, _opened = socket.calls.ended(Ending.CUT)
    assert (cut.ended, cut.tokens) == ("cut", None)


def test_a_call_that_gets_no_word_is_one_where_others_were_understood() -> None:
    socket = Socket()
    socket.asks(type="response.create")
    assert len(socket.says("response.completed", usage={"input_tokens": 1})) == 1
    socket.asks(type="response.create", model="m")
    cut, _opened = socket.calls.ended(Ending.CUT)
    assert (cut.ended, cut.model, cut.first_ms) == ("cut", "m", 0)


def test_what_a_client_asks_for_ahead_is_no_call() -> None:
    socket = Socket()
    socket.asks(type="response.create", generate=False)
    (line,) = socket.says("response.completed", usage={"input_tokens": 0, "output_tokens": 0})
    assert line.tokens is None


@pytest.mark.parametrize("data", [b"", frame(b'{"hello": 1}'), b"\x81\x7f" + b"\xff" * 8])
def test_a_connection_in_which_nothing_is_understood_is_not_counted(data: bytes) -> None:
    socket = Socket()
    socket.asks(what="ever")
    assert socket.calls.receives(data) == []
    (opened,) = socket.calls.ended(Ending.LEFT)
    assert opened.why
