"""The offer to pair a device: a code that a terminal shows, good once and for two minutes. Pure.

What lies on the disk is the code's scrypt, not the code: who reads the file has to try codes, at
30 ms each, and there are a million million of them.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any

from siding.asking.devices.refusals import Reason
from siding.ground.namedtuples import NamedTuple

OFFER_VERSION = 1
GOOD_FOR_S = 120
TRIES = 5
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
LENGTH = 8  # 40 bits
_SKEW_S = 5  # the clock may be set back a little between the terminal and the dashboard


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
    if not hmac.compare_digest(offer.digest, _digest(code, offer.salt)):
        left = offer._replace(tries=offer.tries - 1)
        return left, Reason.WRONG_CODE if left.tries else Reason.TOO_MANY
    return offer, None


def document_of(offer: Offer) -> dict[str, Any]:
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
    plain = "".join(each for each in code.lower() if each in ALPHABET)[:64]
    return hashlib.scrypt(
        plain.encode(), salt=bytes.fromhex(salt), n=1 << 14, r=8, p=1, dklen=32
    ).hex()
