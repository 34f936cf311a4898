"""Bring in the folder ``.aide``: decisions, and tasks with their phases."""

from collections.abc import Iterator

from siding.asking.decisions.record import Decision
from siding.asking.decisions.store import DecisionStore
from siding.asking.origin import holding_decisions
from siding.ground.ids import TaskId
from siding.importing.aide_records import AideTask
from siding.importing.source import Source
from siding.importing.tasks import (
    Fate,
    Item,
    NewTask,
    Provenance,
    imported_tasks,
    new_ids,
    save_new,
)
from siding.record.phases.store import PhaseStore
from siding.record.place.project import Project
from siding.record.tasks.task import TaskState

FORM = "aide"


def bring_in_aide(
    project: Project | None, source: Source, place: str, *, dry_run: bool
) -> Iterator[Item]:
    """Bring everything in, and yield what became of it. Without a project nothing is there yet."""
    yield from _decisions(project, source, dry_run=dry_run)
    known = {} if project is None else imported_tasks(project)
    for task in source.aide.tasks:
        provenance = Provenance(FORM, place, task.status.task_id)
        yield _task(project, task, provenance, known.get(provenance), dry_run=dry_run)


def _decisions(project: Project | None, source: Source, *, dry_run: bool) -> Iterator[Item]:
    for decision in source.aide.decisions:
        name = decision.request.task
        state = decision.state.value
        if project is None:
            yield Item("decision", name, Fate.NEW, note=state)
            continue
        session_id, was_there = _bring_in(project, decision, dry_run=dry_run)
        yield Item("decision", name, Fate.THERE if was_there else Fate.NEW, session_id, state)


def _bring_in(project: Project, decision: Decision, *, dry_run: bool) -> tuple[str, bool]:
    store = DecisionStore(project.layout.decisions_dir)
    if dry_run:
        return store.bring_in(decision, dry_run=True)
    with holding_decisions(project, "importing a decision"):
        return store.bring_in(decision)


def _task(
    project: Project | None,
    task: AideTask,
    provenance: Provenance,
    known: TaskId | None,
    *,
    dry_run: bool,
) -> Item:
    status = task.status
    note = f"phase {status.current_phase}, step {status.current_step}"
    if project is None or dry_run:
        fate = Fate.NEW if known is None else Fate.THERE
        return Item("phases", task.name, fate, known or "", note)
    task_id = known
    if task_id is None:
        (task_id,) = new_ids(project, 1)
        save_new(project, task_id, _described(task, provenance))
    store = PhaseStore(project.task_layout(task_id).root)
    if known is not None and (store.earlier_ids() or store.load() is not None):
        return Item("phases", task.name, Fate.THERE, task_id, note)
    # The first import may have been cut off after it made the task.
    store.bring_in(status._replace(task=task_id))
    return Item("phases", task.name, Fate.NEW, task_id, note)


def _described(task: AideTask, provenance: Provenance) -> NewTask:
    status = task.status
    last = status.history[-1].timestamp
    return NewTask(
        provenance=provenance,
        name=task.name,
        status=TaskState.ACTIVE if task.is_current else TaskState.CLOSED,
        description=status.history[0].summary,
        created_at=status.started_at,
        updated_at=last,
    )
