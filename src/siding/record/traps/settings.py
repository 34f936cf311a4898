"""The section ``traps`` of settings: which files are traps, and when they are held.

Two files are read: the person's for everything (``config.yaml`` in Siding's home) and the one of
this project. Rows of both count; `hold` of the project's replaces the other one. A repository has
no say in it.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from siding.agents.traps import TABLE, BadPattern, Pattern, Table, TrapRow, spread
from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.settings import is_default, parse_settings

_KEYS = ("hold", "add", "remove")
_ROW = ("pattern", "by", "when")


class Hold(StrEnum):
    """When traps are held until a person has seen them."""

    SANDBOXED = "sandboxed"  # in a task that has had a sandboxed run
    ALWAYS = "always"
    NEVER = "never"


class TrapSettings(NamedTuple):
    """When traps are held, the rows that were added, and the patterns that were taken out."""

    hold: Hold | None = None
    added: tuple[TrapRow, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """The table in force."""
        return _table(self.added, self.removed)


def trap_settings(project: Project) -> TrapSettings:
    """Return the settings in force. Raises UsageError that names the file and the key."""
    everywhere = _said_in(project.app.home.config_path)
    here = _said_in(project.layout.config_yaml)
    return TrapSettings(
        here.hold or everywhere.hold or Hold.SANDBOXED,
        (*here.added, *everywhere.added),
        (*here.removed, *everywhere.removed),
    )


@lru_cache(maxsize=4)
def _table(added: tuple[TrapRow, ...], removed: tuple[str, ...]) -> Table:
    return Table((*added, *_without(removed)))


def _without(removed: tuple[str, ...]) -> tuple[TrapRow, ...]:
    if not removed:
        return TABLE
    gone = {each.casefold() for each in removed}
    rows = []
    for row in TABLE:
        forms = [form for text in row.patterns.split() for form in spread(text)]
        kept = [form for form in forms if form.casefold() not in gone]
        rows.append(row._replace(patterns=" ".join(kept)))
    return tuple(rows)


def _said_in(path: Path) -> TrapSettings:
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return TrapSettings()
    if is_default(raw) or b"traps" not in raw:
        return TrapSettings()
    section = parse_settings(path, raw).get("traps")
    if section is None:
        return TrapSettings()
    if not isinstance(section, dict):
        raise _wrong(path, "traps", "a section", section)
    for key in section:
        if key not in _KEYS:
            raise UsageError(
                f"traps.{key} in {str(path)!r} is no setting", hint=f"traps has {', '.join(_KEYS)}"
            )
    return TrapSettings(
        hold=_hold(section.get("hold"), path),
        added=tuple(_row(each, path) for each in _list(section, "add", path)),
        removed=tuple(_pattern(each, path) for each in _list(section, "remove", path)),
    )


def _hold(value: object, path: Path) -> Hold | None:
    if value is None:
        return None
    if value not in list(Hold):
        raise _wrong(path, "traps.hold", f"one of {', '.join(Hold)}", value)
    return Hold(str(value))


def _list(section: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    value = section.get(key)
    if value is not None and not isinstance(value, list):
        raise _wrong(path, f"traps.{key}", "a list", value)
    return value or []


def _row(value: object, path: Path) -> TrapRow:
    wanted = "rows of pattern, by and when, each a text"
    if not isinstance(value, dict) or not set(value) <= set(_ROW) or "pattern" not in value:
        raise _wrong(path, "traps.add", wanted, value)
    if not all(isinstance(each, str) for each in value.values()):
        raise _wrong(path, "traps.add", wanted, value)
    pattern = str(value["pattern"])
    try:
        for one in spread(pattern):
            Pattern.parse(one)
    except BadPattern:
        raise _wrong(path, "traps.add", "patterns such as deploy/*.sh", pattern) from None
    if " " in pattern:
        raise _wrong(path, "traps.add", "one pattern a row, without spaces (`?` for one)", pattern)
    return TrapRow(value.get("by") or "a program", value.get("when") or "later", pattern)


def _pattern(value: object, path: Path) -> str:
    known = {
        form.casefold() for row in TABLE for text in row.patterns.split() for form in spread(text)
    }
    if not isinstance(value, str) or value.casefold() not in known:
        raise _wrong(path, "traps.remove", "patterns of the table, in docs/traps.md", value)
    return value


def _wrong(path: Path, name: str, wanted: str, found: object) -> UsageError:
    return UsageError(f"{name} in {str(path)!r} should be {wanted}, and is {found!r}")
