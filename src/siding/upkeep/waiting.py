"""Find unreadable decisions, phase moves that were cut off, and processes left paused."""

from collections.abc import Callable, Iterator
from functools import partial

from siding.asking.answer import set_damaged_aside
from siding.asking.lookup import damaged_decisions, list_decisions
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.locks import FileLock
from siding.record.phases.store import PhaseStore
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.runs.paused import PausedFile
from siding.record.unfinished.phases import finish_cut_off

Problem = tuple[str, str, Callable[[], str] | None]


def problems(project: Project) -> Iterator[Problem]:
    """Yield each problem as (what is wrong, advice, a function that repairs it or None)."""
    yield from _decisions(project)
    for task_id in project.tasks.ids():
        yield from _phases(project, task_id)
        yield from _paused(project, task_id)


def _decisions(project: Project) -> Iterator[Problem]:
    damaged = damaged_decisions(project, closed=True)
    for each in damaged:
        yield (
            f"decision {each.session_id}: {each.problem}",
            "the file is set aside as it is; who waits for the answer can ask again",
            partial(set_damaged_aside, project, each.session_id),
        )
    known = {each.sentence for each in damaged}
    for sentence in list_decisions(project, closed=True)[1]:
        if sentence not in known:
            yield sentence, "what it holds is not for this version to change", None


def _phases(project: Project, task_id: TaskId) -> Iterator[Problem]:
    layout = project.task_layout(task_id)
    store = PhaseStore(layout.root)
    try:
        store.load()
        if not store.has_intent() or FileLock(layout.root / "phase.lock").is_locked():
            return
        store.cut_off()
    except SidingError as error:
        yield error.message, f"{error.hint}; the task's commits are in git all the same", None
        return
    yield (
        f"a move of task {task_id} through its phases was cut off",
        "it is recorded if its commit was made, else forgotten",
        partial(_finish, project, task_id),
    )


def _finish(project: Project, task_id: TaskId) -> str:
    finish_cut_off(project, project.tasks.load(task_id))
    return "recorded the move, or forgot it"


def _paused(project: Project, task_id: TaskId) -> Iterator[Problem]:
    layout = project.task_layout(task_id)
    if PausedFile(layout).is_there() and not FileLock(layout.lock).is_locked():
        yield (
            f"processes of runs of task {task_id} are paused: who paused them was killed",
            "they go on",
            partial(_let_go_on, project, task_id),
        )


def _let_go_on(project: Project, task_id: TaskId) -> str:
    with holding_task(project, task_id, "doctor", beside_runs=True):  # which lets them go on
        return "they go on"
