"""Which command draws the status line: the section `status_line` of these files, the first that
has a command.

    machine      /etc/siding/status_line.yaml
    project      config.yaml of the project, in Siding's home
    repository   .siding/config.yaml of the repository, once a person has trusted it
    home         config.yaml of Siding's home

The file of the machine may also turn all commands off (`enabled: false`), or all but its own
(`enabled: managed`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import SidingError, UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.guard.hooks import repository_hooks
from siding.record.place.project import Project
from siding.record.place.quantities import seconds_in
from siding.record.place.settings import is_default, parse_settings
from siding.record.place.settings_sections import STATUS_LINE
from siding.record.place.wiring import App

MANAGED = Path("/etc/siding/status_line.yaml")
MOST_PADDING = 20
_NAMES = ("command", "enabled", "padding", "refresh")
_LARGEST = 1 << 20  # bytes of a file of settings
_TYPE = "command"  # the only kind there is; files for other programs say it


class Said(NamedTuple):
    """What one file says. None: nothing."""

    source: str
    command: str = ""
    enabled: bool | str | None = None
    refresh_s: float | None = None
    padding: int | None = None


class LineSettings(NamedTuple):
    """How the line is made. Without a command Siding makes it."""

    command: str = ""
    source: str = ""  # the file that names the command
    refresh_s: float = 0.0  # 0: no ticks
    padding: int = 0  # columns left and right
    is_on: bool = True  # False: only how everything stands is shown
    notes: tuple[str, ...] = ()  # sentences about a command that is not run

    @property
    def key(self) -> str:
        """What is the same as long as the command is the same."""
        return f"{self.source}\0{self.command}\0{self.padding}\0{self.is_on}"


def settings_here(app: App, project: Project | None, managed: Path = MANAGED) -> LineSettings:
    """Return the settings that count in a project. Raises UsageError for a file that is wrong.

    What a repository says wrong is a note: it may be anybody's.
    """
    machine = read_said(managed)
    if machine is not None and machine.enabled is False:
        note = f"{managed} turns the status line's commands off"
        return LineSettings(notes=(note,))
    if machine is not None and machine.enabled == "managed":
        return _combined([machine], ())
    theirs, notes = (None, ()) if project is None else _of_repository(project)
    own = None if project is None else read_said(project.layout.config_yaml)
    layers = [machine, own, theirs, read_said(app.home.config_path)]
    return _combined([each for each in layers if each is not None], notes)


def files_of(app: App, project: Project | None, managed: Path = MANAGED) -> tuple[Path, ...]:
    """Return the files that these settings are read from."""
    found = [managed, app.home.config_path]
    if project is not None:
        found += [project.layout.config_yaml, project.layout.root / "trust.json"]
        main = project.paths.main_worktree
        found += [] if main is None else [main / ".siding" / "config.yaml"]
    return tuple(found)


def _of_repository(project: Project) -> tuple[Said | None, tuple[str, ...]]:
    main = project.paths.main_worktree
    if main is None:
        return None, ()
    try:
        said = read_said(main / ".siding" / "config.yaml")
        if said is None or not said.command or repository_hooks(project).trusted:
            return said, ()
    except SidingError as error:
        return None, (f"the status line of the repository is left out: {error.message}",)
    note = (
        "the repository brings a command for the status line, which is not run before you have "
        f"trusted it: `siding trust` in {main}"
    )
    return None, (note,)


def _combined(layers: list[Said], notes: tuple[str, ...]) -> LineSettings:
    is_on = next((each.enabled for each in layers if isinstance(each.enabled, bool)), True)
    named = next((each for each in layers if each.command), None)
    if named is None or not is_on:
        return LineSettings(is_on=is_on, notes=notes)
    return LineSettings(
        command=named.command,
        source=named.source,
        refresh_s=named.refresh_s or 0.0,
        padding=named.padding or 0,
        notes=notes,
    )


def read_said(path: Path) -> Said | None:
    """Return what a file says of the status line; None if that is nothing. Raises UsageError."""
    try:
        raw = read_bytes(path, limit=_LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if STATUS_LINE.encode() not in raw or is_default(raw):
        return None
    section = parse_settings(path, raw).get(STATUS_LINE)
    if section is None:
        return None
    if not isinstance(section, dict):
        raise _wrong(path, "", "a section", section)
    return _said(section, path)


def _said(section: Mapping[str, Any], path: Path) -> Said:
    kind = section.get("type", _TYPE)
    if kind != _TYPE:
        raise _wrong(path, "type", f"{_TYPE!r}", kind)
    unknown = sorted(set(map(str, section)) - {*_NAMES, "type"})
    if unknown:
        raise UsageError(
            f"{STATUS_LINE}.{unknown[0]} in {str(path)!r} has no meaning",
            hint=f"there are: {', '.join(_NAMES)}",
        )
    command = section.get("command") or ""
    if not isinstance(command, str):
        raise _wrong(path, "command", "a line of shell", command)
    enabled = section.get("enabled")
    if enabled not in (None, True, False, "managed"):
        raise _wrong(path, "enabled", "true or false", enabled)
    padding = section.get("padding")
    is_number = isinstance(padding, int) and not isinstance(padding, bool)
    if padding is not None and not (is_number and 0 <= padding <= MOST_PADDING):
        raise _wrong(path, "padding", f"a number from 0 to {MOST_PADDING}", padding)
    return Said(str(path), command.strip(), enabled, _refresh(section, path), padding)


def _refresh(section: Mapping[str, Any], path: Path) -> float | None:
    said = section.get("refresh")
    if said in (None, 0, "", "never", False):
        return None
    found = None if isinstance(said, bool) else seconds_in(str(said))
    if found is None:
        raise _wrong(path, "refresh", "a time such as 5s, or never", said)
    return max(1.0, found)


def _wrong(path: Path, name: str, wanted: str, value: object) -> UsageError:
    place = f"{STATUS_LINE}.{name}" if name else STATUS_LINE
    return UsageError(f"{place} in {str(path)!r} should be {wanted}, and is {value!r}")
