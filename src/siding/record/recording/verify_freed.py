"""Verify what the journal of freed snapshots and patches says of a task.

It may only free what the rule lets go: never the newest state of that time, what was applied, or a
step that was younger than the age that was asked for. So the journal cannot hide the loss of one.
"""

from collections.abc import Iterator, Sequence

from siding.ground.hashing import sha256_hex
from siding.ground.storage.journals import Journal
from siding.record.ledger.freed import FreedRecord
from siding.record.ledger.retention import freeable_then
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.recording.record_finding import RecordFinding
from siding.record.tasks.task import Task

JOURNAL = "freed.jsonl"  # the file, in findings


def freed_findings(
    project: Project, task: Task, steps: Sequence[Step], record: FreedRecord
) -> Iterator[RecordFinding]:
    """Yield what is wrong with the journal, and what it says of the task and cannot be true."""
    mine = [(each, of) for each in record.freeings for of in each.tasks if of.task == task.id]
    for problem in record.problems:
        yield RecordFinding(JOURNAL, problem, serious=True)
    if not mine:
        return
    heads = {
        number: sha256_hex(entry.raw)
        for number, entry in enumerate(
            Journal(project.task_layout(task.id).ledger_jsonl).entries(), start=1
        )
        if number in {of.lines for _freeing, of in mine}
    }
    workspace = project.workspaces.of_task(task.id)
    base = "" if workspace is None else workspace.base_snapshot
    for freeing, of in mine:
        if heads.get(of.lines) != of.head:
            problem = f"the freeing of {freeing.at[:10]} was of another ledger of this task"
            yield RecordFinding(JOURNAL, problem, serious=True)
            continue
        allowed = freeable_then(steps[: of.lines], at=freeing.at, older_s=freeing.older_s)
        for snapshot, ids in of.steps.items():
            if snapshot not in allowed or snapshot == base or not _has(steps, snapshot, ids):
                named = ", ".join(ids)
                problem = f"says that step {named} was freed, which is never freed"
                yield RecordFinding(JOURNAL, problem, serious=True)
        may = {step.id for each in allowed.values() for step in each}
        for named in of.patches:
            if named not in may:
                problem = f"says that the patch of step {named} was freed, which is never freed"
                yield RecordFinding(JOURNAL, problem, serious=True)


def _has(steps: Sequence[Step], snapshot: str, ids: Sequence[str]) -> bool:
    return set(ids) <= {step.id for step in steps if step.snapshot == snapshot}
