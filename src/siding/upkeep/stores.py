"""What is damaged, or was cut off, in the stores of decisions, phases, workflows and devices."""

import os
from collections.abc import Callable, Iterator
from functools import partial

from siding.asking.answer import set_damaged_aside
from siding.asking.devices.refusals import DeviceRefused
from siding.asking.devices.store import DeviceStore
from siding.asking.lookup import damaged_decisions, list_decisions
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.locks import FileLock
from siding.record.phases.store import PhaseStore
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.runs.paused import PausedFile
from siding.record.unfinished.phases import finish_cut_off
from siding.workflows.acts.retention import put_away
from siding.workflows.journal import read_journal
from siding.workflows.store import RunFolder, RunFolders

Problem = tuple[str, str, Callable[[], str] | None]
_MAKING_S = 60.0


def waiting_problems(project: Project) -> Iterator[Problem]:
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


def workflow_problems(project: Project) -> Iterator[Problem]:
    """Yield what is wrong, what helps, and the function that does it (None: a person decides)."""
    for folder in sorted(
        RunFolders(project.layout.workflow_runs_dir).all(), key=lambda f: f.run_id
    ):
        if not folder.is_live():
            yield from _of_run(project, folder)


def _of_run(project: Project, folder: RunFolder) -> Iterator[Problem]:
    run_id = folder.run_id
    if not (folder.root / "run.json").exists():
        if _is_old(project, folder):
            yield (
                f"the run {run_id} of a workflow was cut off while it was made: nothing ran in it",
                "`siding doctor` puts it into the trash",
                partial(_put_away, project, folder),
            )
        return
    try:
        folder.record()
    except SidingError as error:
        yield (
            f"the run {run_id} of a workflow cannot be read: {error.message}",
            f"`siding workflow remove {run_id}` puts it into the trash, where it can be looked at",
            None,
        )
        return
    try:
        read_journal(folder.journal)
    except (SidingError, OSError) as error:
        yield (
            f"the journal of the run {run_id} of a workflow is damaged: {error}",
            f"put the file back from a copy; `siding workflow resume {run_id} --rerun-lost` runs"
            f" again what is lost, and `siding workflow remove {run_id}` puts the run into the"
            " trash",
            None,
        )


def _is_old(project: Project, folder: RunFolder) -> bool:
    """Tell whether nobody can be in the middle of making the folder any more."""
    try:
        made = os.stat(folder.root).st_mtime
    except FileNotFoundError:
        return False
    return project.app.clock.now().timestamp() - made > _MAKING_S


def _put_away(project: Project, folder: RunFolder) -> str:
    return f"put the run {folder.run_id} into the trash: {put_away(project, folder)}"


def device_problems(project: Project) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Yield what is wrong with devices: what, advice, and what mends it."""
    store = DeviceStore(project.app.home.devices_dir)
    for device_id in store.ids():
        try:
            store.load(device_id)
        except DeviceRefused:
            continue  # removed meanwhile
        except SidingError as error:
            advice = "it can do nothing; it is moved aside, and the device can be paired again"
            yield error.message, advice, partial(_set_aside, project, store, device_id)


def _set_aside(project: Project, store: DeviceStore, device_id: str) -> str:
    with store.changing():
        store.remove(device_id, project.app.now().replace(":", "").replace(".", ""))
    return "moved aside, into `devices/removed`"
