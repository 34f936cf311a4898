"""Say that a step's snapshot was freed by `siding gc`, and refuse what would need it.

This is the one place that words it.
"""

from collections.abc import Sequence
from typing import Any

from siding.app.place.project import Project
from siding.errors import SidingError
from siding.ledger.freed import FreedJournal, FreedRecord
from siding.ledger.step import Step

FIELD = "snapshot_freed"  # in a step that is given as JSON; no ledger has it


class SnapshotFreed(SidingError):
    """The state is gone: its snapshot was freed."""

    code = "snapshot_freed"


def freed_journal(project: Project) -> FreedJournal:
    """Return the journal of freed snapshots, whether it is there or not."""
    return FreedJournal(project.layout.freed_jsonl, project.layout.freed_head)


def freed_record(project: Project) -> FreedRecord:
    """Return which snapshots were freed. Takes no lock."""
    return freed_journal(project).read()


def freed_at(project: Project, *snapshots: str | None) -> str | None:
    """Return when the first of these snapshots that was freed was freed; None if none was."""
    found = freed_record(project).of_all()
    return next((found[each] for each in snapshots if each in found), None)


def freed_words(at: str) -> str:
    """Return the sentence about a step whose snapshot was freed at this time, without a period."""
    return f"its snapshot was freed by `siding gc` on {at[:10]}"


def freed_note(project: Project, step: Step) -> str | None:
    """Return the sentence about the step if its snapshot was freed, else None."""
    at = freed_at(project, step.snapshot)
    return None if at is None else freed_words(at)


def refuse_freed(project: Project, name: str, *snapshots: str | None) -> None:
    """Raise SnapshotFreed if one of the snapshots was freed; `name` says whose they are."""
    at = freed_at(project, *snapshots)
    if at is not None:
        raise snapshot_freed(name, at)


def snapshot_freed(name: str, at: str) -> SnapshotFreed:
    """Return the error for a state that was freed at this time."""
    return SnapshotFreed(
        f"{name} is gone: {freed_words(at)}",
        hint="`siding log` marks the steps that were freed; any other one can be gone back to. "
        "What a freed step changed is kept: `siding diff N`",
    )


def marked(project: Project, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the lines of steps; one whose snapshot was freed says when, in `snapshot_freed`."""
    found = freed_record(project).of_all()
    return [
        {**step.line, **({FIELD: found[step.snapshot]} if step.snapshot in found else {})}
        for step in steps
    ]
