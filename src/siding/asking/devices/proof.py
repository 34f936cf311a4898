"""What a device signs: a request, and a challenge; and how a request carries the signature.

The signed text names everything that must not be exchanged: the page's origin, the method, the
path, the body, the device and a challenge of the dashboard. So a signature is good for one request.

A challenge is for one device, good once and for a short time. It carries its own proof (an HMAC of
this start's secret), so asking for one keeps nothing in memory, and nobody can push out those of
others by asking for many. Only a challenge that came back with a good signature is remembered,
until it is too old anyway.
"""

import base64
import binascii
import hmac
import json
import secrets
import time
from collections.abc import Callable
from threading import Lock

from siding.asking.devices.device import is_device_id
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

FIRST_LINE = "siding device, 1"  # another version of the text would begin otherwise
_LONGEST = 8192  # characters of a header; what WebAuthn adds takes about 700
GOOD_FOR_S = 120  # a person has to touch something meanwhile


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


class Challenges:
    """The challenges of one start of a dashboard."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._secret = secrets.token_bytes(32)
        self._now = now
        self._spent: dict[str, float] = {}
        self._turn = Lock()

    def new(self, device: str) -> str:
        """Return a new challenge for a device, paired or not."""
        told = f"{int(self._now())}.{secrets.token_hex(16)}"
        return f"{told}.{self._proof(device, told)}"

    def check(self, device: str, challenge: str) -> None:
        """Raise DeviceRefused unless the challenge was made here, for this device, and lately."""
        told, _, proof = challenge.rpartition(".")
        if not hmac.compare_digest(self._proof(device, told).encode(), proof.encode()):
            raise DeviceRefused(Reason.FOREIGN)
        if self._now() - int(told.partition(".")[0]) > GOOD_FOR_S:
            raise DeviceRefused(Reason.STALE)
        if challenge in self._spent:
            raise DeviceRefused(Reason.REPLAYED)

    def spend(self, device: str, challenge: str) -> None:
        """Take a challenge whose signature is good; raise DeviceRefused if it was taken before."""
        with self._turn:  # of two requests with the same signature, the second one must fail
            self.check(device, challenge)
            now = self._now()
            late = [each for each, at in self._spent.items() if now - at > GOOD_FOR_S + 1]
            for each in late:
                del self._spent[each]
            self._spent[challenge] = now

    def _proof(self, device: str, told: str) -> str:
        return hmac.new(self._secret, f"{device} {told}".encode(), "sha256").hexdigest()
