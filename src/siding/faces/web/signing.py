"""Find the paired device that has signed a request, and refuse what no device may do.

A request comes to one of two addresses. On the loopback it has the dashboard's key, and may have a
signature in the place of a code. On the address that is served to devices it has a session of a
device, which only reads: what it changes has to be signed by that device, or to have a code.
"""

from enum import StrEnum

from starlette.requests import Request

from siding.asking.devices.desk import Claim
from siding.asking.devices.device import Device
from siding.asking.devices.journal import Circumstances
from siding.asking.devices.proof import SignedRequest
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.faces.web.site import Site

HEADER = "siding-proof"
SESSION = "siding.device"  # in the scope of a request: the id of the device whose session it is


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
