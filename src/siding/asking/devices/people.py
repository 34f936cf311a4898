"""Devices are a person's to pair and to remove: no command inside a run may."""

from siding.asking.devices.store import DeviceStore
from siding.record.place.projects import known_projects
from siding.record.place.sandbox_inside import HomeHidden, home_is_hidden, is_in_step
from siding.record.place.wiring import App
from siding.record.recording.calling_step import InsideStep, calling_steps

_HINT = "it is for a person: `siding devices` in a terminal of your own"


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
