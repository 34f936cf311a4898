"""Paired devices: pairing, signing in, their sessions, and whose signature a request has.

A request comes to one of two addresses. On the loopback it has the dashboard's key, and may have a
signature in the place of a code. On the address that is served to devices it has a session of a
device, which only reads: what it changes has to be signed by that device, or to have a code.

A session lives in memory only, and has two secrets. The cookie is sent by the browser itself, also
with the address of a page; but cookies ignore ports, so another server on this machine could
collect it. So what has content needs the key as well, which the page keeps and sends in a header,
as on the loopback.

There is one page for pairing and signing in, which is all that a stranger gets, with the files of
its scripts: nothing of it comes from a project.
"""

import asyncio
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from enum import StrEnum
from threading import Lock
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from siding.asking.devices.desk import Claim, NewDevice
from siding.asking.devices.device import Device, DeviceKind, is_device_id
from siding.asking.devices.proof import SignedRequest, decoded
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.asking.devices.store import Circumstances, Told
from siding.faces.web.access import KEYED, Activity, unauthorised, with_headers
from siding.faces.web.rendering import Page, render
from siding.faces.web.request import Fields, Site, object_in
from siding.ground.errors import UsageError
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
_LONGEST_KEY = 1000  # characters of base64url; a key takes 122
Endpoint = Callable[[Request], Awaitable[Response]]
HEADER = "siding-proof"


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


def pairing_page(fingerprint: str) -> bytes:
    """Return the page on which a browser is paired or signs in."""
    return render(Page("pair.html", "Siding", {"fingerprint": fingerprint}))


def device_routes(site: Site, sessions: Sessions | None, fingerprint: str) -> list[Route]:
    """Return the routes. Without `sessions` the dashboard is not served, and nobody signs in."""
    pages = {"http": pairing_page(""), "https": pairing_page(fingerprint)}

    async def pair_page(request: Request) -> Response:
        return Response(pages[request.scope["scheme"]], media_type="text/html; charset=utf-8")

    async def challenge(request: Request) -> Response:
        fields = Fields(object_in(await request.body()))
        device = fields.text("device", longest=40)
        fields.done()
        if not is_device_id(device):
            raise UsageError("device must be the id of a device")
        return JSONResponse({"challenge": site.desk.challenge(device)})

    return [
        Route(PAGE, pair_page, methods=["GET"]),
        Route("/device/challenge", challenge, methods=["POST"]),
        Route("/device/pair", _pair(site), methods=["POST"]),
        Route("/device/sign-in", _sign_in(site, sessions), methods=["POST"]),
    ]


def _pair(site: Site) -> Endpoint:
    async def pair(request: Request) -> Response:
        raw = await request.body()
        new = _new_device(Fields(object_in(raw)))

        def paired() -> dict[str, Any]:
            device = site.desk.pair(claim_of(request, raw, _proof(request)), new)
            site.say(f"a device was paired: {device.name} ({device.kind.value}, {device.id})")
            return {"id": device.id, "name": device.name}

        return JSONResponse(await asyncio.to_thread(paired))

    return pair


def _sign_in(site: Site, sessions: Sessions | None) -> Endpoint:
    async def sign_in(request: Request) -> Response:
        raw = await request.body()
        Fields(object_in(raw)).done()
        if sessions is None or request.scope["scheme"] != "https":
            raise HTTPException(404)
        claim = claim_of(request, raw, _proof(request))
        device = await asyncio.to_thread(site.desk.judge, claim, Told.SIGNED_IN)
        made = sessions.begin(device.id)
        response = JSONResponse({"key": made.key, "name": device.name})
        response.set_cookie(
            SESSION_COOKIE, made.cookie, secure=True, httponly=True, samesite="strict", path="/"
        )
        return response

    return sign_in


def _new_device(fields: Fields) -> NewDevice:
    found = NewDevice(
        code=fields.text("code", longest=40),
        name=fields.text("name", longest=200),
        kind=DeviceKind(fields.choice("kind", *(kind.value for kind in DeviceKind))),
        public_key=_bytes(fields.text("public_key", longest=_LONGEST_KEY)),
        credential=fields.text("credential", "", longest=_LONGEST_KEY),
    )
    fields.done()
    return found


def _bytes(text: str) -> bytes:
    try:
        return decoded(text)
    except ValueError:
        raise UsageError("public_key must be in base64url") from None


def _proof(request: Request) -> str:
    return request.headers.get(HEADER, "")


class DeviceMay(StrEnum):
    """What an operation is for a paired device."""

    READ = "read"  # it changes nothing, or what it changes takes the terminal's code
    SIGN = "sign"  # a device may do it, and signs it
    NEVER = "never"


def device_of(site: Site, request: Request, body: bytes, may: DeviceMay) -> Device | None:
    """Return the device that has signed the request; None if none did. Raises DeviceRefused."""
    session = request.scope.get(SESSION)
    header = request.headers.get(HEADER)
    if header is None and (session is None or may is DeviceMay.READ):
        return None
    if may is not DeviceMay.SIGN:
        raise _refused(site, request, Reason.NOT_FOR_DEVICES, session)
    if header is None:
        raise _refused(site, request, Reason.UNSIGNED, session)
    device = site.desk.judge(claim_of(request, body, header))
    if session is not None and session != device.id:
        raise _refused(site, request, Reason.FOREIGN, device.id)
    return device


def claim_of(request: Request, body: bytes, header: str) -> Claim:
    """Return the request as a device signs it. Its `Host` was checked before anything read it."""
    query = request.url.query
    signed = SignedRequest(
        origin=f"{request.scope['scheme']}://{request.headers['host']}",
        method=request.method,
        path=request.url.path + (f"?{query}" if query else ""),
        body=body,
    )
    return Claim(signed, header.encode("latin-1"), peer=peer_of(request))


def peer_of(request: Request) -> str:
    """Return the address of the other side."""
    return "" if request.client is None else request.client.host


def _refused(site: Site, request: Request, reason: Reason, device: str | None) -> DeviceRefused:
    """Record a refusal, and return it."""
    about = Circumstances(
        project=site.project().layout.root.name,
        method=request.method,
        path=request.url.path,
        peer=peer_of(request),
    )
    site.desk.refuse(reason, about, device=device or "")
    return DeviceRefused(reason)
