"""Prove a task's record whole: ledger, chain, artifacts, snapshots."""

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from siding.app.old_home import workspace_of
from siding.app.project import Project
from siding.app.selection import select
from siding.app.snapshots import TaskSnapshots
from siding.ledger.running import read_running
from siding.ledger.step import Step
from siding.process.output_files import marker_path
from siding.storage.files import open_regular
from siding.storage.locks import FileLock
from siding.tasks.task import Task


class Finding(NamedTuple):
    """Something that is not as it was written. `where` names the file, line or object."""

    where: str
    problem: str
    serious: bool  # False: worth knowing, and nothing is lost


class Proof(NamedTuple):
    """What was looked at, and what was found."""

    task: Task
    steps: int
    chained: int
    artifacts: int
    snapshots: int
    findings: tuple[Finding, ...]

    @property
    def whole(self) -> bool:
        return not any(finding.serious for finding in self.findings)


def verify(project: Project, named: str | None) -> Proof:
    """Check everything a task's record consists of; reads only."""
    task = select(project, named)
    ledger = project.ledger(task.id)
    steps = list(ledger.steps())
    findings = [
        *(_line(damage.line, damage.reason) for damage in ledger.damage()),
        *(_line(each.line, each.reason) for each in ledger.breaks()),
        *_numbering(steps),
    ]
    artifacts = 0
    for step in steps:
        for finding in _artifacts(project, task, step):
            artifacts += 1
            if finding is not None:
                findings.append(finding)
    findings += _unfinished(project, task, steps)
    findings += _snapshot_findings(project, task, steps)
    return Proof(
        task=task,
        steps=len(steps),
        chained=sum(1 for step in steps if step.record.get("prev")),
        artifacts=artifacts,
        snapshots=sum(1 for step in steps if step.snapshot),
        findings=tuple(findings),
    )


def _line(number: int | None, problem: str) -> Finding:
    where = "ledger.jsonl" if number is None else f"ledger.jsonl:{number}"
    # A torn last line is what a crash may leave: nothing on it was ever promised.
    return Finding(where=where, problem=problem, serious=not problem.startswith("torn"))


def _numbering(steps: list[Step]) -> Iterator[Finding]:
    for before, step in pairwise(steps):
        if step.number <= before.number:
            yield Finding(f"step {step.id}", f"comes after step {before.id}", serious=True)


def _artifacts(project: Project, task: Task, step: Step) -> Iterator[Finding | None]:
    """Yield for each artifact what is wrong with it, or None."""
    named = step.record.get("artifacts")
    told = step.record.get("output")
    expected = {
        "patch": step.record.get("patch_sha256"),
        "output": told.get("sha256") if isinstance(told, dict) else None,
    }
    root = project.task_layout(task.id).root
    for kind, name in (named if isinstance(named, dict) else {}).items():
        where = str(name)
        path = root / where
        try:
            digest = _digest(path)
        except OSError as error:
            yield Finding(where, error.strerror or str(error), serious=True)
            continue
        if kind == "output" and isinstance(told, dict) and not is_joined(path, told):
            yield Finding(where, "is not in its final form; the next run sees to it", serious=False)
        elif expected.get(kind) and digest != expected[kind]:
            yield Finding(where, "is not the file the ledger was written with", serious=True)
        else:
            yield None


def _unfinished(project: Project, task: Task, steps: list[Step]) -> Iterator[Finding]:
    layout = project.task_layout(task.id)
    running = read_running(layout.running_json)
    if running is not None and not FileLock(layout.lock).is_locked():
        yield Finding(
            f"step {running.number:04d}",
            "was cut off; the next command in this task records it",
            serious=False,
        )
        return
    last = steps[-1].number if steps else 0
    if running is None and layout.artifact(last + 1, "output").exists():
        yield Finding(
            f"artifacts/{last + 1:04d}.output", "belongs to no line of the ledger", serious=True
        )


def _snapshot_findings(project: Project, task: Task, steps: list[Step]) -> Iterator[Finding]:
    workspace = workspace_of(project, task)
    if workspace is None or not workspace.base_snapshot:
        return
    snapshots = TaskSnapshots(project, workspace)
    wanted = {each for step in steps for each in (step.parent, step.snapshot) if each}
    for problem in snapshots.verify(wanted):
        yield Finding("snapshots", problem, serious=True)


def is_joined(path: Path, told: Mapping[str, Any]) -> bool:
    """Return whether stdout and stderr of an output are in one file, as they are in the end."""
    marker = marker_path(path, int(told.get("stdout_bytes") or 0))
    try:
        return marker.stat().st_size == 0
    except FileNotFoundError:
        return True


def _digest(path: Path) -> str:
    fd = open_regular(path)
    digest = sha256()
    try:
        while block := os.read(fd, 1 << 20):
            digest.update(block)
    finally:
        os.close(fd)
    return digest.hexdigest()
