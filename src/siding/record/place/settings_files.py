"""Read settings files; their sections are loaded where a file says something."""

from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_bytes
from siding.record.place.settings import RedactionSettings, Settings, is_default

if TYPE_CHECKING:
    from siding.record.phases.plan import PhasePlan


# The sections that `Settings` has; of the home's file the others are read by who needs them.
_SECTIONS = (
    "git",
    "hooks",
    "snapshot",
    "policy",
    "isolation",
    "turns",
    "runs",
    "agents",
    "gc",
    "forks",
    "output",
)


def read_settings(path: Path, everywhere: Path | None = None) -> Settings:
    """Return the settings in `path`, and those in `everywhere` where it says nothing.

    A file that does not exist says nothing. `redaction` is that of `path` alone.

    Raises UsageError with the file and the place if one does not parse or a value has the wrong
    type, because a setting that is silently ignored is worse than none.
    """
    own = _said_in(path)
    wider = None if everywhere is None else _said_in(everywhere)
    if wider is not None and not any(each.encode() in wider for each in _SECTIONS):
        wider = None
    if own is None and wider is None:
        return Settings()
    from siding.record.place.settings_sections import settings_in

    files = {path: own} if everywhere is None else {path: own, everywhere: wider}
    return settings_in(files)


def redaction_in(path: Path) -> RedactionSettings:
    """Return what a settings file says about redaction."""
    raw = _said_in(path)
    if raw is None or b"redaction" not in raw:
        return RedactionSettings()
    from siding.record.place.settings_sections import redaction_of

    return redaction_of(path, raw)


def hooks_in(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the hooks and gate commands in a repository's ``.siding/config.yaml``, by moment."""
    raw = _said_in(path)
    if raw is None:
        return {}
    from siding.record.place.settings_sections import hooks_of

    return hooks_of(path, raw)


def phases_in(path: Path) -> "PhasePlan | None":
    """Return the `phases` of a settings file; None if it has none."""
    raw = _said_in(path)
    if raw is None:
        return None
    from siding.record.place.settings_sections import phases_of

    return phases_of(path, raw)


def _said_in(path: Path) -> bytes | None:
    """Return the content of a settings file; None if there is none or it says nothing."""
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return None
    return None if is_default(raw) else raw
