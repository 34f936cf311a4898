"""The journal of the devices: what was paired, removed, signed and refused, in all projects."""

import time
from collections.abc import Callable
from enum import StrEnum
from threading import Lock

from siding.asking.devices.device import Device
from siding.asking.devices.store import DeviceStore
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App

REFUSALS_A_MINUTE = 30  # that are recorded; a flood of them would only fill the disk


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
