"""Challenges: each is for one device, good once and for a short time.

A challenge carries its own proof (an HMAC of this start's secret), so asking for one keeps nothing
in memory, and nobody can push out those of others by asking for many. Only a challenge that came
back with a good signature is remembered, until it is too old anyway.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from threading import Lock

from siding.asking.devices.refusals import DeviceRefused, Reason

GOOD_FOR_S = 120  # a person has to touch something meanwhile


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
