"""Traps: which files are ones by the settings, and which of the changed paths are.

The section ``traps`` is read from two files: the person's for everything (``config.yaml`` in
Siding's home) and the one of this project. Rows of both count; `hold` of the project's replaces the
other one. A repository has no say in it. What finding traps costs follows the paths that
changed.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from siding.agents.traps import (
    LARGEST,
    TABLE,
    BadPattern,
    Pattern,
    Table,
    TrapRow,
    part_of,
    spread,
)
from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.git.paths import quote_path
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import Trap
from siding.record.place.project import Project
from siding.record.place.settings import is_default, parse_settings
from siding.record.snapshots.patches import Change, DiffStat
from siding.record.snapshots.store import SnapshotStore

_KEYS = ("hold", "add", "remove")
_ROW = ("pattern", "by", "when")
_LINK = "120000"
LINK_OUT = TrapRow("whoever follows it", "when the link, which leads out, is followed", "")
ReadBlobs = Callable[[Sequence[str]], Mapping[str, bytes]]  # what is too large or gone is left out


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
        raise _wrong(
            path, "traps.remove", "patterns of the table, in docs/reference/traps.md", value
        )
    return value


def _wrong(path: Path, name: str, wanted: str, found: object) -> UsageError:
    return UsageError(f"{name} in {str(path)!r} should be {wanted}, and is {found!r}")


def traps_of_step(project: Project, stat: DiffStat | None) -> tuple[Trap, ...]:
    """Return the traps among the changes of a step.

    A mistake in the settings must not keep a step from being recorded: then the table counts as it
    comes, and the mistake is told.
    """
    if stat is None or not stat.per_file:
        return ()
    try:
        table = trap_settings(project).table
    except UsageError as error:
        project.app.warn(f"traps are listed as if nothing was set: {error.message}")
        table = Table.usual()
    changes = (each.change._replace(path=each.path) for each in stat.per_file if each.change)
    return find_traps(table, changes, reader_of(project.snapshots))


def reader_of(store: SnapshotStore) -> ReadBlobs:
    """Return the function with which blobs of a store are read."""
    return lambda shas: store.read_blobs(shas, LARGEST)


def find_traps(table: Table, changes: Iterable[Change], read: ReadBlobs) -> tuple[Trap, ...]:
    """Return the traps among the changes, in the order of their paths. A removed file is none."""
    found: list[tuple[Change, TrapRow | None]] = []
    for change in changes:
        row = None if change.status == "D" else table.row_of(change.path)
        if row is not None or (change.new_mode == _LINK and change.status != "D"):
            found.append((change, row))
    contents = read(sorted(set(_wanted(found)))) if found else {}
    traps = (_trap(change, row, contents) for change, row in found)
    return tuple(sorted((trap for trap in traps if trap is not None), key=lambda each: each.path))


def _wanted(found: Iterable[tuple[Change, TrapRow | None]]) -> Iterator[str]:
    """Yield the ids of the contents that have to be read."""
    for change, row in found:
        if row is None:
            yield change.new_sha
        elif row.part:
            yield change.new_sha
            if _is_same_path(change):
                yield change.old_sha


def _trap(change: Change, row: TrapRow | None, contents: Mapping[str, bytes]) -> Trap | None:
    whole = f"{change.new_mode} {change.new_sha}"
    if row is None:
        target = contents.get(change.new_sha)
        if target is not None and not leads_out(change.path, target):
            return None
        return _made(change, LINK_OUT, whole)
    content = contents.get(change.new_sha) if row.part else None
    if content is None or change.new_mode == _LINK:
        return _made(change, row, whole)
    part = part_of(content, row.part)
    if not part:
        return None
    if _is_same_path(change):
        before = contents.get(change.old_sha)
        if before is not None and part_of(before, row.part) == part:
            return None
    return _made(change, row, f"part {sha256_hex(part)}")


def _made(change: Change, row: TrapRow, content: str) -> Trap:
    path = quote_path(change.path)
    return Trap(
        path=path,
        by=row.by,
        when=row.when,
        how="changed" if _is_same_path(change) else "made",
        content=sha256_hex(json.dumps([path, content]).encode()),
    )


def _is_same_path(change: Change) -> bool:
    return change.status in ("M", "T")


def leads_out(path: bytes, target: bytes) -> bool:
    """Tell whether a link at `path` leads out of the workspace, or into its ``.git``."""
    if target.startswith(b"/"):
        return True
    where = os.path.normpath(os.path.join(os.path.dirname(path), target))
    first = where.split(b"/", 1)[0]
    return first == b".." or first.lower() == b".git"
