"""The terminal's side of pairing a device: show a code, and wait until a browser brings it."""

import time
from collections.abc import Callable

from siding.asking.devices.device import name_from
from siding.asking.devices.journal import Circumstances, DeviceJournal, Told
from siding.asking.devices.library import require_library
from siding.asking.devices.listing import DeviceRow, devices
from siding.asking.devices.offer import GOOD_FOR_S, Offer, new_code, new_offer
from siding.asking.devices.people import devices_for_people
from siding.asking.devices.store import DeviceStore
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.dashboard import Dashboard, running_dashboard
from siding.record.place.project import Project
from siding.record.place.wiring import App

PAGE = "/pair"
_LOOK_EVERY_S = 0.1


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
