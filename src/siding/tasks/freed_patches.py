"""Free the large patches of old steps of closed tasks: tell which may go, and delete them.

A patch of a binary file has its content twice, as text, so patches can be the largest thing on
disk. Small ones stay: people read them, and they take next to no room.
"""

import stat
from collections import Counter
from collections.abc import Iterable

from siding.ground.files.durable import flush_dir
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.storage.journals import Journal
from siding.record.ledger.freed import FreedSteps, Freeing, freeable_then
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.recording.freed import freed_journal
from siding.tasks.recorded_tasks import RecordedTask

SMALLEST = 64 * 1024  # bytes; smaller patches stay
BLOCK = 512  # bytes; POSIX counts blocks in this unit


def patches_to_free(project: Project, task: RecordedTask, old: Iterable[Step]) -> dict[str, int]:
    """Return the bytes on disk of the large patches of these steps of a closed task, by step.

    The ledger has to name a patch and its hash: that is what is left of it.
    """
    layout, found = project.task_layout(task.id), {}
    twice = {step for step, times in Counter(each.id for each in task.steps).items() if times > 1}
    for step in old:
        path = layout.artifact(step.number, "patch")
        named = step.artifacts.get("patch") == f"artifacts/{path.name}"
        if not named or not step.patch_sha256 or step.id in twice:
            continue
        try:
            seen = path.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISREG(seen.st_mode) and seen.st_size >= SMALLEST:
            found[step.id] = seen.st_blocks * BLOCK
    return found


def delete_freed_patches(project: Project) -> int:
    """Delete the patches that unfinished freeings name; return the bytes on disk that came back.

    The caller holds all tasks. What the rule does not let go stays, whatever the journal says.
    """
    unfinished = [each for each in freed_journal(project).read().freeings if not each.is_done]
    return sum(_delete(project, freeing, of) for freeing in unfinished for of in freeing.tasks)


def _delete(project: Project, freeing: Freeing, of: FreedSteps) -> int:
    task_id = next((each for each in project.tasks.ids() if each == of.task), None)
    if task_id is None or not of.patches:  # the task was deleted, with its patches
        return 0
    layout, freed = project.task_layout(task_id), 0
    for step in _allowed(project, task_id, freeing, of):
        path = layout.artifact(step.number, "patch")
        try:
            freed += path.lstat().st_blocks * BLOCK
            path.unlink()
        except FileNotFoundError:  # deleted before, or with the task
            continue
    if freed:
        flush_dir(layout.artifacts_dir)
    return freed


def _allowed(project: Project, task_id: TaskId, freeing: Freeing, of: FreedSteps) -> list[Step]:
    """Return the steps whose patches the freeing names, as far as the rule lets them go."""
    entries = list(Journal(project.task_layout(task_id).ledger_jsonl).entries())
    if not 0 < of.lines <= len(entries) or sha256_hex(entries[of.lines - 1].raw) != of.head:
        return []
    steps = list(project.ledger(task_id).steps())[: of.lines]
    may = freeable_then(steps, at=freeing.at, older_s=freeing.older_s)
    return [step for each in may.values() for step in each if step.id in of.patches]
