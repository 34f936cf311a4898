"""The effect of what a person is asked about, as it is kept and as it is shown; it was not done.

A command ran in a copy of the workspace, and what it changed there is its effect. That of a tool
that changes files is worked out from what the tool was given.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.agents.edits import Edit, as_records, from_records
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, strings, text, whole, whole_or_none


class EffectState(StrEnum):
    """What is known of an effect."""

    PENDING = "pending"  # somebody is trying the command
    TRIED = "tried"
    NOT_TRIED = "not tried"
    COMPUTED = "computed"  # from what a tool was given; nothing ran
    NOT_KNOWN = "not known"  # it cannot be computed
    STALE = "stale"  # tried or computed, but the workspace has changed since; never on disk


class Touch(StrEnum):
    """What a command did to a file."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


class TouchedFile(NamedTuple):
    """One file that the command touched. The lines are 0 where they were not counted."""

    path: str  # below the workspace, without secrets
    how: Touch
    additions: int = 0
    deletions: int = 0

    @property
    def is_outside(self) -> bool:
        """Whether it is outside of the workspace: its whole path is there."""
        return self.path.startswith(("/", "~"))


class Counter(NamedTuple):
    """The process that finds out an effect, told from a later one by its start time."""

    pid: int = 0
    started: int = 0


class Effect(NamedTuple):
    """What a command, or the call of a tool, would change, or why that is not known.

    `command` has no secrets; it can be tried `again` by anybody if that took none away. `touched`
    are the first files, `files` counts all; with `at_least` there are more. `patch` is a file, ""
    if there is none. `counted_from` stands for the state of the workspace that was copied. Of a
    tool that edits, `command` is its name and its files, `edits` is what it was given as long as
    that has no secrets and is short, and `looked_at` are the files that were read.
    """

    state: EffectState
    command: str = ""
    cwd: str = ""
    again: bool = False
    why: str = ""  # it was not tried, or the effect is not whole
    touched: tuple[TouchedFile, ...] = ()
    files: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    additions: int = 0
    deletions: int = 0
    at_least: bool = False
    places: tuple[str, ...] = ()  # whole directories that it deletes, and files
    notes: tuple[str, ...] = ()  # what is not shown
    exit_code: int | None = None
    patch: str = ""
    counted_from: str = ""
    counted_at: str = ""
    left_out: tuple[str, ...] = ()  # directories that were too large to be copied
    by: Counter = Counter()
    edits: tuple[Edit, ...] = ()
    is_edit: bool = False
    looked_at: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The effect in one line."""
        match self.state:
            case EffectState.PENDING:
                if self.is_edit:
                    return "is being worked out from what the tool was given"
                return "is being tried in a copy of the workspace"
            case EffectState.NOT_TRIED:
                return f"not tried: {self.why}"
            case EffectState.NOT_KNOWN:
                return f"not known: {self.why}"
            case EffectState.TRIED | EffectState.COMPUTED | EffectState.STALE:
                return self._counted()

    def _counted(self) -> str:
        least = "at least " if self.at_least else ""
        parts = []
        if self.deleted:
            shown = ", ".join(self.places[:3]) + (" …" if len(self.places) > 3 else "")
            parts.append(f"deletes {least}{counted(self.deleted, 'file')}: {shown}")
        if self.changed:
            lines = f" (+{self.additions} -{self.deletions})" if self._has_lines else ""
            parts.append(f"changes {least}{counted(self.changed, 'file')}{lines}")
        if self.added:
            parts.append(f"adds {least}{counted(self.added, 'file')}")
        outside = sum(each.is_outside for each in self.touched)
        if outside:
            parts.append(f"of these {outside} outside of the workspace")
        return "; ".join(parts) or "changes no file of the workspace"

    @property
    def _has_lines(self) -> bool:
        return bool(self.additions or self.deletions) and not (self.added or self.deleted)

    def as_record(self) -> dict[str, Any]:
        """Return what programs get: the JSON object of `siding inbox --json`."""
        return {
            "state": self.state.value,
            "why": self.why,
            "summary": self.summary,
            "files": self.files,
            "additions": self.additions,
            "deletions": self.deletions,
            "deleted": self.deleted,
            "at_least": self.at_least,
            "touched": [each._asdict() for each in self.touched],
            "notes": list(self.notes),
            "exit_code": self.exit_code,
            "is_edit": self.is_edit,
            "patch": self.patch,
            "counted_from": self.counted_from,
            "counted_at": self.counted_at,
        }

    def as_document(self) -> dict[str, Any]:
        """Return what is kept on disk; `patch` is not: its name follows from the question's."""
        kept = {name: value for name, value in self._asdict().items() if name != "patch"}
        kept["touched"] = [each._asdict() for each in self.touched]
        kept["by"] = self.by._asdict()
        kept["edits"] = as_records(self.edits)
        return {
            name: list(each) if isinstance(each, tuple) else each for name, each in kept.items()
        }

    @classmethod
    def from_document(cls, data: Mapping[str, Any]) -> "Effect":
        """Return what was kept. Raises ValueError for a state that is not known."""
        by = data.get("by")
        by = by if isinstance(by, dict) else {}
        numbers = ("files", "added", "changed", "deleted", "additions", "deletions")
        lists = ("places", "notes", "left_out", "looked_at")
        texts = ("command", "cwd", "why", "counted_from", "counted_at")
        return cls(
            state=EffectState(text(data.get("state"))),
            again=data.get("again") is True,
            is_edit=data.get("is_edit") is True,
            edits=from_records(data.get("edits")),
            at_least=data.get("at_least") is True,
            touched=tuple(map(_touched, mappings(data.get("touched")))),
            exit_code=whole_or_none(data.get("exit_code")),
            by=Counter(pid=whole(by.get("pid")), started=whole(by.get("started"))),
            **dict[str, Any]((name, whole(data.get(name))) for name in numbers),
            **dict[str, Any]((name, strings(data.get(name))) for name in lists),
            **dict[str, Any]((name, text(data.get(name))) for name in texts),
        )


def _touched(record: Mapping[str, Any]) -> TouchedFile:
    return TouchedFile(
        path=text(record.get("path")),
        how=Touch(text(record.get("how"))),
        additions=whole(record.get("additions")),
        deletions=whole(record.get("deletions")),
    )


_SHOWN = 20  # files on a screen; the patch has the rest
_SIGNS = {Touch.ADDED: "+", Touch.CHANGED: "~", Touch.DELETED: "-"}


def lines_of(effect: Effect, most: int = _SHOWN) -> list[str]:
    """Return the effect as lines for a screen: what it is, its files, what is not shown.

    An agent may have chosen the names of files: make the lines inert before they are printed.
    """
    found = [f"effect: {effect.summary}"]
    if effect.state is EffectState.STALE:
        found.append("  the workspace has changed since this was counted")
    for each in effect.touched[:most]:
        lines = f"  (+{each.additions} -{each.deletions})" if _counts(each) else ""
        found.append(f"  {_SIGNS[each.how]} {each.path}{lines}")
    more = effect.files - min(len(effect.touched), most)
    if more > 0:
        found.append(f"  and {'at least ' if effect.at_least else ''}{more} more")
    if effect.state in (EffectState.TRIED, EffectState.COMPUTED, EffectState.STALE):
        found += [f"  {each}" for each in (effect.why, *effect.notes) if each]
    return found


def _counts(touched: TouchedFile) -> bool:
    return touched.how is Touch.CHANGED and bool(touched.additions or touched.deletions)
