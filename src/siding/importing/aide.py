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
from siding.record.phases.status import FlowStatus
from siding.record.phases.store import PhaseStore
from siding.record.place.project import Project
from siding.record.tasks.states import TaskState
from siding.record.unfinished.phases import phase_lock
from siding.tasks import close

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
    if project is not None and known is not None:
        found = _again(project, task, known, dry_run=dry_run)
        if found is not None:
            return found
    note = _standing(task.status)
    if project is None or dry_run:
        return Item("phases", task.name, Fate.NEW, known or "", note)
    task_id = known
    if task_id is None:
        (task_id,) = new_ids(project, 1)
        save_new(project, task_id, _described(task, provenance))
    PhaseStore(project.task_layout(task_id).root).bring_in(task.status._replace(task=task_id))
    return Item("phases", task.name, Fate.NEW, task_id, note)


def _again(project: Project, task: AideTask, known: TaskId, *, dry_run: bool) -> Item | None:
    """Return what becomes of a task that was imported before; None if its phases never came: the
    import was cut off after it made the task."""
    store = PhaseStore(project.task_layout(known).root)
    here = store.load()
    if here is None:
        return Item("phases", task.name, Fate.THERE, known) if store.earlier_ids() else None
    theirs = task.status._replace(task=known)
    if here.task_id != theirs.task_id or not _went_on(here, theirs):
        both = here.task_id == theirs.task_id and not _went_on(theirs, here)
        fate = Fate.LEFT if both else Fate.THERE
        also = "it went on here and there; as it is here: " if both else ""
        return Item("phases", task.name, fate, known, also + _standing(here))
    there = project.tasks.load(known)
    ends = there.status is TaskState.ACTIVE and not task.is_current and not there.workspace_path
    if here == theirs and not ends:
        return Item("phases", task.name, Fate.THERE, known, _standing(here))
    if not dry_run:
        with phase_lock(project, there, "importing its phases"):
            if store.load() == here:
                store.bring_in(theirs)
        if ends:  # it was finished there, and nothing was done with it here
            close.close_task(project, there, fate=close.Fate.USUAL, force=False)
    return Item("phases", task.name, Fate.MOVED_ON, known, _standing(theirs))


def _went_on(before: FlowStatus, after: FlowStatus) -> bool:
    """Return whether `after` is the same pass, at the same point or later."""
    return after.history[: len(before.history)] == before.history


def _standing(status: FlowStatus) -> str:
    return f"phase {status.current_phase}, step {status.current_step}"


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
