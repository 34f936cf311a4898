"""Check the key of a request, and add the security headers to every response.

The key has 256 bits and is new at each start. The browser gets it in the fragment of an address,
which browsers never send, and returns it in an `Authorization` header, which a page of another
origin cannot set. A cookie would be wrong: cookies ignore ports, so the browser would send it to
every other server on this machine.
"""

import hmac
import secrets
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"server", b"siding"),
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
KEYED = ("/api/", "/view/", "/live", "/device/")
_SCHEME = b"Bearer "


class Key:
    """The key of one start of the dashboard."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text or secrets.token_urlsafe(32)

    def opens(self, authorization: bytes | None) -> bool:
        """Return whether the header holds this key. The comparison takes constant time."""
        given = authorization or b""
        return hmac.compare_digest(given, _SCHEME + self.text.encode())


class Activity:
    """Tracks when the last request with the key was made, and how many are open."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last = now()
        self._open = 0

    def began(self) -> None:
        """Record that a request with the key begins."""
        self._open += 1
        self._last = self._now()

    def ended(self) -> None:
        """Record that such a request was answered, or its browser has gone."""
        self._open -= 1
        self._last = self._now()

    def idle_s(self) -> float:
        """Return the seconds since the last request with the key; 0 while one is open."""
        return 0.0 if self._open else self._now() - self._last


class Access:
    """The outermost layer: it asks for the key on paths with content, and adds headers to all."""

    def __init__(self, app: ASGIApp, *, key: Key, activity: Activity) -> None:
        self._app = app
        self._key = key
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        sending = with_headers(send)
        if not scope["path"].startswith(KEYED):
            await self._app(scope, receive, sending)
            return
        headers = dict(scope["headers"])
        if not self._key.opens(headers.get(b"authorization")):
            await unauthorised(sending)
            return
        self._activity.began()
        try:
            await self._app(scope, receive, sending)
        finally:
            self._activity.ended()


def with_headers(send: Send) -> Send:
    """Return a `send` that adds the security headers to each response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


async def unauthorised(send: Send) -> None:
    """Answer that the key is missing or wrong."""
    body = b'{"error": {"code": "unauthorised", "message": "the key is missing or wrong"}}'
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
