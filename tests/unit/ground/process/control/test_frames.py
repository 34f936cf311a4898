"""The messages on a run's control socket."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.process.control import frames
from siding.ground.process.control.frames import BadFrame, Frame, take_frames

MESSAGES = st.lists(st.tuples(st.sampled_from([b"t", b"o", b"?"]), st.binary(max_size=40)))


def taken(data: bytes, cuts: list[int]) -> list[Frame]:
    """Receive `data` in pieces that end at `cuts`; return the messages."""
    received, start = bytearray(), 0
    found: list[Frame] = []
    for end in [*sorted(cuts), len(data)]:
        received += data[start:end]
        start = max(start, end)
        found += take_frames(received)
    assert not received
    return found


@given(messages=MESSAGES, cuts=st.lists(st.integers(0, 200)))
def test_messages_arrive_as_they_were_sent_wherever_they_are_cut(
    messages: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    data = b"".join(frames.encode(*message) for message in messages)
    assert taken(data, [min(cut, len(data)) for cut in cuts]) == messages


def test_much_data_is_several_messages() -> None:
    data = bytes(range(256)) * 1024
    found = taken(b"".join(frames.encode_long(b"o", data)), [])
    assert len(found) == 4
    assert b"".join(frame.data for frame in found) == data


def test_a_message_that_is_too_long_is_refused_before_it_comes() -> None:
    received = bytearray(frames.encode(b"t", b"x")[:1] + (frames.LONGEST + 1).to_bytes(4, "big"))
    with pytest.raises(BadFrame):
        list(take_frames(received))


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"{", b"\xff", b"nope"])
def test_fields_that_are_no_object_are_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        Frame(b"h", data).fields()


@pytest.mark.parametrize(("value", "found"), [(3, 3), (-1, 0), (11, 0), ("3", 0), (True, 0)])
def test_numbers_are_checked(value: object, found: int) -> None:
    assert frames.number(value, most=10) == found


@pytest.mark.parametrize("platform", [sys.platform, "darwin"])
@pytest.mark.parametrize("length", [103, 104, 107, 108, 300])
def test_a_socket_may_have_a_path_of_any_length(
    monkeypatch: pytest.MonkeyPatch, platform: str, length: int
) -> None:
    """Linux takes 107 bytes in an address, macOS 103: see unix(4) there, `sun_path[104]`."""
    with TemporaryDirectory(dir="/tmp") as top:
        directory = top
        while length - len(directory) > 140:
            directory += "/" + "d" * 100
        directory += "/" + "d" * (length - len(directory) - 3)
        path = Path(directory) / "s"
        path.parent.mkdir(parents=True)
        assert len(str(path)) == length
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(os, "urandom", bytes)
        if platform == "darwin":
            monkeypatch.setattr(frames, "_LONGEST", 103)
        listener = frames.listen_at(path)
        connected = frames.connect_to(path)
        assert path.is_socket()
        listener.close()
        connected.close()
    assert not os.path.lexists(f"/tmp/siding-{bytes(8).hex()}")
