"""The gate judges the same bytes in the same way, however they arrive."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from siding.faces.web.guard import MAX_HEAD_BYTES, Gate, RefusedRequest

PORT = 4000
GET = b"GET /tasks/a1?x=1 HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n"
POST = (
    b"POST /api/v1/tasks HTTP/1.1\r\nHost: localhost:4000\r\nContent-Type: application/json\r\n"
    b"Content-Length: 2\r\n\r\n{}"
)


def outcome(pieces: list[bytes]) -> tuple[bytes, int]:
    """Return what passed, and the status of a refusal (0 for none)."""
    gate = Gate(PORT)
    passed = b""
    for piece in pieces:
        try:
            passed += gate.feed(piece)
        except RefusedRequest as refused:
            return passed, refused.status
    return passed, 0


def cut(raw: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(raw) + 1) for place in places), len(raw)]
    return [raw[a:b] for a, b in pairwise(edges)]


@given(
    raw=st.sampled_from([GET, POST, GET + POST + GET, POST.replace(b"4000", b"4001"), GET[:-3]]),
    places=st.lists(st.integers(min_value=0, max_value=1000), max_size=12),
)
def test_it_does_not_matter_how_the_bytes_arrive(raw: bytes, places: list[int]) -> None:
    whole, status = outcome([raw])
    pieces, piecewise = outcome(cut(raw, places))
    assert status == piecewise
    if status == 0:
        assert whole == pieces


@given(st.binary(max_size=300))
def test_what_passes_is_only_ever_what_came(raw: bytes) -> None:
    passed, _ = outcome([raw])
    assert raw.startswith(passed)


@given(at=st.integers(min_value=0, max_value=len(GET) - 1), byte=st.integers(0, 255))
def test_one_wrong_byte_never_makes_another_host(at: int, byte: int) -> None:
    changed = GET[:at] + bytes([byte]) + GET[at + 1 :]
    passed, _ = outcome([changed])
    if passed:
        lines = passed.split(b"\r\n")
        assert [line for line in lines if line.lower().startswith(b"host:")] == [lines[1]]
        assert lines[1].split(b":", 1)[1].strip() == b"127.0.0.1:4000"


def waits(gate: Gate) -> tuple[bool, bool]:
    return gate.is_partial, gate.is_partial_head


def test_the_gate_knows_what_it_waits_for() -> None:
    gate = Gate(PORT)
    assert waits(gate) == (False, False)
    assert gate.feed(GET[:20]) == b""
    assert waits(gate) == (True, True)
    assert gate.feed(GET[20:]) == GET
    assert waits(gate) == (False, False)
    gate.feed(POST[:-1])
    assert waits(gate) == (True, False)
    assert gate.feed(POST[-1:]) == b"}"
    assert waits(gate) == (False, False)
    assert gate.head is not None
    assert (gate.head.method, gate.head.path) == ("POST", "/api/v1/tasks")


def test_a_head_that_never_ends_is_refused_before_it_is_kept() -> None:
    pieces = [b"GET / HTTP/1.1\r\nX: ", *[b"a" * 64] * (MAX_HEAD_BYTES // 64)]
    assert outcome(pieces) == (b"", 431)
