"""Sessions of paired devices, on the address that is served to them. They live in memory only.

A session has two secrets. The cookie is sent by the browser itself, also with the address of a
page; but cookies ignore ports, so another server on this machine could collect it. So what has
content needs the key as well, which the page keeps and sends in a header, as on the loopback.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from threading import Lock

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

SESSION_COOKIE = "__Host-siding"  # browsers take this name only over TLS, for this host alone
LIFE_S = 8 * 3600.0
IDLE_S = 3600.0
MOST = 64
_SCHEME = b"Bearer "


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
