"""Runs of workflows whose files are damaged, or that were cut off while they were made."""

import os
from collections.abc import Callable, Iterator
from functools import partial

from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.workflows.acts.retention import put_away
from siding.workflows.journal.store import read_journal
from siding.workflows.store import RunFolder, RunFolders

_MAKING_S = 60.0
Found = tuple[str, str, Callable[[], str] | None]


def workflow_problems(project: Project) -> Iterator[Found]:
    """Yield what is wrong, what helps, and the function that does it (None: a person decides)."""
    for folder in sorted(
        RunFolders(project.layout.workflow_runs_dir).all(), key=lambda f: f.run_id
    ):
        if not folder.is_live():
            yield from _of(project, folder)


def _of(project: Project, folder: RunFolder) -> Iterator[Found]:
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
