"""Say that a step's snapshot or patch was freed by `siding gc`, and refuse what would need it.

This is the one place that words it.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from siding.ground.errors import SidingError
from siding.record.ledger.step import Step
from siding.record.place.project import Project

if TYPE_CHECKING:  # most projects have freed nothing, and never need it
    from siding.record.ledger.freed import FreedJournal, FreedRecord

FIELD = "snapshot_freed"  # in a step that is given as JSON; no ledger has it
PATCH_FIELD = "patch_freed"  # as above


class SnapshotFreed(SidingError):
    """The state is gone: its snapshot was freed."""

    code = "snapshot_freed"


class PatchFreed(SidingError):
    """What a step changed cannot be shown any more: its patch was freed."""

    code = "patch_freed"


def freed_journal(project: Project) -> "FreedJournal":
    """Return the journal of freed snapshots, whether it is there or not."""
    from siding.record.ledger.freed import FreedJournal

    return FreedJournal(project.layout.freed_jsonl, project.layout.freed_head)


def freed_record(project: Project) -> "FreedRecord":
    """Return which snapshots were freed. Takes no lock."""
    return freed_journal(project).read()


def freed_snapshots(project: Project) -> Mapping[str, str]:
    """Return when each snapshot of any task was freed."""
    return freed_record(project).of_all() if _has_freed(project) else {}


def _has_freed(project: Project) -> bool:
    """Tell whether anything was ever freed; without both files nothing was."""
    layout = project.layout
    return os.path.lexists(layout.freed_jsonl) or os.path.lexists(layout.freed_head)


def freed_at(project: Project, *snapshots: str | None) -> str | None:
    """Return when the first of these snapshots that was freed was freed; None if none was."""
    found = freed_snapshots(project)
    return next((found[each] for each in snapshots if each and each in found), None)


def freed_words(at: str) -> str:
    """Return the sentence about a step whose snapshot was freed at this time, without a period."""
    return f"its snapshot was freed by `siding gc` on {at[:10]}"


def freed_note(project: Project, task_id: str, step: Step) -> str | None:
    """Return the sentence about the step if its snapshot, its patch or both were freed."""
    if not _has_freed(project):
        return None
    record = freed_record(project)
    snapshot, patch = record.of_all().get(step.snapshot or ""), _patch_freed(record, task_id, step)
    if snapshot and patch and snapshot[:10] == patch[:10]:
        return f"its snapshot and its patch were freed by `siding gc` on {patch[:10]}"
    parts = [freed_words(snapshot)] if snapshot else []
    return " · ".join([*parts, *([_patch_words(patch)] if patch else [])]) or None


def patch_note(project: Project, task_id: str, step: Step) -> str | None:
    """Return the sentence about the step if its patch was freed, else None."""
    at = _patch_freed(freed_record(project), task_id, step) if _has_freed(project) else None
    return None if at is None else _patch_words(at)


def _patch_freed(record: "FreedRecord", task_id: str, step: Step) -> str | None:
    return record.patches_of(task_id).get(step.id) if step.patch_sha256 else None


def _patch_words(at: str) -> str:
    return f"its patch was freed by `siding gc` on {at[:10]}"


def refuse_freed_patch(project: Project, task_id: str, step: Step) -> None:
    """Raise PatchFreed if the step's patch was freed."""
    said = patch_note(project, task_id, step)
    if said is not None:
        raise PatchFreed(
            f"what step {step.id} changed cannot be shown any more: {said}",
            hint=f"`siding show {step.number}` has the figures of its change, and its output",
        )


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
        "`siding diff N` shows what a freed step changed, unless its patch was freed, too",
    )


def marked(project: Project, task_id: str, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the lines of steps of a task; one whose snapshot or patch was freed says when, in
    `snapshot_freed` and `patch_freed`.
    """
    if not _has_freed(project):
        return [dict(step.line) for step in steps]
    record = freed_record(project)
    found, patches = record.of_all(), record.patches_of(task_id)
    return [
        {
            **step.line,
            **({FIELD: found[step.snapshot]} if step.snapshot in found else {}),
            **({PATCH_FIELD: patches[step.id]} if step.id in patches else {}),
        }
        for step in steps
    ]
