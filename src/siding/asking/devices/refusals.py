"""Why a device is refused. The word goes into the journal, the sentence to whoever asked.

Devices need a library, an extra of the package: where that is missing, there are none.
"""

from enum import StrEnum
from importlib import import_module

from siding.ground.errors import LibraryMissing, SidingError

_PAIR_AGAIN = "`siding devices pair` in a terminal pairs it"


class Reason(StrEnum):
    """Why a proof, a code or a request of a device was refused."""

    UNKNOWN = "unknown"  # no such device is paired
    REMOVED = "removed"  # it was, and was removed
    MALFORMED = "malformed"  # this is no proof
    UNSIGNED = "unsigned"  # a session of a device only reads
    FOREIGN = "foreign"  # the challenge was made for another device, or by another dashboard
    STALE = "stale"  # the challenge is too old
    REPLAYED = "replayed"  # the challenge was used before
    ALTERED = "altered"  # the signature is not of this request
    COUNTER = "counter"  # the authenticator has signed more often before: it may be a copy
    NOT_FOR_DEVICES = "not for devices"  # the act is none of those that a device may do
    NO_OFFER = "no offer"  # nobody is pairing a device now
    WRONG_CODE = "wrong code"
    LATE_CODE = "late code"
    TOO_MANY = "too many"  # requests of this kind within a minute


_SAID = {
    Reason.UNKNOWN: "this device is not paired",
    Reason.REMOVED: "this device is not paired any more",
    Reason.MALFORMED: "the device's proof cannot be read",
    Reason.UNSIGNED: "this needs the device's signature",
    Reason.FOREIGN: "the device signed for another device or another start of the dashboard",
    Reason.STALE: "the device signed too late",
    Reason.REPLAYED: "this signature was used before",
    Reason.ALTERED: "the signature is not of this request",
    Reason.COUNTER: "the authenticator has signed more often before: it may have been copied",
    Reason.NOT_FOR_DEVICES: "a device may not do this",
    Reason.NO_OFFER: "nobody is pairing a device now, or the code was used",
    Reason.WRONG_CODE: "that is not the code",
    Reason.LATE_CODE: "the code is too old",
    Reason.TOO_MANY: "that was tried too often",
}
_HINTS = {
    Reason.UNKNOWN: _PAIR_AGAIN,
    Reason.REMOVED: _PAIR_AGAIN,
    Reason.NOT_FOR_DEVICES: "it needs the code that the terminal of `siding ui` shows",
    Reason.NO_OFFER: "`siding devices pair` in a terminal shows a code",
    Reason.LATE_CODE: "`siding devices pair` shows a new one",
    Reason.WRONG_CODE: "it is in the terminal of `siding devices pair`",
    Reason.TOO_MANY: "wait a minute",
}


class DeviceRefused(SidingError):
    """A device, or what claims to be one, is refused. Nothing was done."""

    code = "device_refused"

    def __init__(self, reason: Reason) -> None:
        super().__init__(_SAID[reason], hint=_HINTS.get(reason, "try it again"))
        self.reason = reason


class DeviceUnknown(DeviceRefused):
    """The device is not paired, or not any more. A browser that is told so forgets its key."""

    code = "device_unknown"


def require_library() -> None:
    """Load `cryptography`, or raise LibraryMissing. That takes 40 ms, and nothing later."""
    try:
        import_module("cryptography.hazmat.primitives.asymmetric.ec")
    except ImportError:
        from siding.ground.installation import adding

        raise LibraryMissing(
            "paired devices need the library `cryptography`, which is not installed",
            hint=adding("devices"),
        ) from None
