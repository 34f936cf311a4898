"""Record the workspace as it is now (`siding checkpoint`)."""

from siding.app.acts.skeleton import Act, Done, Ended, Work, perform
from siding.app.life.recovery import recover_cut_off
from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.app.recording.recorder import Recorder
from siding.ledger.details.checkpoint import CheckpointDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.step import Step


def checkpoint(project: Project, named: str | None, message: str, *, wait: bool) -> Step:
    """Record a checkpoint step and return it. It is recorded for its message even if no file
    changed."""
    task = select(project, named)
    recover_cut_off(project)
    return perform(project, task.id, CheckpointAct(message, wait=wait))


class CheckpointAct(Act[None, None, Step]):
    """Do nothing: the snapshot that ends every act is all that a checkpoint needs."""

    beside_runs = True

    def __init__(self, message: str, *, wait: bool) -> None:
        self.what = f"checkpoint {message}"
        self.wait = wait
        self._message = message

    def settle(self, recorder: Recorder) -> list[Step]:
        """Record only steps that were cut off. Changes since the last step belong to this one."""
        return recorder.settle_interrupted()

    def plan(self, work: Work) -> None:
        return None

    def draft(self, work: Work, plan: None) -> Draft:
        return Draft(CheckpointDetail(self._message, "asked")).completed()

    def carry_out(self, work: Work, plan: None, intent: Intent) -> Ended[None]:
        return Ended(intent, intent.draft, None)

    def result(self, work: Work, plan: None, done: Done[None] | None) -> Step:
        assert done is not None
        return done.step
