"""Verify the record of a task: its ledger, hash chain, artifacts and snapshots."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.regular import open_regular
from siding.ground.hashing import sha256_hex, sha256_of_file
from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.output.files import marker_path
from siding.ground.storage.journals import Journal
from siding.record.ledger.freed import FreedRecord, freeable_then
from siding.record.ledger.intents import Intents
from siding.record.ledger.reports import OutputReport
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import workspace_of
from siding.record.recording.freed import freed_record
from siding.record.recording.verify_anchor import RecordFinding, check_anchor
from siding.record.snapshots.store_upkeep import verify_snapshots
from siding.record.snapshots.task_line import base_snapshots, lineage, step_snapshots
from siding.record.tasks.task import Task

JOURNAL = "freed.jsonl"  # the file, in findings
PATCH_FREED = RecordFinding("", "its patch was freed", serious=False)  # it is no finding


class Proof(NamedTuple):
    """The number of things that were checked, and the problems that were found.

    `freed` are the steps whose snapshots `siding gc --older` freed; they are not among `snapshots`.
    `patches_freed` are the patches that it freed; they are not among `artifacts`.
    `head` is the hash of the newest line, which a person can note and ask for later; None if there
    is no line. `since` is the number of steps after the head that was asked for; None if none was,
    or if the ledger does not have it.
    """

    task: Task
    steps: int
    chained: int
    artifacts: int
    snapshots: int
    freed: int
    patches_freed: int
    head: str | None
    since: int | None
    findings: tuple[RecordFinding, ...]

    @property
    def whole(self) -> bool:
        return not any(finding.serious for finding in self.findings)


def verify(project: Project, named: str | None, *, head: str = "") -> Proof:
    """Check the whole record of a task, without changing anything.

    With `head`, the hash of a line that was noted earlier, that line must still be there.
    """
    task = select(project, named)
    ledger = project.ledger(task.id)
    anchored = check_anchor(project, task, head=head)
    steps = list(ledger.steps())
    findings = [
        *(_line(damage.line, damage.reason) for damage in ledger.damage()),
        *(_line(each.line, each.reason) for each in ledger.breaks()),
        *_numbering(steps),
        *anchored.findings,
    ]
    freed = freed_record(project)
    patches = freed.patches_of(task.id)
    artifacts = patches_freed = 0
    for step in steps:
        for finding in _artifacts(project, task, step, is_patch_freed=step.id in patches):
            if finding is PATCH_FREED:
                patches_freed += 1
                continue
            artifacts += 1
            if finding is not None:
                findings.append(finding)
    findings += _unfinished(project, task, {step.act for step in steps})
    findings += freed_findings(project, task, steps, freed)
    findings += _without_line(project, task)
    gone = freed.of_task(task.id)
    findings += _snapshot_findings(project, task, steps, gone)
    return Proof(
        task=task,
        steps=len(steps),
        chained=sum(1 for step in steps if step.is_chained),
        artifacts=artifacts,
        snapshots=sum(1 for step in steps if step.snapshot and step.snapshot not in gone),
        freed=sum(1 for step in steps if step.snapshot in gone),
        patches_freed=patches_freed,
        head=anchored.head,
        since=anchored.since,
        findings=tuple(findings),
    )


def _line(number: int | None, problem: str) -> RecordFinding:
    where = "ledger.jsonl" if number is None else f"ledger.jsonl:{number}"
    # A crash while a line is written leaves it torn. No command has reported its step as recorded,
    # so nothing is lost.
    return RecordFinding(where=where, problem=problem, serious=not problem.startswith("torn"))


def _numbering(steps: list[Step]) -> Iterator[RecordFinding]:
    for before, step in pairwise(steps):
        if step.number <= before.number:
            yield RecordFinding(f"step {step.id}", f"comes after step {before.id}", serious=True)


def _artifacts(
    project: Project, task: Task, step: Step, *, is_patch_freed: bool
) -> Iterator[RecordFinding | None]:
    """Yield one item for each artifact of a step: the problem with it, or None.

    A patch that was freed and is gone is PATCH_FREED.
    """
    run = step.as_run
    told = run.output if run else None
    asked = run.requests if run else None
    expected = {
        "patch": step.patch_sha256,
        "output": told.sha256 if told else None,
        "requests": asked.sha256 if asked else None,
        "wire": run.wire.sha256 if run and run.wire else None,
    }
    root = project.task_layout(task.id).root
    for kind, where in step.artifacts.items():
        path = root / where
        try:
            digest = _digest(path)
        except OSError as error:
            if kind == "patch" and is_patch_freed and isinstance(error, FileNotFoundError):
                yield PATCH_FREED
                continue
            yield RecordFinding(where, error.strerror or str(error), serious=True)
            continue
        if kind == "output" and told is not None and not is_joined(path, told):
            yield RecordFinding(
                where, "is not in its final form yet; the next step completes it", serious=False
            )
        elif expected.get(kind) and digest != expected[kind]:
            yield RecordFinding(
                where, "does not have the SHA-256 that the ledger names", serious=True
            )
        else:
            yield None


def _unfinished(project: Project, task: Task, recorded: set[str]) -> Iterator[RecordFinding]:
    intents = Intents(project.task_layout(task.id))
    for intent in intents.all():
        if intent.act not in recorded and intents.is_cut_off(intent):
            yield RecordFinding(
                f"step {step_id(intent.number)}",
                "was cut off; the next command in this task records it",
                serious=False,
            )


def _without_line(project: Project, task: Task) -> Iterator[RecordFinding]:
    """Yield the artifacts of steps that have neither a ledger line nor an intent.

    Artifacts are only written while an intent exists, and the intent is removed after the line is
    written. So the line of such a step has been lost.
    """
    layout = project.task_layout(task.id)
    found = re.compile(r"(\d{4,}|a[0-9a-f]{12})\.(?:patch|output)")
    try:
        names = sorted(os.listdir(layout.artifacts_dir))
    except OSError:
        return
    stems: dict[str, list[str]] = {}
    for name in names:
        if match := found.fullmatch(name):
            stems.setdefault(match.group(1), []).append(name)
    # The order matters: intents are read after the names, and lines after the intents. So a step
    # that ends meanwhile is found in one of the two.
    intents = Intents(layout).all()
    steps = list(project.ledger(task.id).steps())
    known: set[str] = {step.id for step in steps} | {step.act for step in steps}
    for intent in intents:
        known |= {intent.act, step_id(intent.number)}
    for stem in sorted(stems.keys() - known):
        left = ", ".join(f"artifacts/{name}" for name in stems[stem])
        what = "act" if stem.startswith("a") else "step"
        yield RecordFinding(f"{what} {stem}", f"has no line in the ledger; {left}", serious=True)


def _snapshots_without_line(
    project: Project, task: Task, steps: list[Step]
) -> Iterator[RecordFinding]:
    """Yield the snapshots of steps that have no ledger line.

    A snapshot after the last step is left out: a checkpoint takes its snapshot before it writes
    anything else, so a killed command can leave one.
    """
    known = {step.number for step in steps}
    last = max(known, default=0)
    for sha, number in step_snapshots(project.snapshots, task.id):
        if number not in known and number <= last:
            yield RecordFinding(
                f"step {number:04d}", f"has no line; its snapshot is {sha}", serious=True
            )


def _snapshot_problems(
    project: Project, task: Task, wanted: set[str], freed: Collection[str]
) -> list[str]:
    """Return a sentence for each snapshot that is damaged, or of the `wanted` ones missing."""
    store = project.snapshots
    try:
        verify_snapshots(store, task.id, freed=freed)
        there = set(lineage(store, task.id))
    except SidingError as error:
        return [error.message]
    return [f"snapshot {sha} of the ledger is missing" for sha in sorted(wanted - there)]


def _snapshot_findings(
    project: Project, task: Task, steps: list[Step], freed: Collection[str]
) -> Iterator[RecordFinding]:
    workspace = workspace_of(project, task)
    wanted = {each for step in steps for each in (step.parent, step.snapshot) if each}
    if workspace is None or not (workspace.base_snapshot or wanted):
        return
    problems = _snapshot_problems(project, task, wanted, freed)
    for problem in problems:
        yield RecordFinding("snapshots", problem, serious=True)
    if problems:
        return
    yield from _snapshots_without_line(project, task, steps)
    base = workspace.base_snapshot
    if base and base not in base_snapshots(project.snapshots, task.id):
        yield RecordFinding(
            "worktrees.json", f"says base_snapshot {base!r}, which is none", serious=True
        )


def is_joined(path: Path, told: OutputReport) -> bool:
    """Return whether stdout and stderr of an output have been joined into one file."""
    marker = marker_path(path, told.stdout_bytes or 0)
    try:
        return marker.stat().st_size == 0
    except FileNotFoundError:
        return True


def _digest(path: Path) -> str:
    fd = open_regular(path)
    try:
        return sha256_of_file(fd)
    finally:
        os.close(fd)


def freed_findings(
    project: Project, task: Task, steps: Sequence[Step], record: FreedRecord
) -> Iterator[RecordFinding]:
    """Yield what is wrong with the journal, and what it says of the task and cannot be true.

    It may only free what the rule lets go: never the newest state of that time, what was applied,
    or a step that was younger than the age that was asked for. So it cannot hide the loss of one.
    """
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
