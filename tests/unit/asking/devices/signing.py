"""Devices that sign, as a browser and as an authenticator do it."""

import hashlib
import json
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from siding.asking.devices.device import Device, DeviceKind, id_of_key
from siding.asking.devices.proof import Proof, SignedRequest, encoded, message

ORIGIN = "http://localhost:4000"
REQUEST = SignedRequest(
    origin=ORIGIN, method="POST", path="/api/v1/decisions/x/answer", body=b'{"decisions": []}'
)
CHALLENGE = "17.0123456789abcdef.fedcba9876543210"


class Signed(NamedTuple):
    """A proof, the message that it is about, and the device that made it."""

    device: Device
    proof: Proof
    message: bytes


def device_with(key: ec.EllipticCurvePrivateKey, kind: DeviceKind, counter: int = 0) -> Device:
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return Device(
        id=id_of_key(public),
        name="phone",
        kind=kind,
        public_key=public,
        origin=ORIGIN,
        created_at="2026-01-02T03:04:05.000Z",
        counter=counter,
    )


def by_browser() -> Signed:
    """Sign as WebCrypto does."""
    key = ec.generate_private_key(ec.SECP256R1())
    device = device_with(key, DeviceKind.WEBCRYPTO)
    said = message(REQUEST, device=device.id, challenge=CHALLENGE)
    r, s = decode_dss_signature(key.sign(said, ec.ECDSA(SHA256())))
    proof = Proof(device.id, CHALLENGE, r.to_bytes(32) + s.to_bytes(32))
    return Signed(device, proof, said)


def by_authenticator(
    *,
    site: str = "localhost",
    flags: int = 0x05,
    counter: int = 7,
    before: int = 3,
    **page: object,
) -> Signed:
    """Sign as an authenticator does that WebAuthn asked; `page` is what the browser says else."""
    key = ec.generate_private_key(ec.SECP256R1())
    device = device_with(key, DeviceKind.WEBAUTHN, before)
    said = message(REQUEST, device=device.id, challenge=CHALLENGE)
    told = {
        "type": "webauthn.get",
        "challenge": encoded(hashlib.sha256(said).digest()),
        "origin": ORIGIN,
        "crossOrigin": False,
        **page,
    }
    client = json.dumps(told).encode()
    authenticator = hashlib.sha256(site.encode()).digest() + bytes([flags]) + counter.to_bytes(4)
    signature = key.sign(authenticator + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
    return Signed(device, Proof(device.id, CHALLENGE, signature, authenticator, client), said)
