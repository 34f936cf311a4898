"""Sessions of devices: two secrets of one session, for a while, and only while it is paired."""

from collections.abc import Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from siding.faces.web.access import Activity
from siding.faces.web.asking.devices import (
    A_MINUTE,
    IDLE_S,
    LIFE_S,
    MOST,
    SESSION_COOKIE,
    NewSession,
    Rate,
    ServedAccess,
    Sessions,
)

from ..loops import run

ME = "0123456789abcdef"


class World:
    """A clock, and which devices are paired."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.paired = {ME}
        self.sessions = Sessions(self.paired.__contains__, now=lambda: self.at)

    def sees(self, made: NewSession, *, cookie: str = "", key: str = "") -> str | None:
        return self.sessions.device(
            f"Bearer {key or made.key}".encode(),
            f"other=1; {SESSION_COOKIE}={cookie or made.cookie}".encode(),
        )


@pytest.fixture
def world() -> World:
    return World()


def test_both_secrets_of_one_session_are_needed(world: World) -> None:
    first, second = world.sessions.begin(ME), world.sessions.begin(ME)
    assert world.sees(first) == world.sees(second) == ME
    assert world.sees(first, cookie=second.cookie) is None
    assert world.sees(first, key=second.key) is None
    assert world.sees(first, key=first.cookie, cookie=first.key) is None
    assert world.sessions.device(f"Bearer {first.key}".encode(), None) is None
    assert world.sessions.device(None, f"{SESSION_COOKIE}={first.cookie}".encode()) is None
    assert not world.sessions.has_cookie(f"{SESSION_COOKIE}=x".encode())
    assert not world.sessions.has_cookie(None)
    assert world.sessions.has_cookie(f"{SESSION_COOKIE}={first.cookie}".encode())


def test_a_session_ends_without_use_and_after_its_life(world: World) -> None:
    made = world.sessions.begin(ME)
    for _ in range(int(LIFE_S / IDLE_S)):
        world.at += IDLE_S
        assert world.sees(made) == ME
    world.at += 1
    assert world.sees(made) is None  # its life is over, however much it was used
    idle = world.sessions.begin(ME)
    world.at += IDLE_S + 1
    assert world.sees(idle) is None


def test_it_ends_with_the_pairing(world: World) -> None:
    made = world.sessions.begin(ME)
    world.paired.clear()
    assert world.sees(made) is None
    assert not world.sessions.opens(f"Bearer {made.key}".encode())
    assert not world.sessions.has_cookie(f"{SESSION_COOKIE}={made.cookie}".encode())
    world.paired.add(ME)
    assert world.sees(made) is None  # and does not come back with it


def test_there_are_not_more_than_so_many(world: World) -> None:
    first = world.sessions.begin(ME)
    newest = [world.sessions.begin(ME) for _ in range(MOST)]
    assert world.sees(first) is None
    assert all(world.sees(each) == ME for each in newest)


def test_nothing_more_of_a_stream_is_sent_when_its_device_is_removed(world: World) -> None:
    made, sent = world.sessions.begin(ME), list[Message]()

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"before", "more_body": True})
        world.paired.clear()
        await send({"type": "http.response.body", "body": b"after", "more_body": True})

    run(asked(stream, world, made, sent))
    assert [each.get("body") for each in sent] == [None, b"before"]


async def asked(
    app: Callable[[Scope, Receive, Send], object],
    world: World,
    made: NewSession,
    sent: list[Message],
) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/live",
        "headers": [
            (b"authorization", f"Bearer {made.key}".encode()),
            (b"cookie", f"{SESSION_COOKIE}={made.cookie}".encode()),
        ],
        "client": ("192.0.2.1", 4000),
    }
    access = ServedAccess(app, sessions=world.sessions, activity=Activity())  # type: ignore[arg-type]
    await access(scope, receive, send)


def test_one_address_that_asks_too_often_keeps_no_other_waiting() -> None:
    at = 0.0
    rate = Rate(now=lambda: at)
    assert [rate.allows("a") for _ in range(A_MINUTE + 2)] == [True] * A_MINUTE + [False] * 2
    assert rate.allows("b")
    at = 61.0
    assert rate.allows("a")
