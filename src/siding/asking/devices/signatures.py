"""Check a device's signature: ECDSA on P-256 with SHA-256, by WebCrypto or by WebAuthn. Pure.

Of WebAuthn only assertions are read. They need no CBOR: the public key comes from the browser as
SubjectPublicKeyInfo, and no statement about the authenticator's make is asked for (attestation
``none`` says nothing anyway). The first 37 bytes of what the authenticator signs have fixed places.
"""

import json
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_public_key,
)

from siding.asking.devices.device import Device, DeviceKind
from siding.asking.devices.proof import Proof, encoded
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.ground.hashing import sha256_hex

_HALF = 32  # bytes of each of the two numbers of a signature
_PRESENT = 0x01  # the flag that a person touched the authenticator
_HEAD = 37  # bytes: hash of the site's name, flags, counter


def checked_key(public_key: bytes) -> bytes:
    """Return a P-256 key in its one encoding; raise DeviceRefused for anything else."""
    key = _key(public_key)
    plain = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if plain != public_key:  # the same key under two names would be two devices
        raise DeviceRefused(Reason.MALFORMED)
    return plain


def check_signature(device: Device, proof: Proof, message: bytes, *, origin: str) -> int:
    """Return the authenticator's counter (0 for WebCrypto) if `message` was signed by the device.

    `origin` is that of the page that asked. Raises DeviceRefused.
    """
    if device.kind is DeviceKind.WEBCRYPTO:
        if proof.authenticator or proof.client:
            raise DeviceRefused(Reason.MALFORMED)
        _verify(device.public_key, _in_der(proof.signature), message)
        return 0
    _check_page(proof.client, message, origin)
    counter = _counter(proof.authenticator, origin)
    signed = proof.authenticator + _sha256(proof.client)
    _verify(device.public_key, proof.signature, signed)
    if device.counter and counter <= device.counter:
        raise DeviceRefused(Reason.COUNTER)
    return counter


def _check_page(client: bytes, message: bytes, origin: str) -> None:
    """Raise DeviceRefused unless the browser signed this message for a page of this origin."""
    try:
        told = json.loads(client)
    except (ValueError, RecursionError):
        raise DeviceRefused(Reason.MALFORMED) from None
    match told:
        case {"type": "webauthn.get", "challenge": str(challenge), "origin": str(page)}:
            same = challenge == encoded(_sha256(message)) and page == origin
            if not same or told.get("crossOrigin") not in (None, False):
                raise DeviceRefused(Reason.ALTERED)
        case _:
            raise DeviceRefused(Reason.MALFORMED)


def _counter(authenticator: bytes, origin: str) -> int:
    """Return the counter in what the authenticator says, if it is about this site."""
    if len(authenticator) < _HEAD:
        raise DeviceRefused(Reason.MALFORMED)
    host = urlsplit(origin).hostname or ""
    about = authenticator[:32] == _sha256(host.encode())
    if not about or not authenticator[32] & _PRESENT:
        raise DeviceRefused(Reason.ALTERED)
    return int.from_bytes(authenticator[33:_HEAD])


def _in_der(signature: bytes) -> bytes:
    """Return WebCrypto's signature, two numbers side by side, in the form that is checked."""
    if len(signature) != 2 * _HALF:
        raise DeviceRefused(Reason.MALFORMED)
    halves = (signature[:_HALF], signature[_HALF:])
    return encode_dss_signature(*(int.from_bytes(half) for half in halves))


def _key(public_key: bytes) -> EllipticCurvePublicKey:
    try:
        key = load_der_public_key(public_key)
    except (ValueError, UnsupportedAlgorithm):
        raise DeviceRefused(Reason.MALFORMED) from None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise DeviceRefused(Reason.MALFORMED)
    return key


def _verify(public_key: bytes, signature: bytes, signed: bytes) -> None:
    try:
        _key(public_key).verify(signature, signed, ECDSA(SHA256()))
    except InvalidSignature:
        raise DeviceRefused(Reason.ALTERED) from None


def _sha256(data: bytes) -> bytes:
    return bytes.fromhex(sha256_hex(data))
