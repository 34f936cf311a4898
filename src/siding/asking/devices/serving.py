"""The certificate with which a dashboard is served to devices: found, or made and renewed."""

from pathlib import Path

from siding.asking.devices.refusals import require_library
from siding.asking.devices.store import DeviceStore
from siding.ground.errors import SidingError
from siding.ground.files.durable import replace_bytes
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App


class Certificate(NamedTuple):
    """The file with the certificate and its key, and its SHA-256 as browsers show it.

    `is_new` tells that devices have to compare it once more.
    """

    path: Path
    fingerprint: str
    is_new: bool


def certificate_for(app: App, names: tuple[str, ...]) -> Certificate:
    """Return a certificate for these hosts that is good for some weeks at least.

    Raises LibraryMissing. The file is only readable by its owner.
    """
    require_library()
    from siding.asking.devices.certificate import fingerprint, is_good, new_certificate

    store, now = DeviceStore(app.home.devices_dir), app.clock.now()
    with store.changing():
        pem = _there(store.certificate)
        is_new = pem is None or not is_good(pem, names, now)
        if pem is None or is_new:
            pem = new_certificate(names, now)
            replace_bytes(store.certificate, pem)
    return Certificate(store.certificate, fingerprint(pem), is_new)


def _there(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except (FileNotFoundError, SidingError):
        return None
