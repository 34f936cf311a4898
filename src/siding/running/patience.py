"""How long a question whether an agent may do something waits for a person."""

import os

from siding.asking.devices.store import DeviceStore
from siding.ground.errors import UsageError
from siding.record.place.project import Project
from siding.record.place.quantities import seconds_in
from siding.running.request import RunRequest

AUTO, WAIT, DENY = "auto", "wait", "deny"
NOBODY_S = 60.0  # where nobody is known to be there, an agent does not stand still unseen for long


def patience(project: Project, request: RunRequest) -> float | None:
    """Return the seconds after which the answer is no; 0 at once, None never.

    What the run's command line says counts before the setting. `auto` waits if somebody is there:
    at the run's terminal, or with a paired device.
    """
    wanted = request.ask or project.settings.agents_ask
    if wanted != AUTO:
        return seconds_of(wanted)
    is_there = request.attended or (os.isatty(0) and os.isatty(2))
    is_there = is_there or bool(DeviceStore(project.app.home.devices_dir).ids())
    return None if is_there else NOBODY_S


def seconds_of(wanted: str) -> float | None:
    """Return what `wait`, `deny` or a time says. Raises UsageError."""
    if wanted == WAIT:
        return None
    found = 0.0 if wanted == DENY else seconds_in(wanted)
    if found is None:
        raise UsageError(f"--ask {wanted!r} is not a time", hint="wait, deny, or 90, 5m, 1h30m")
    return found
