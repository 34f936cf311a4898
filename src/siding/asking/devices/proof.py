"""What a device signs, and how a request carries the signature. Pure.

The signed text names everything that must not be exchanged: the page's origin, the method, the
path, the body, the device and a challenge of the dashboard. So a signature is good for one request.
"""

import base64
import binascii
import json

from siding.asking.devices.device import is_device_id
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

FIRST_LINE = "siding device, 1"  # another version of the text would begin otherwise
_LONGEST = 8192  # characters of a header; what WebAuthn adds takes about 700


class Proof(NamedTuple):
    """A device's signature of one request. The last two are of WebAuthn."""

    device: str
    challenge: str
    signature: bytes
    authenticator: bytes = b""  # what the authenticator says of itself: authenticatorData
    client: bytes = b""  # what the browser says of the page: clientDataJSON


class SignedRequest(NamedTuple):
    """A request as its signature names it. `path` has the query, too."""

    origin: str
    method: str
    path: str
    body: bytes


def message(request: SignedRequest, *, device: str, challenge: str) -> bytes:
    """Return the bytes that the device signs. No field can contain a line end."""
    lines = (
        FIRST_LINE,
        request.origin,
        request.method,
        request.path,
        sha256_hex(request.body),
        device,
        challenge,
    )
    return "\n".join(lines).encode()


def proof_from(header: bytes) -> Proof:
    """Return the proof in a header: JSON in base64url. Raises DeviceRefused."""
    if len(header) > _LONGEST:
        raise DeviceRefused(Reason.MALFORMED)
    try:
        fields = json.loads(decoded(header.decode("ascii")))
        found = Proof(
            device=_text(fields["device"]),
            challenge=_text(fields["challenge"]),
            signature=decoded(_text(fields["signature"])),
            authenticator=decoded(_text(fields.get("authenticator", ""))),
            client=decoded(_text(fields.get("client", ""))),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DeviceRefused(Reason.MALFORMED) from None
    if not is_device_id(found.device) or not found.challenge.isascii() or "\n" in found.challenge:
        raise DeviceRefused(Reason.MALFORMED)
    return found


def decoded(text: str) -> bytes:
    """Return what a text in base64url without padding stands for. Raises ValueError."""
    raw = text.encode("ascii")
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def encoded(raw: bytes) -> str:
    """Return bytes in base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
