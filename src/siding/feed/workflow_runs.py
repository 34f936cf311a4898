"""The runs of workflows in a project, in a few figures: all, those at work, those that stopped.

The state of a run may have a thousand agents in it, so it is read again only when it has changed.
"""

from collections.abc import Iterable

from siding.feed.board import TaskRow
from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.workflows.display import RunSummary, summary_of
from siding.workflows.state import RunStatus
from siding.workflows.store import RunFolder, RunFolders


class RunSummaries:
    """The figures of all runs of a project, kept until their states change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], RunSummary]] = {}

    def all(self, project: Project) -> list[RunSummary]:
        """Return the runs: those at work first, the newest first; then as they changed last."""
        found = []
        for folder in run_folders(project).all():
            summary = self._of(folder)
            if summary is not None:
                found.append(summary)
        self._known = {each.run_id: self._known[each.run_id] for each in found}
        return sorted(found, key=_order)

    def _of(self, folder: RunFolder) -> RunSummary | None:
        stamp = folder.state_stamp()
        kept = self._known.get(folder.run_id)
        if kept is not None and kept[0] == stamp and _stands(folder, kept[1]):
            return kept[1]
        state = folder.known_state()
        if state is None:
            return None
        self._known[folder.run_id] = (stamp, summary_of(state))
        return self._known[folder.run_id][1]


def run_folders(project: Project) -> RunFolders:
    """Return the runs of a project's workflows."""
    return RunFolders(project.layout.workflow_runs_dir)


def live_folders(project: Project) -> list[RunFolder]:
    """Return the runs that a process works on: their locks are held."""
    return [folder for folder in run_folders(project).all() if folder.is_live()]


def live_runs(project: Project, task: str = "") -> list[RunSummary]:
    """Return the runs that a process works on, of one task or of all, oldest first.

    Whether one is at work says its lock, so the states of the others are not read.
    """
    states = [folder.known_state() for folder in live_folders(project)]
    found = [summary_of(state) for state in states if state is not None and not state.is_over]
    chosen = [each for each in found if task in ("", each.task)]
    return sorted(chosen, key=lambda each: each.started_at)


def stopped_runs(project: Project, tasks: Iterable[TaskRow]) -> list[tuple[RunSummary, TaskRow]]:
    """Return the runs that failed or were interrupted, and that nobody has gone on from.

    Only the newest run of a workflow in one of these tasks counts.
    """
    rows = {row.id: row for row in tasks}
    newest: dict[tuple[str, str], tuple[str, RunFolder]] = {}
    for folder in run_folders(project).all():
        try:
            record = folder.record()
        except SidingError:
            continue
        key = (record.task, record.name)
        known = newest.get(key)
        if record.task in rows and (known is None or known[0] < record.created_at):
            newest[key] = (record.created_at, folder)
    found = []
    for (task, _name), (_at, folder) in newest.items():
        state = folder.known_state()
        if state is not None and state.status in (RunStatus.FAILED, RunStatus.INTERRUPTED):
            found.append((summary_of(state), rows[task]))
    return found


def _stands(folder: RunFolder, summary: RunSummary) -> bool:
    """Tell whether a summary says what is so: of a run that has not ended its lock decides."""
    if summary.status in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.KILLED):
        return True
    return folder.is_live() == summary.is_live


def _order(run: RunSummary) -> tuple[bool, int]:
    return (not run.is_live, -(run.started_at if run.is_live else run.updated_at))
