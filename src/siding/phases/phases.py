"""Show in which phase tasks are. Everything is read without a lock."""

from typing import Any

from siding.ground.errors import NotFound, UnreadableFile
from siding.ground.namedtuples import NamedTuple
from siding.record.phases.states import PhaseMove
from siding.record.phases.store import FlowStatus, HistoryEntry, PassedGate, PhaseStore, document_of
from siding.record.place.phase_plan import configured
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.tasks.task import Task

GateView = PassedGate
PhaseEntry = HistoryEntry

__all__ = [
    "GateView",
    "PhaseEntry",
    "PhaseMove",
    "PhaseView",
    "as_record",
    "list_phases",
    "show",
    "status",
]


class PhaseView(NamedTuple):
    """One pass of a task through the phases. Its summaries and outputs are untrusted text.

    `phases` are the configured phases in order; `history` is oldest first. `current` is True for
    the task's present pass. Times are ISO 8601 with an offset.
    """

    task_id: str
    task_name: str
    pass_id: str
    phase: str
    step: int
    phases: tuple[str, ...]
    started_at: str
    history: tuple[PhaseEntry, ...]
    current: bool
    record: dict[str, Any]  # the document as it is stored


class ListedPass(NamedTuple):
    """The passes of all tasks, and a sentence about each file that cannot be read."""

    passes: tuple[PhaseView, ...]
    problems: tuple[str, ...]


def status(project: Project, named: str | None) -> PhaseView | None:
    """Return the present pass of a task, None if it is in no phase. Finishes a cut-off move."""
    task = select(project, named)
    store = _store(project, task)
    if store.has_intent():
        from siding.record.unfinished.phases import finish_cut_off

        finish_cut_off(project, task)
    found = store.load()
    return None if found is None else _view(project, task, found, current=True)


def list_phases(project: Project, *, earlier: bool = True) -> ListedPass:
    """Return the passes of all tasks, newest first."""
    found: list[PhaseView] = []
    problems: list[str] = []
    for task in project.tasks.readable():
        store = _store(project, task)
        try:
            present = store.load()
            if present is not None:
                found.append(_view(project, task, present, current=True))
            if earlier:
                found += [_view(project, task, each, current=False) for each in store.earlier()]
        except UnreadableFile as error:
            problems.append(error.message)
    found.sort(key=lambda each: (each.pass_id, each.task_id), reverse=True)
    return ListedPass(passes=tuple(found), problems=tuple(problems))


def show(project: Project, named: str | None) -> PhaseView:
    """Return the pass with this id, or the present pass of the task named so. Raises NotFound."""
    if named is not None:
        for each in list_phases(project).passes:
            if each.pass_id == named:
                return each
    found = status(project, named)
    if found is None:
        raise NotFound(
            "the task is in no phase", hint="`siding phase start PHASE SUMMARY` begins one"
        )
    return found


def as_record(view: PhaseView) -> dict[str, Any]:
    """Return the pass as a document for programs: the fields of `flow-status.json`, and its
    task."""
    return {
        **view.record,
        "task": view.task_id,
        "task_name": view.task_name,
        "current": view.current,
    }


def _store(project: Project, task: Task) -> PhaseStore:
    return PhaseStore(project.task_layout(task.id).root)


def _view(project: Project, task: Task, found: FlowStatus, *, current: bool) -> PhaseView:
    return PhaseView(
        task_id=task.id,
        task_name=task.name,
        pass_id=found.task_id,
        phase=found.current_phase,
        step=found.current_step,
        phases=_phases(project, found) if current or not found.phases else found.phases,
        started_at=found.started_at,
        history=found.history,
        current=current,
        record=document_of(found),
    )


def _phases(project: Project, found: FlowStatus) -> tuple[str, ...]:
    """Return the phases that the next move of a pass goes by."""
    return configured(project).plan.names_from(found.current_phase, found.phases)
