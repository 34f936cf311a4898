"""What there is to say and to mend about paired devices."""

from collections.abc import Callable, Iterator
from functools import partial

from siding.asking.devices.refusals import DeviceRefused
from siding.asking.devices.store import DeviceStore
from siding.ground.errors import SidingError
from siding.record.place.dashboard import running_dashboard
from siding.record.place.project import Project


def device_notes(project: Project) -> list[str]:
    """Return sentences: which devices are paired, whether the dashboard is served to them, and
    what that does not prevent."""
    found, _problems = DeviceStore(project.app.home.devices_dir).all()
    dashboard = running_dashboard(project)
    served = dashboard.served if dashboard is not None else ""
    where = f"the dashboard is served to devices at {served}" if served else ""
    if not found:
        return [f"no device is paired; {where or 'the dashboard is not served to any'}"]
    names = ", ".join(each.name for each in found)
    return [
        f"paired, and may answer in your name: {names} (`siding devices`)",
        where or "the dashboard is not served to them now",
        "a run without a sandbox can forge a device, as it can write all that you can; a sandbox "
        "prevents that",
    ]


def device_problems(project: Project) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Yield what is wrong with devices: what, advice, and what mends it."""
    store = DeviceStore(project.app.home.devices_dir)
    for device_id in store.ids():
        try:
            store.load(device_id)
        except DeviceRefused:
            continue  # removed meanwhile
        except SidingError as error:
            advice = "it can do nothing; it is moved aside, and the device can be paired again"
            yield error.message, advice, partial(_set_aside, project, store, device_id)


def _set_aside(project: Project, store: DeviceStore, device_id: str) -> str:
    with store.changing():
        store.remove(device_id, project.app.now().replace(":", "").replace(".", ""))
    return "moved aside, into `devices/removed`"
