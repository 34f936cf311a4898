"""What the doctor finds, and what became of it; and notes, where nothing is wrong.

Notes are about files of others, redaction and paired devices. Files in the home that are not
Siding's own are named: commands pass over them.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from siding.asking.devices.store import DeviceStore
from siding.ground.ids import is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import foreign_names
from siding.record.ledger.intent_files import is_intent
from siding.record.place.dashboard import running_dashboard
from siding.record.place.project import Project
from siding.record.tasks.slots import is_slot, is_view

_NAMED = 8
_ARCHIVE, _LOCK, _DOCUMENT = ".tar.gz", ".lock", ".json"
# What desktops, editors and programs that synchronise files leave, wherever they look.
_LEFT = re.compile(
    r"\.DS_Store|\._.+|desktop\.ini|Thumbs\.db|.+~|.+\((conflicted|.+'s conflicted) copy.*\).*"
    r"|.+\.sync-conflict-.+",
    re.IGNORECASE,
)


class Finding(NamedTuple):
    """One inconsistency. `mend` repairs it and returns what it did; None: a person has to
    decide."""

    what: str
    advice: str
    mend: Callable[[], str] | None = None


class Mended(NamedTuple):
    """A finding with the result of its repair."""

    finding: Finding
    done: str | None  # None: nothing was done
    failed: str | None


def foreign_notes(project: Project) -> Iterator[str]:
    """Yield a sentence if there are files of others in the home. Reads no file."""
    found = list(dict.fromkeys(_foreign(project)))
    if not found:
        return
    home = project.app.home.root
    shown = ", ".join(repr(os.path.relpath(path, home)) for path in found[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    yield (
        f"{str(home)!r} holds what is not Siding's own, and is passed over: {shown}{more}. Move it "
        "away if nobody needs it there"
    )


def _foreign(project: Project) -> Iterator[Path]:
    layout, home = project.layout, project.app.home
    forks = layout.forks
    directories: tuple[tuple[Path, Callable[[Path], list[str]]], ...] = (
        (layout.tasks_dir, foreign_names),
        (layout.workspaces_dir, _files),
        (layout.trash_dir, foreign_names),
        (layout.root / "archives", lambda path: foreign_names(path, suffix=_ARCHIVE)),
        (layout.workflow_runs_dir, foreign_names),
        (layout.checkouts_dir, foreign_names),
        (forks.tasks_dir, lambda path: foreign_names(path, is_name=is_fork)),
        (forks.workspaces_dir, lambda path: foreign_names(path, is_name=is_slot)),
        (forks.views_dir, lambda path: foreign_names(path, is_name=is_view)),
        (home.projects_dir, _files),
    )
    for directory, foreign in directories:
        yield from (directory / name for name in foreign(directory))
    tasks = [project.task_layout(task_id) for task_id in project.tasks.ids()]
    for task in tasks:
        intents = task.intents_dir
        yield from (intents / name for name in _names(intents) if not _is_of_intents(name))
    anywhere = (
        *(home.root, home.projects_dir, home.devices_dir, home.ports_dir, layout.root),
        *(layout.locks_dir, layout.terminals_dir, layout.decisions_dir, layout.root / "sessions"),
        *(forks.root, forks.free_dir, forks.used_dir, forks.locks_dir),
        *(place for task in tasks for place in (task.root, task.runs_dir, task.artifacts_dir)),
    )
    for directory in anywhere:
        yield from (directory / name for name in _names(directory) if _LEFT.fullmatch(name))


def _is_of_intents(name: str) -> bool:
    own = name.startswith(".") or is_intent(name.removesuffix(_LOCK) + _DOCUMENT)
    return is_intent(name) or (own and name.endswith(_LOCK))


def _files(directory: Path) -> list[str]:
    return [name for name in _names(directory) if not (directory / name).is_dir()]


def _names(directory: Path) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def redaction_notes(project: Project) -> list[str]:
    """Return a sentence if secrets are recorded as they are printed; none if they are masked."""
    if project.redaction.enabled:
        return []
    own = project.settings.redaction.enabled is False
    path = project.layout.config_yaml if own else project.app.home.config_path
    return [f"redaction is off ({str(path)!r}): secrets are recorded as they are printed"]


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
