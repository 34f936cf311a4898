"""Answers of a person that hold on in a task: the pairs of rule and command they said "always" to.

They are in the file ``allowed.json`` of the task.
"""

from collections.abc import Iterable
from pathlib import Path

from siding.ground.ids import TaskId
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.record.place.project import Project

ALLOWED_VERSION = 1


def kept_answers(project: Project, task_id: TaskId) -> frozenset[tuple[str, str]]:
    """Return the pairs of rule and command that were answered with "always" in this task."""
    document = read_document_or_none(
        _allowed_json(project, task_id), what="answers to the policy", version=ALLOWED_VERSION
    )
    entries = (document or {}).get("allowed")
    return frozenset(
        (str(each.get("rule")), str(each.get("command")))
        for each in (entries if isinstance(entries, list) else [])
        if isinstance(each, dict)
    )


def is_kept(project: Project, task_id: TaskId, rule: str, command: str) -> bool:
    """Tell whether a person said "always" to this command, which this rule asks about."""
    return (rule, project.redaction.text(command)) in kept_answers(project, task_id)


def keep_answers(project: Project, task_id: TaskId, answered: Iterable[tuple[str, str]]) -> None:
    """Keep pairs of rule and command from now on."""
    path = _allowed_json(project, task_id)
    document = read_document_or_none(path, what="answers to the policy", version=ALLOWED_VERSION)
    before = (document or {}).get("allowed")
    entries = [
        {"rule": rule, "command": project.redaction.text(command), "at": project.app.now()}
        for rule, command in answered
    ]
    kept = [*(before if isinstance(before, list) else []), *entries]
    write_document(path, {"version": ALLOWED_VERSION, "allowed": kept})


def _allowed_json(project: Project, task_id: TaskId) -> Path:
    return project.task_layout(task_id).root / "allowed.json"
