"""Paired devices: pairing, signing in, and whose signature a request has.

A request comes to one of two addresses. On the loopback it has the dashboard's key, and may have a
signature in the place of a code. On the address that is served to devices it has a session of a
device, which only reads: what it changes has to be signed by that device, or to have a code.

There is one page for pairing and signing in. It names no project: on the address that is served to
devices it is all that a stranger sees.
"""

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from siding.asking.devices.desk import Claim, NewDevice
from siding.asking.devices.device import Device, DeviceKind, is_device_id
from siding.asking.devices.proof import SignedRequest, decoded
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.asking.devices.store import Circumstances, Told
from siding.faces.web.asking.sessions import PAGE, SESSION, SESSION_COOKIE, Sessions
from siding.faces.web.rendering import Page, render
from siding.faces.web.request import Fields, object_in
from siding.faces.web.site import Site
from siding.ground.errors import UsageError

_LONGEST_KEY = 1000  # characters of base64url; a key takes 122
Endpoint = Callable[[Request], Awaitable[Response]]
HEADER = "siding-proof"


def pairing_page(fingerprint: str) -> bytes:
    """Return the page on which a browser is paired or signs in."""
    return render(Page("asking/pair.html", "Siding", {"fingerprint": fingerprint}))


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
