"""A paired device: a public key with a name. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

DEVICE_VERSION = 1
ID_LENGTH = 16  # hex digits
LONGEST_NAME = 40  # characters


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
