"""One thing that waits for a person, or that a person is told of."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from siding.asking.views import DecisionView
from siding.ground.clock import iso
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step, StepStatus
from siding.record.place.project import Project
from siding.record.runs.reported import Reported, first_line
from siding.record.runs.run import Run


class Waits(StrEnum):
    """The kinds of entries."""

    DECISION = "decision"
    POLICY = "policy"
    FAILED = "failed"
    CONFLICT = "conflict"
    HOOKS = "hooks"
    AGENT = "agent"
    WORKFLOW = "workflow"
    DONE = "done"  # nothing waits: a person is told of it, and it is not in the inbox


class InboxEntry(NamedTuple):
    """One thing that waits. An agent may have written the texts: escape them before display."""

    kind: str
    project: str  # the name of the repository's directory
    repo_root: str
    project_dir: str  # the absolute path of the project's directory in Siding's home
    title: str
    detail: str
    since: str  # ISO 8601; "" if it is unknown
    command: str  # the command to run next, in the repository
    page: str  # the path of its page on the dashboard; "" if it has none
    task_id: str = ""
    task_name: str = ""
    session_id: str = ""
    step_id: str = ""


def decision_entry(project: Project, decision: DecisionView, task_name: str = "") -> InboxEntry:
    """Return the entry of an open decision."""
    return entry(
        project,
        kind=Waits.DECISION,
        title=decision.title,
        detail=decision.task,
        since=decision.created_at,
        command=f"siding decide answer {decision.session_id}",
        page=f"/decisions/{decision.session_id}",
        task_id=decision.task_id,
        task_name=task_name,
        session_id=decision.session_id,
        step_id=decision.step_id,
    )


def step_entry(project: Project, task_id: str, task_name: str, step: Step) -> InboxEntry | None:
    """Return the entry of the last step of a task; None if this step does not need a person."""
    conflicts = () if step.merged is None else step.merged.conflicts
    place: dict[str, Any] = {
        "since": step.ended_at or step.started_at,
        "page": f"/tasks/{task_id}/steps/{step.number}",
        "task_id": task_id,
        "task_name": task_name,
        "step_id": step.id,
    }
    if conflicts:
        return entry(
            project,
            kind=Waits.CONFLICT,
            title=f"{len(conflicts)} conflicting files to resolve",
            detail=step.title,
            command=f"siding worktree status {task_id}",
            **place,
        )
    if step.status == StepStatus.BLOCKED:
        return entry(
            project,
            kind=Waits.POLICY,
            title=step.reason or "stopped by a hook or the policy",
            detail=step.title,
            command=f"siding show {step.number} -t {task_id}",
            **place,
        )
    # A turn that a person has interrupted, or that is over with its run, waits for nobody.
    broke = not step.turn_of and step.status in (
        StepStatus.FAILED,
        StepStatus.TIMEOUT,
        StepStatus.INTERRUPTED,
    )
    if broke and not step.was_stopped:
        how = f"exit {step.exit_code}" if step.status == StepStatus.FAILED else step.status
        return entry(
            project,
            kind=Waits.FAILED,
            title=f"{how}: {step.title}",
            detail=step.reason,
            command=f"siding show {step.number} -t {task_id}",
            **place,
        )
    return None


def agent_entry(
    project: Project, task_id: str, task_name: str, run: Run, reported: Reported
) -> InboxEntry:
    """Return the entry of an agent that has said it waits for a person."""
    agent = run.agent or "an agent"
    return entry(
        project,
        kind=Waits.AGENT,
        title=reported.waits,
        detail=f"{agent} in {run.id}: {first_line(reported.prompt)}".rstrip(": "),
        since=reported.waits_since,
        command=f"siding attach {run.id} -t {task_id}",
        page=f"/tasks/{task_id}",
        task_id=task_id,
        task_name=task_name,
    )


def entry(project: Project, *, kind: Waits, **more: Any) -> InboxEntry:
    return InboxEntry(
        kind=kind.value,
        project=project.paths.name,
        repo_root=str(project.paths.root),
        project_dir=str(project.layout.root),
        **more,
    )


def moment_iso(milliseconds: int) -> str:
    """Return milliseconds since 1970 as ISO 8601; "" for 0, which is an unknown time."""
    return iso(datetime.fromtimestamp(milliseconds / 1000, UTC)) if milliseconds else ""
