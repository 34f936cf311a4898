"""Who does not finish the handshake of TLS keeps nobody out: so many at a time, for so long."""

import asyncio
import datetime as dt
import socket
from pathlib import Path

import pytest

from siding.asking.devices.certificate import DAYS, fingerprint, is_good, new_certificate
from siding.faces.web import served
from siding.faces.web.served import ServedAddress, accept, bind_served, served_address, tls_context
from siding.ground.errors import UsageError

from .loops import run

NOW = dt.datetime.now(dt.UTC)
SOMEWHERE = ServedAddress("127.0.0.1", 0, ("127.0.0.1",))


async def ended(crowd: list[socket.socket], context_of: Path) -> None:
    """Connect a crowd that says nothing, and wait until the oldest one is put out."""
    bound = bind_served(SOMEWHERE)
    task = asyncio.create_task(accept(bound, tls_context(context_of), asyncio.Protocol))
    try:
        loop = asyncio.get_running_loop()
        for each in crowd:
            each.setblocking(False)
            await loop.sock_connect(each, bound.getsockname())
        assert await asyncio.wait_for(loop.sock_recv(crowd[0], 1), 60) == b""
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(("number", "seconds"), [(served.HANDSHAKES + 1, 600.0), (1, 0.01)])
def test_the_oldest_makes_room_and_all_end_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, seconds: float
) -> None:
    pem = tmp_path / "served.pem"
    pem.write_bytes(new_certificate(("127.0.0.1",), NOW))
    monkeypatch.setattr(served, "HANDSHAKE_S", seconds)
    crowd = [socket.socket() for _ in range(number)]
    try:
        run(ended(crowd, pem))
    finally:
        for each in crowd:
            each.close()


def test_a_certificate_is_good_for_its_names_until_shortly_before_its_end() -> None:
    pem = new_certificate(("shop.lan", "192.0.2.7", "[2001:db8::1]"), NOW)
    assert is_good(pem, ("shop.lan", "192.0.2.7"), NOW)
    assert is_good(pem, ("[2001:db8::1]",), NOW)
    assert not is_good(pem, ("shop.lan", "192.0.2.8"), NOW)
    assert is_good(pem, ("shop.lan",), NOW + dt.timedelta(days=DAYS - 31))
    assert not is_good(pem, ("shop.lan",), NOW + dt.timedelta(days=DAYS - 29))
    assert not is_good(pem, ("shop.lan",), NOW - dt.timedelta(days=3))
    assert not is_good(b"", ("shop.lan",), NOW)
    assert not is_good(b"-----BEGIN CERTIFICATE-----\nAAAA\n", ("shop.lan",), NOW)
    assert len(fingerprint(pem)) == 32 * 3 - 1
    assert fingerprint(pem) != fingerprint(new_certificate(("shop.lan",), NOW))


def test_what_a_person_may_write_for_an_address() -> None:
    assert served_address("127.0.0.1:8443") == ServedAddress("127.0.0.1", 8443, ("127.0.0.1",))
    named = served_address("LOCALHOST:443")
    assert (named.names[0], named.url) == ("localhost", "https://localhost")
    six = served_address("[::1]:8443")
    assert (six.ip, six.url) == ("::1", "https://[::1]:8443")
    for bad in ("", "0", "65536", "x:", ":1", "a:b:1", "0.0.0.0:1", "[::]:1", "-1", "1 ", "1\n"):
        with pytest.raises(UsageError):
            served_address(bad)
