"""The name of the server in the first message of TLS, of real clients and of odd ones."""

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.sandbox.wire.hello import Hello, hello_in
from unit.sandbox.wire.test_answers import CUTS, pieces


def greeting(name: str | None) -> bytes:
    """Return the first bytes of a client of OpenSSL."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


NAMED, NAMELESS = greeting("api.example.org"), greeting(None)


def in_records(hello: bytes, size: int) -> bytes:
    """Return the same message, spread over several records."""
    message = hello[5:]
    parts = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(hello[:3] + len(part).to_bytes(2, "big") + part for part in parts)


def test_the_name_of_a_real_client_is_found() -> None:
    assert hello_in(NAMED) == Hello(is_tls=True, name="api.example.org")
    assert hello_in(NAMELESS) == Hello(is_tls=True, name="")


@given(st.integers(1, 600), CUTS)
def test_it_is_found_in_any_pieces_and_records(size: int, cuts: list[int]) -> None:
    data, seen = in_records(NAMED, size), b""
    for part in pieces(data, cuts):
        seen += part
        if seen != data:
            assert hello_in(seen) is None or hello_in(seen) == hello_in(data)
    assert hello_in(data) == Hello(is_tls=True, name="api.example.org")


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n", b"SSH-2.0-x\r\n", b"\x16\x02\x00", b"\x80"]
)
def test_what_is_no_tls_is_known_at_once(data: bytes) -> None:
    assert hello_in(data) == Hello(is_tls=False)


@given(st.binary(max_size=600), st.integers(0, 520))
def test_no_bytes_are_a_failure(noise: bytes, at: int) -> None:
    hello_in(noise)
    hello_in(b"\x16\x03\x01" + noise)
    hello_in(NAMED[:at] + noise + NAMED[at:])
