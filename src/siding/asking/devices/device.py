"""A paired device, a public key with a name, and the offer to pair one. Pure.

An offer is a code that a terminal shows, good once and for two minutes. What lies on the disk is
the code's scrypt, not the code: who reads the file has to try codes, at 30 ms each, and there are a
million million of them.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from siding.asking.devices.refusals import Reason
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

DEVICE_VERSION = 1
ID_LENGTH = 16  # hex digits
LONGEST_NAME = 40  # characters
OFFER_VERSION = 1
GOOD_FOR_S = 120
TRIES = 5
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
LENGTH = 8  # 40 bits
_SKEW_S = 5  # the clock may be set back a little between the terminal and the dashboard


class DeviceKind(StrEnum):
    """Where the private key is kept."""

    WEBCRYPTO = "webcrypto"  # in the browser, which uses it and never hands it out
    WEBAUTHN = "webauthn"  # in an authenticator: the device's lock, or a security key


class Device(NamedTuple):
    """A paired device. Times are ISO 8601; `last_used_at` is "" before the first use."""

    id: str  # of the key, see `id_of_key`
    name: str
    kind: DeviceKind
    public_key: bytes  # P-256, as SubjectPublicKeyInfo in DER
    origin: str  # of the page on which it was paired, such as https://192.0.2.7:8443
    created_at: str
    credential: str = ""  # of WebAuthn: the credential's id in base64url
    last_used_at: str = ""
    counter: int = 0  # of WebAuthn: how often the authenticator says that it has signed


def id_of_key(public_key: bytes) -> str:
    """Return the id of a key: the beginning of its SHA-256. The browser computes the same."""
    return sha256_hex(public_key)[:ID_LENGTH]


def is_device_id(text: str) -> bool:
    """Return whether a text can be the id of a device, and so a file name."""
    return len(text) == ID_LENGTH and all(letter in "0123456789abcdef" for letter in text)


def name_from(text: str) -> str:
    """Return a name that can be shown in one line: printable, not blank, not too long."""
    words = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return words[:LONGEST_NAME].strip() or "a device"


def free_name(wanted: str, taken: "list[str]") -> str:
    """Return `wanted`, or with a number behind it if another device has this name."""
    names = {each.casefold() for each in taken}
    found, number = wanted, 1
    while found.casefold() in names:
        number += 1
        found = f"{wanted[: LONGEST_NAME - 4]} {number}"
    return found


def document_of(device: Device) -> dict[str, Any]:
    """Return the JSON document of a device."""
    return {
        "version": DEVICE_VERSION,
        **device._asdict(),
        "kind": device.kind.value,
        "public_key": device.public_key.hex(),
    }


def device_from(document: Mapping[str, Any], device_id: str) -> Device:
    """Return the device in a document. Raises ValueError, with the reason, for any other one.

    A file with another device's name would stand for a key that nobody paired under it.
    """
    key = bytes.fromhex(_text(document, "public_key"))
    if id_of_key(key) != device_id or _text(document, "id") != device_id:
        raise ValueError("its name is not that of its key")
    counter = document.get("counter", 0)
    if not isinstance(counter, int) or isinstance(counter, bool) or counter < 0:
        raise ValueError("`counter` is not a number")
    return Device(
        id=device_id,
        name=name_from(_text(document, "name")),
        kind=DeviceKind(_text(document, "kind")),
        public_key=key,
        origin=_text(document, "origin"),
        created_at=_text(document, "created_at"),
        credential=_text(document, "credential"),
        last_used_at=_text(document, "last_used_at"),
        counter=counter,
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"`{name}` is not a text")  # noqa: TRY004 - about the file
    return value


class Offer(NamedTuple):
    """An offer. `used_by` is the id of the device that took it; `tries` is 0 when none are left."""

    id: str
    salt: str  # hex
    digest: str  # hex: scrypt of the code
    made_at: float  # seconds since 1970
    name: str  # what the device is to be called; "": as it calls itself
    tries: int = TRIES
    used_by: str = ""

    def is_over(self, now: float) -> bool:
        """Whether nobody can take it any more."""
        return not -_SKEW_S <= now - self.made_at <= GOOD_FOR_S or not self.tries


def new_code(random_bytes: Callable[[int], bytes]) -> str:
    """Return a code, ``xxxx-xxxx``."""
    drawn = int.from_bytes(random_bytes(16))
    letters = ""
    for _ in range(LENGTH):
        drawn, at = divmod(drawn, len(ALPHABET))
        letters += ALPHABET[at]
    return f"{letters[:4]}-{letters[4:]}"


def new_offer(code: str, *, name: str, now: float, random_bytes: Callable[[int], bytes]) -> Offer:
    """Return the offer for a code."""
    salt = random_bytes(16).hex()
    return Offer(
        id=random_bytes(8).hex(), salt=salt, digest=_digest(code, salt), made_at=now, name=name
    )


def judged(offer: Offer | None, code: str, *, now: float) -> tuple[Offer | None, Reason | None]:
    """Return what becomes of the offer when a code is tried, and why it is refused, if it is."""
    if offer is None or offer.used_by:
        return offer, Reason.NO_OFFER
    if offer.is_over(now):
        return offer, Reason.LATE_CODE if offer.tries else Reason.TOO_MANY
    import hmac  # OpenSSL, which takes 3.5 MB of each host: only where a code is checked

    if not hmac.compare_digest(offer.digest, _digest(code, offer.salt)):
        left = offer._replace(tries=offer.tries - 1)
        return left, Reason.WRONG_CODE if left.tries else Reason.TOO_MANY
    return offer, None


def document_of_offer(offer: Offer) -> dict[str, Any]:
    """Return the JSON document of an offer."""
    return {"version": OFFER_VERSION, **offer._asdict()}


def offer_from(document: Mapping[str, Any]) -> Offer:
    """Return the offer in a document. Raises ValueError for any other one."""
    match document:
        case {
            "id": str(name),
            "salt": str(salt),
            "digest": str(digest),
            "made_at": float() | int() as made_at,
            "tries": int(tries),
            "name": str(wanted),
            "used_by": str(used_by),
        }:
            return Offer(name, salt, digest, float(made_at), wanted, tries, used_by)
        case _:
            raise ValueError("it is no offer to pair a device")


def _digest(code: str, salt: str) -> str:
    import hashlib

    plain = "".join(each for each in code.lower() if each in ALPHABET)[:64]
    return hashlib.scrypt(
        plain.encode(), salt=bytes.fromhex(salt), n=1 << 14, r=8, p=1, dklen=32
    ).hex()
