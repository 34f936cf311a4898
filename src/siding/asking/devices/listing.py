"""The paired devices as front ends get them, and the removal of one."""

from siding.asking.devices.device import Device
from siding.asking.devices.journal import DeviceJournal, Told
from siding.asking.devices.people import devices_for_people
from siding.asking.devices.store import DeviceStore
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App


class DeviceRow(NamedTuple):
    """One paired device. Times are ISO 8601; `last_used_at` is "" before the first use."""

    id: str
    name: str
    kind: str
    origin: str
    created_at: str
    last_used_at: str


class DeviceRows(NamedTuple):
    """The devices, oldest first, and sentences about files that cannot be read."""

    rows: list[DeviceRow]
    problems: list[str]


def devices(app: App) -> DeviceRows:
    """Return the paired devices of the home."""
    found, problems = DeviceStore(app.home.devices_dir).all()
    return DeviceRows([_row(each) for each in found], problems)


def told(app: App, count: int) -> list[dict[str, object]]:
    """Return the newest entries of the devices' journal, oldest first."""
    return DeviceStore(app.home.devices_dir).told(count)


def remove(app: App, named: str) -> DeviceRow:
    """Remove a device: it can do nothing from now on, and its sessions end.

    Raises NotFound, InsideStep and HomeHidden.
    """
    store = devices_for_people(app, "a device is a person's to remove")
    device = store.find(named)
    with store.changing():
        stamp = app.now().replace(":", "").replace(".", "")
        store.remove(device.id, stamp)
    DeviceJournal(app, store).tell_of(Told.REMOVED, device)
    return _row(device)


def _row(device: Device) -> DeviceRow:
    return DeviceRow(
        id=device.id,
        name=device.name,
        kind=device.kind.value,
        origin=device.origin,
        created_at=device.created_at,
        last_used_at=device.last_used_at,
    )
