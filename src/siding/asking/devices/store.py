"""Devices on disk: ``devices/`` of the home, the journal of them, and the dashboard's certificate.

`FORMAT.md` shows the files. Writers hold the lock. Reading takes none: each file is replaced as a
whole. The journal has what was paired, removed, signed and refused, in all projects. The
certificate with which a dashboard is served to devices is found, or made and renewed.
"""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from siding.asking.devices.device import (
    DEVICE_VERSION,
    OFFER_VERSION,
    Device,
    Offer,
    device_from,
    document_of,
    is_device_id,
    offer_from,
)
from siding.asking.devices.device import document_of_offer as offer_document
from siding.asking.devices.refusals import DeviceRefused, DeviceUnknown, Reason, require_library
from siding.ground.errors import NotFound, SidingError
from siding.ground.files.durable import make_dirs, move_aside, remove_file, replace_bytes
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.directory_lock import locked
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.journals import Journal
from siding.record.place.wiring import App

_LOCK_TIMEOUT_S = 10.0
_SUFFIX = ".json"
REFUSALS_A_MINUTE = 30  # that are recorded; a flood of them would only fill the disk


class DeviceStore:
    """All paired devices of a home, the offer to pair one, and the journal."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.removed = directory / "removed"
        self.certificate = directory / "served.pem"
        self._offer = directory / "offer.json"
        self._journal = Journal(directory / "journal.jsonl")

    def ids(self) -> list[str]:
        """Return the ids of the paired devices."""
        try:
            names = os.listdir(self.directory)
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        return sorted(each for each in found if is_device_id(each))

    def all(self) -> tuple[list[Device], list[str]]:
        """Return the devices, oldest first, and sentences about files that cannot be read."""
        found: list[Device] = []
        problems: list[str] = []
        for device_id in self.ids():
            try:
                found.append(self.load(device_id))
            except DeviceRefused:
                continue  # removed meanwhile
            except SidingError as error:
                problems.append(error.message)
        return sorted(found, key=lambda each: (each.created_at, each.id)), problems

    def load(self, device_id: str) -> Device:
        """Return a paired device. Raises DeviceUnknown, DamagedFile and NewerVersion."""
        path = self._path(device_id)
        document = read_document_or_none(path, what="device", version=DEVICE_VERSION)
        if document is None:
            was = any(each.startswith(device_id) for each in _names(self.removed))
            raise DeviceUnknown(Reason.REMOVED if was else Reason.UNKNOWN)
        try:
            return device_from(document, device_id)
        except ValueError as error:
            raise DamagedFile(path, str(error), what="device") from error

    def is_paired(self, device_id: str) -> bool:
        """Return whether the device is paired now; it costs one system call."""
        return os.path.lexists(self._path(device_id))

    def find(self, named: str) -> Device:
        """Return the device with this name or id. Raises NotFound."""
        devices, _problems = self.all()
        for each in devices:
            if named in (each.id, each.name):
                return each
        close = [each for each in devices if each.name.casefold() == named.casefold()]
        if len(close) == 1:
            return close[0]
        raise NotFound(f"there is no device {named!r}", hint="`siding devices` lists them")

    def put(self, device: Device) -> None:
        """Store a device. Under the lock."""
        write_document(self._path(device.id), document_of(device))

    def remove(self, device_id: str, stamp: str) -> None:
        """Move a device's file aside: from now on it is not paired. Under the lock."""
        make_dirs(self.removed)
        move_aside(self._path(device_id), self.removed / f"{device_id}.{stamp}{_SUFFIX}")

    def offer(self) -> Offer | None:
        """Return the newest offer, used or not; None if there is none, or it is damaged."""
        try:
            document = read_document_or_none(self._offer, what="offer", version=OFFER_VERSION)
            return None if document is None else offer_from(document)
        except (SidingError, ValueError):
            return None

    def put_offer(self, offer: Offer) -> None:
        """Store the offer; it takes the place of an earlier one. Under the lock."""
        write_document(self._offer, offer_document(offer))

    def drop_offer(self) -> None:
        """Remove the offer. Under the lock."""
        remove_file(self._offer)

    def tell(self, record: dict[str, Any]) -> None:
        """Append to the journal."""
        make_dirs(self.directory)
        self._journal.append(record)

    def told(self, count: int) -> list[dict[str, Any]]:
        """Return the newest entries of the journal, oldest first."""
        return [each.record for each in self._journal.tail(count) if each.record is not None]

    def changing(self) -> AbstractContextManager[None]:
        """Hold the lock of the devices."""
        return locked(self.directory, _LOCK_TIMEOUT_S)

    def _path(self, device_id: str) -> Path:
        if not is_device_id(device_id):
            raise DeviceRefused(Reason.MALFORMED)
        return self.directory / f"{device_id}{_SUFFIX}"


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except FileNotFoundError:
        return []


class Told(StrEnum):
    """What an entry of the journal says."""

    OFFERED = "device.offered"
    PAIRED = "device.paired"
    REMOVED = "device.removed"
    SIGNED_IN = "device.signed-in"
    USED = "device.used"
    REFUSED = "device.refused"


class Circumstances(NamedTuple):
    """What a device asked for, and from where. Every field may be ""."""

    project: str = ""
    method: str = ""
    path: str = ""
    peer: str = ""  # the address of the other side
    reason: str = ""


class DeviceJournal:
    """Writes entries; of refusals, only so many a minute."""

    def __init__(
        self, app: App, store: DeviceStore, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._store = store
        self._now = now
        self._refused: list[float] = []
        self._left_out = 0
        self._turn = Lock()

    def tell(
        self,
        event: Told,
        *,
        device: str = "",
        name: str = "",
        about: Circumstances | None = None,
    ) -> bool:
        """Append an entry; return False for a refusal that was left out, one of very many."""
        more: dict[str, object] = {}
        if event is Told.REFUSED:
            with self._turn:
                now = self._now()
                self._refused = [each for each in self._refused if now - each < 60]
                if len(self._refused) >= REFUSALS_A_MINUTE:
                    self._left_out += 1
                    return False
                self._refused.append(now)
                if self._left_out:
                    more["left_out"] = self._left_out  # refusals before this one
                self._left_out = 0
        fields = {"device": device, "name": name, **(about or Circumstances())._asdict()}
        known = {key: value for key, value in fields.items() if value}
        self._store.tell({"v": 1, "at": self._app.now(), "event": event.value, **known, **more})
        return True

    def tell_of(self, event: Told, device: Device, about: Circumstances | None = None) -> None:
        """Append an entry about a paired device."""
        self.tell(event, device=device.id, name=device.name, about=about)


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
