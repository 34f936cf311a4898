"""The addresses at which a browser is paired and signs in, and the one page for both.

The page names no project: on the address that is served to devices it is all that a stranger sees.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from siding.asking.devices.desk import NewDevice
from siding.asking.devices.device import DeviceKind, is_device_id
from siding.asking.devices.journal import Told
from siding.asking.devices.proof import decoded
from siding.faces.web.api.reading import Fields, object_in
from siding.faces.web.rendering import Page, render
from siding.faces.web.sessions import SESSION_COOKIE, Sessions
from siding.faces.web.signing import HEADER, claim_of
from siding.faces.web.site import Site
from siding.ground.errors import UsageError

PAGE = "/pair"
_LONGEST_KEY = 1000  # characters of base64url; a key takes 122
Endpoint = Callable[[Request], Awaitable[Response]]


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
