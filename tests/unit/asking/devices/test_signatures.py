"""A signature is good for one message of one device, and any bit of it counts."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from siding.asking.devices.device import DeviceKind
from siding.asking.devices.proof import Proof, SignedRequest, message, proof_from
from siding.asking.devices.refusals import DeviceRefused, Reason
from siding.asking.devices.signatures import check_signature, checked_key

from .signing import (
    CHALLENGE,
    ORIGIN,
    REQUEST,
    Signed,
    by_authenticator,
    by_browser,
    device_with,
)

BROWSER = by_browser()
AUTHENTICATOR = by_authenticator()


def checked(signed: Signed, *, origin: str = ORIGIN) -> int:
    return check_signature(signed.device, signed.proof, signed.message, origin=origin)


def flipped(raw: bytes, bit: int) -> bytes:
    at = bit % (8 * len(raw))
    changed = bytearray(raw)
    changed[at // 8] ^= 1 << at % 8
    return bytes(changed)


def refused(signed: Signed, **more: str) -> Reason:
    with pytest.raises(DeviceRefused) as error:
        checked(signed, **more)
    return error.value.reason


def test_good_signatures_are_accepted() -> None:
    assert checked(BROWSER) == 0
    assert checked(AUTHENTICATOR) == 7
    assert checked(by_authenticator(before=0, counter=0)) == 0  # it does not count


@given(
    signed=st.sampled_from([BROWSER, AUTHENTICATOR]),
    field=st.sampled_from(["message", "signature", "authenticator", "client", "key"]),
    bit=st.integers(min_value=0, max_value=1 << 14),
)
def test_any_flipped_bit_is_refused(signed: Signed, field: str, bit: int) -> None:
    if field == "message":
        changed = signed._replace(message=flipped(signed.message, bit))
    elif field == "key":
        key = flipped(signed.device.public_key, bit)
        changed = signed._replace(device=signed.device._replace(public_key=key))
    else:
        fields: dict[str, Any] = signed.proof._asdict()
        if not fields[field]:
            return
        fields[field] = flipped(fields[field], bit)
        changed = signed._replace(proof=Proof(**fields))
    refused(changed)


@given(
    field=st.sampled_from(["origin", "method", "path", "body"]),
    text=st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=40),
)
def test_another_request_has_another_message(field: str, text: str) -> None:
    """No two requests have the same message: its fields cannot be shifted into each other."""
    value: str | bytes = text.encode() if field == "body" else text
    if value == getattr(REQUEST, field):
        return
    fields: dict[str, Any] = {**REQUEST._asdict(), field: value}
    other = SignedRequest(**fields)
    said = message(other, device=BROWSER.device.id, challenge=CHALLENGE)
    assert said != BROWSER.message
    assert refused(BROWSER._replace(message=said)) is Reason.ALTERED


@given(challenge=st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=80))
def test_another_challenge_has_another_message(challenge: str) -> None:
    said = message(REQUEST, device=BROWSER.device.id, challenge=challenge)
    if challenge == CHALLENGE:
        assert said == BROWSER.message
    else:
        assert refused(BROWSER._replace(message=said)) is Reason.ALTERED


def test_what_an_authenticator_has_to_say() -> None:
    assert refused(by_authenticator(site="evil.example")) is Reason.ALTERED
    assert refused(by_authenticator(flags=0x04)) is Reason.ALTERED  # nobody touched it
    assert refused(by_authenticator(counter=3)) is Reason.COUNTER
    assert refused(by_authenticator(origin="http://localhost:4001")) is Reason.ALTERED
    assert refused(by_authenticator(crossOrigin=True)) is Reason.ALTERED
    assert refused(by_authenticator(challenge="AAAA")) is Reason.ALTERED
    assert refused(by_authenticator(type="webauthn.create")) is Reason.MALFORMED
    assert refused(by_authenticator(), origin="https://localhost:4000") is Reason.ALTERED


def test_one_kind_of_device_does_not_pass_for_the_other() -> None:
    browser = BROWSER.device._replace(kind=DeviceKind.WEBAUTHN)
    assert refused(BROWSER._replace(device=browser)) is Reason.MALFORMED
    key = AUTHENTICATOR.device._replace(kind=DeviceKind.WEBCRYPTO)
    assert refused(AUTHENTICATOR._replace(device=key)) is Reason.MALFORMED


def test_only_keys_on_the_one_curve_are_keys() -> None:
    good = device_with(ec.generate_private_key(ec.SECP256R1()), DeviceKind.WEBCRYPTO)
    assert checked_key(good.public_key) == good.public_key
    other_curve = ec.generate_private_key(ec.SECP384R1()).public_key()
    rsa_key = rsa.generate_private_key(65537, 2048).public_key()
    numbers = ec.generate_private_key(ec.SECP256R1()).public_key()
    compressed = numbers.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    head = good.public_key[:-65]
    spki = head[:1] + bytes([len(head) + 33 - 2]) + head[2:-2] + b"\x22\x00" + compressed
    for raw in (
        other_curve.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        rsa_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        spki,  # the same key in another encoding would be another device
        good.public_key + b"\0",
        b"",
        b"key",
    ):
        with pytest.raises(DeviceRefused):
            checked_key(raw)


@given(st.binary(max_size=400))
def test_a_header_is_a_proof_or_is_refused(raw: bytes) -> None:
    with pytest.raises(DeviceRefused):
        proof_from(raw)
    with pytest.raises(DeviceRefused):
        proof_from(base64.urlsafe_b64encode(raw).rstrip(b"="))


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.one_of(st.none(), st.integers(), st.text(max_size=20), st.just("0" * 16))
            for name in ("device", "challenge", "signature", "authenticator", "client")
        },
    )
)
def test_a_header_of_the_right_form_is_read_whole(fields: dict[str, object]) -> None:
    header = base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=")
    try:
        found = proof_from(header)
    except DeviceRefused:
        return
    assert isinstance(found, Proof)
    assert found.device == fields["device"]
    assert "\n" not in found.challenge
