"""Who may ask, and what every answer carries.

The key is 256 bits, new at each start. It comes to the browser in the fragment of an address, which
is never sent, and back in an `Authorization` header, which no page of another origin can set. It
is no cookie: cookies ignore ports, so any other server on this machine would be sent it.
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
_KEYED = ("/api/", "/view/", "/live")
_SCHEME = b"Bearer "


class Key:
    """The key of one start of the dashboard."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text or secrets.token_urlsafe(32)

    def opens(self, authorization: bytes | None) -> bool:
        """Return whether this is the header that the key makes; takes the same time either way."""
        given = authorization or b""
        return hmac.compare_digest(given, _SCHEME + self.text.encode())


class Activity:
    """When somebody who may ask last did, and how many follow the live stream."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last = now()
        self._open = 0

    def began(self) -> None:
        """Note that a keyed request begins."""
        self._open += 1
        self._last = self._now()

    def ended(self) -> None:
        """Note that it has been answered, or its reader has gone."""
        self._open -= 1
        self._last = self._now()

    def idle_s(self) -> float:
        """Return for how long nobody was there."""
        return 0.0 if self._open else self._now() - self._last


class Access:
    """The outermost layer: the key for everything with content in it, headers for everything."""

    def __init__(self, app: ASGIApp, *, key: Key, activity: Activity) -> None:
        self._app = app
        self._key = key
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if not scope["path"].startswith(_KEYED):
            await self._app(scope, receive, sending)
            return
        headers = dict(scope["headers"])
        if not self._key.opens(headers.get(b"authorization")):
            await _unauthorised(sending)
            return
        self._activity.began()
        try:
            await self._app(scope, receive, sending)
        finally:
            self._activity.ended()


async def _unauthorised(send: Send) -> None:
    body = b'{"error": {"code": "unauthorised", "message": "the key is missing or not the one"}}'
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
