"""Sessions of paired devices, on the address that is served to them, and who may see what there.

A session lives in memory only, and has two secrets. The cookie is sent by the browser itself, also
with the address of a page; but cookies ignore ports, so another server on this machine could
collect it. So what has content needs the key as well, which the page keeps and sends in a header,
as on the loopback.

A stranger gets one page, on which a browser is paired or signs in, and the files of its scripts:
nothing of it comes from a project.
"""

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from siding.faces.web.access import KEYED, Activity, unauthorised, with_headers
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

SESSION_COOKIE = "__Host-siding"  # browsers take this name only over TLS, for this host alone
LIFE_S = 8 * 3600.0
IDLE_S = 3600.0
MOST = 64
_SCHEME = b"Bearer "
A_MINUTE = 60  # requests of one address about devices: a challenge and a signature each
_MOST_PEERS = 1024
_OPEN = ("/device/challenge", "/device/pair", "/device/sign-in")
PAGE = "/pair"
SESSION = "siding.device"  # in the scope of a request: the id of the device whose session it is


class NewSession(NamedTuple):
    """What a browser gets when it has signed in."""

    cookie: str
    key: str


class Serving(NamedTuple):
    """What the pages know of a dashboard that is served to devices."""

    sessions: "Sessions"
    fingerprint: str


class _Session(NamedTuple):
    device: str
    cookie: str  # SHA-256 of it
    key: str  # SHA-256 of it
    began: float
    used: float


class Sessions:
    """All sessions of one dashboard. `is_paired` tells whether a device is paired now."""

    def __init__(
        self, is_paired: Callable[[str], bool], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._is_paired = is_paired
        self._now = now
        self._sessions: dict[str, _Session] = {}  # by the key, oldest first
        self._turn = Lock()

    def begin(self, device: str) -> NewSession:
        """Begin a session of a device that has signed for it."""
        made = NewSession(cookie=secrets.token_urlsafe(32), key=secrets.token_urlsafe(32))
        now, key = self._now(), _hash(made.key)
        with self._turn:
            self._sessions[key] = _Session(device, _hash(made.cookie), key, now, now)
            while len(self._sessions) > MOST:
                del self._sessions[next(iter(self._sessions))]
        return made

    def opens(self, authorization: bytes | None) -> bool:
        """Return whether this header is the key of a session that lives."""
        return self._living(authorization) is not None

    def device(self, authorization: bytes | None, cookie: bytes | None) -> str | None:
        """Return the device whose session it is; None unless key and cookie are of one session."""
        found = self._living(authorization)
        if found is None or not hmac.compare_digest(found.cookie, _hash(_named(cookie))):
            return None
        with self._turn:
            if found.key in self._sessions:
                self._sessions[found.key] = found._replace(used=self._now())
        return found.device

    def has_cookie(self, cookie: bytes | None) -> bool:
        """Return whether a session has this cookie: enough for pages without content."""
        wanted = _hash(_named(cookie))
        with self._turn:
            found = list(self._sessions.values())
        return any(hmac.compare_digest(each.cookie, wanted) and self._lives(each) for each in found)

    def _living(self, authorization: bytes | None) -> _Session | None:
        given = authorization or b""
        if not given.startswith(_SCHEME):
            return None
        key = _hash(given[len(_SCHEME) :].decode("latin-1"))
        with self._turn:  # the hash is looked up, so the time it takes says nothing of the key
            found = self._sessions.get(key)
        if found is None or self._lives(found):
            return found
        with self._turn:
            self._sessions.pop(key, None)
        return None

    def _lives(self, session: _Session) -> bool:
        now = self._now()
        young = now - session.began <= LIFE_S and now - session.used <= IDLE_S
        return young and self._is_paired(session.device)


def _named(cookie: bytes | None) -> str:
    """Return the value of our cookie in the header; "" if it is not there."""
    for each in (cookie or b"").decode("latin-1").split(";"):
        name, _, value = each.strip().partition("=")
        if name == SESSION_COOKIE:
            return value
    return ""


def _hash(secret: str) -> str:
    return sha256_hex(secret.encode("utf-8", "replace"))


class Rate:
    """Counts what each address asked for within a minute."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asked: OrderedDict[str, list[float]] = OrderedDict()

    def allows(self, peer: str) -> bool:
        """Count a request; return whether it is not one too many."""
        now = self._now()
        recent = [each for each in self._asked.pop(peer, []) if now - each < 60]
        self._asked[peer] = [*recent, now] if len(recent) < A_MINUTE else recent
        while len(self._asked) > _MOST_PEERS:
            self._asked.popitem(last=False)
        return len(recent) < A_MINUTE


class ServedAccess:
    """The outermost layer on the served address."""

    def __init__(self, app: ASGIApp, *, sessions: Sessions, activity: Activity) -> None:
        self._app = app
        self._sessions = sessions
        self._activity = activity
        self._rate = Rate()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        sending = with_headers(send)
        path, headers = scope["path"], dict(scope["headers"])
        if path in _OPEN:
            peer = scope["client"][0] if scope.get("client") else ""
            if self._rate.allows(peer):
                await self._app(scope, receive, sending)
            else:
                await _too_many(sending)
        elif path.startswith(KEYED):
            await self._with_session(scope, receive, sending, headers)
        elif scope["method"] == "POST":  # the exchange of tickets is for browsers of this machine
            await unauthorised(sending)
        elif path.startswith("/static/") or self._sessions.has_cookie(headers.get(b"cookie")):
            await self._app(scope, receive, sending)
        else:
            door = {**scope, "path": PAGE, "raw_path": PAGE.encode(), "query_string": b""}
            await self._app(door, receive, sending)

    async def _with_session(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        key = headers.get(b"authorization")
        device = self._sessions.device(key, headers.get(b"cookie"))
        if device is None:
            await unauthorised(send)
            return

        async def sending(message: Message) -> None:
            # A stream goes on for hours. Of a session that has ended nothing more is sent; the
            # connection is ended by whoever watches them.
            if self._sessions.opens(key):
                await send(message)

        self._activity.began()
        try:
            await self._app({**scope, SESSION: device}, receive, sending)
        finally:
            self._activity.ended()


async def _too_many(send: Send) -> None:
    body = (
        b'{"error": {"code": "too_many", "message": "too many requests", "hint": "wait a minute"}}'
    )
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": body})
