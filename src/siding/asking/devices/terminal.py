"""The terminal's side of devices: pair one, list them, remove one.

Devices are a person's to pair and to remove: no command inside a run may. For pairing a terminal
shows a code, and waits until a browser brings it.
"""

import time
from collections.abc import Callable

from siding.asking.devices.device import GOOD_FOR_S, Device, Offer, name_from, new_code, new_offer
from siding.asking.devices.refusals import require_library
from siding.asking.devices.store import Circumstances, DeviceJournal, DeviceStore, Told
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.dashboard import Dashboard, running_dashboard
from siding.record.place.project import Project
from siding.record.place.projects import known_projects
from siding.record.place.wiring import App, HomeHidden, home_is_hidden, is_in_step
from siding.record.recording.calling_step import InsideStep, calling_steps

_HINT = "it is for a person: `siding devices` in a terminal of your own"
PAGE = "/pair"
_LOOK_EVERY_S = 0.1


def devices_for_people(app: App, what: str) -> DeviceStore:
    """Return the devices for a command that changes them; `what` says what it would do.

    Raises HomeHidden in a sandbox, and InsideStep inside a run of any project: the devices are
    those of the whole home.
    """
    if home_is_hidden(app):
        raise HomeHidden("this step runs in a sandbox, which has no devices", hint=_HINT)
    inside = is_in_step(app) or any(
        found.project is not None and calling_steps(found.project) for found in known_projects(app)
    )
    if inside:
        raise InsideStep(f"this command runs inside a task's step, and {what}", hint=_HINT)
    return DeviceStore(app.home.devices_dir)


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


class NotPaired(SidingError):
    """No device was paired with the code."""

    code = "not_paired"


class Pairing(NamedTuple):
    """An offer that waits: what a person needs to take it."""

    offer: str
    code: str
    address: str  # of the page where the code is typed
    fingerprint: str  # of the certificate of that page; "" on this machine
    good_for_s: int
    port: int  # of the loopback, where the page is there; else 0


def offer_pairing(project: Project, *, name: str = "") -> Pairing:
    """Begin to pair a device, with the dashboard of the project that runs.

    Raises InsideStep, HomeHidden, LibraryMissing, and NotPaired where no dashboard runs.
    """
    app = project.app
    store = devices_for_people(app, "a device is a person's to pair")
    require_library()
    dashboard = running_dashboard(project)
    if dashboard is None:
        raise NotPaired(
            "no dashboard of this project runs, and a device is paired with one",
            hint="start it in another terminal: `siding ui`, or `siding ui --serve 8443` for a "
            "phone or another machine",
        )
    code = new_code(app.random_bytes)
    offer = new_offer(
        code,
        name=name_from(name) if name else "",
        now=app.clock.now().timestamp(),
        random_bytes=app.random_bytes,
    )
    with store.changing():
        store.put_offer(offer)
    about = Circumstances(project=project.layout.root.name)
    DeviceJournal(app, store).tell(Told.OFFERED, name=offer.name, about=about)
    return Pairing(
        offer=offer.id,
        code=code,
        address=_address(dashboard),
        fingerprint=dashboard.fingerprint,
        good_for_s=GOOD_FOR_S,
        port=0 if dashboard.served else dashboard.port,
    )


def await_device(
    app: App, pairing: Pairing, *, sleep: Callable[[float], None] = time.sleep
) -> DeviceRow:
    """Wait until a device is paired, and return it; raise NotPaired when the offer is over."""
    store = DeviceStore(app.home.devices_dir)
    while True:
        offer = store.offer()
        if offer is None or offer.id != pairing.offer:
            raise NotPaired("another pairing began, so this code is good no more")
        if offer.used_by:
            found = [each for each in devices(app).rows if each.id == offer.used_by]
            if found:
                withdraw(app, pairing)
                return found[0]
        elif offer.is_over(app.clock.now().timestamp()):
            withdraw(app, pairing)
            raise NotPaired(_why(offer), hint="`siding devices pair` shows a new code")
        sleep(_LOOK_EVERY_S)


def withdraw(app: App, pairing: Pairing) -> None:
    """Take the offer back, if it is still there."""
    store = DeviceStore(app.home.devices_dir)
    with store.changing():
        offer = store.offer()
        if offer is not None and offer.id == pairing.offer:
            store.drop_offer()


def _why(offer: Offer) -> str:
    if not offer.tries:
        return "wrong codes were typed too often, so this one is good no more"
    return "nobody typed the code in time"


def _address(dashboard: Dashboard) -> str:
    if dashboard.served:
        return dashboard.served + PAGE
    # `localhost`, since a browser keeps keys of an authenticator for names, and not for addresses.
    return f"http://localhost:{dashboard.port}{PAGE}#key={dashboard.key}"
