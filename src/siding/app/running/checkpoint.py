"""Record the workspace as it stands, because somebody asked."""

from siding.app.life.recovery import recover_cut_off
from siding.app.place.locking import holding_task
from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.app.recording.opening import open_recorder
from siding.ledger.step import Step


def checkpoint(project: Project, named: str | None, message: str, *, wait: bool) -> Step:
    """Record a checkpoint step, also when nothing changed: the message is worth a line."""
    task = select(project, named)
    recover_cut_off(project)
    with holding_task(project, task.id, f"checkpoint {message}", wait=wait) as hold:
        recorder = open_recorder(project, task, hold)
        recorder.settle_interrupted()
        step = recorder.checkpoint(message)
        assert step is not None
        return step
