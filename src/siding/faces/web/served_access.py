"""Who may see what on the address that is served to devices.

A stranger gets one page, on which a browser is paired or signs in, and the files of its scripts:
nothing of it comes from a project. Content needs a session of a paired device, cookie and key.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from siding.faces.web.access import KEYED, Activity, unauthorised, with_headers
from siding.faces.web.devices import PAGE
from siding.faces.web.sessions import Sessions
from siding.faces.web.signing import SESSION

A_MINUTE = 60  # requests of one address about devices: a challenge and a signature each
_MOST_PEERS = 1024
_OPEN = ("/device/challenge", "/device/pair", "/device/sign-in")


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
