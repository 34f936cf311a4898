"""Put runs of workflows that are over into the project's trash: by hand, and the oldest by itself.

A run goes only under its own lock, so never one that somebody works on. One that was interrupted
can be resumed, and one with an open question is waited for: they stay.
"""

from collections.abc import Iterator

from siding.asking.lookup import decision_store
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs, move_aside
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import Holder
from siding.record.place.project import Project
from siding.record.unfinished.leftovers import trash_for
from siding.workflows.agents.settings import workflow_agents
from siding.workflows.errors import RunIsLive, WorkflowNotFound
from siding.workflows.store import RunFolder, RunFolders

_QUESTION = "workflow:"  # how the key of a run's question begins; the run's id follows


class RunWaits(SidingError):
    """A run is not removed while a question of it is open."""

    code = "workflow_run_waits"


class Swept(NamedTuple):
    """What a sweep did: the runs that went, and what kept it from going on, if anything did."""

    gone: tuple[str, ...]
    failed: str = ""


def remove_run(project: Project, run_id: str) -> str:
    """Put a run into the trash; return where. Raises WorkflowNotFound, RunIsLive, RunWaits."""
    folder = RunFolders.of(project).find(run_id)
    if folder.run_id in asking(project):
        raise RunWaits(
            f"the run {folder.run_id} waits for an answer",
            hint="`siding inbox` shows the question; answer or cancel it first",
        )
    return put_away(project, folder)


def put_away(project: Project, folder: RunFolder) -> str:
    """Put a run that nobody works on into the trash; return where it is. Raises RunIsLive."""
    lock = folder.take(_holder(project))
    try:
        return _move(project, folder)
    finally:
        lock.release()


def sweep(project: Project) -> Swept:
    """Put the oldest runs that have ended into the trash, beyond as many as settings keep."""
    gone: list[str] = []
    try:
        keep = workflow_agents(project).keep_runs
        gone.extend(
            folder.run_id for folder in list(_beyond(project, keep)) if _swept(project, folder)
        )
    except (SidingError, OSError) as error:
        return Swept(gone=tuple(gone), failed=str(error))
    return Swept(gone=tuple(gone))


def asking(project: Project) -> set[str]:
    """Return the ids of the runs that have a question open."""
    store = decision_store(project)
    found = set()
    for session_id in store.open_ids():
        try:
            key = store.load(session_id).origin.key
        except SidingError:
            continue  # `siding inbox` names it
        if key.startswith(_QUESTION):
            found.add(key.removeprefix(_QUESTION).partition(":")[0])
    return found


def _beyond(project: Project, keep: int) -> Iterator[RunFolder]:
    """Yield the ended runs that are not kept, the oldest first.

    Only their own states are read. Runs that have not ended are among those that are kept.
    """
    folders = RunFolders.of(project).all()
    if len(folders) <= keep:
        return
    folders.sort(key=lambda folder: (folder.state_stamp(), folder.run_id))
    waiting = asking(project)
    for folder in folders[: len(folders) - keep]:
        state = folder.state()
        has_ended = state is not None and state.is_over
        if has_ended and folder.run_id not in waiting:
            yield folder


def _swept(project: Project, folder: RunFolder) -> bool:
    """Put one run away, unless somebody has begun to work on it; tell whether it went."""
    try:
        lock = folder.take(_holder(project))
    except (RunIsLive, WorkflowNotFound):
        return False  # it was resumed, or another sweep had it
    try:
        state = folder.state()
        if state is None or not state.is_over:
            return False  # it was resumed, and cut off, since the list was made
        _move(project, folder)
    finally:
        lock.release()
    return True


def _move(project: Project, folder: RunFolder) -> str:
    target = project.layout.root / trash_for(project, folder.run_id)
    make_dirs(target.parent)
    move_aside(folder.root, target)
    return str(target)


def _holder(project: Project) -> Holder:
    return Holder(pid=project.app.pid, since=project.app.now(), what="removing the run")
