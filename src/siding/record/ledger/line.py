"""A ledger line before it is written: all fields except its number and ``prev``."""

from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.figures import DiffFigures, ModeFigures
from siding.record.ledger.intents import Intent
from siding.record.ledger.kinds import StepStatus
from siding.record.ledger.reports import Trap, traps_record
from siding.record.snapshots.coverage import Coverage

if TYPE_CHECKING:
    from siding.record.ledger.figures import RunTurns


class LedgerLine(NamedTuple):
    """The draft of a step, and what the recorder found out about it.

    `ended_at` and `duration_ms` (milliseconds) are used if the draft does not have them. `snapshot`
    is the workspace after the step, `parent` before it.
    """

    intent: Intent
    ended_at: str
    duration_ms: int
    diff: DiffFigures
    modes: ModeFigures
    snapshot: str
    parent: str
    coverage: Coverage
    commits: tuple[str, ...] = ()  # the commits that the command made
    beside: tuple[str, ...] = ()  # the ids of the other runs that lived when the step ended
    patch_sha256: str = ""
    traps: tuple[Trap, ...] = ()
    turns: "RunTurns | None" = None  # of a run: what its turns changed

    def as_record(self) -> dict[str, Any]:
        """Return the fields of the line. Fields that every line has are present even if empty."""
        intent = self.intent
        # An apply changes its target and not the workspace; readers look for its figures here.
        moved = intent.draft.as_apply
        applied = None if moved is None else moved.applied
        record: dict[str, Any] = {
            "kind": intent.kind,
            "policy_events": [],
            "session_id": None,
            "agent": None,
            "usage": None,
            "ended_at": self.ended_at,
            "duration_ms": self.duration_ms,
        }
        record.update(intent.draft.as_record())
        record.update(
            started_at=intent.started_at,
            diff_stat=(applied or self.diff).as_record(),
            **self.modes.as_record(),
            snapshot=self.snapshot,
            parent=self.parent,
            coverage=self.coverage.as_record(),
        )
        if intent.draft.status != StepStatus.COMPLETED:
            record.pop("on", None)  # a return that was cut off did not get there
        run, turn = intent.draft.as_run, intent.draft.as_checkpoint
        if run is not None and run.reported is not None:
            record["session_id"] = run.reported.session or None
        elif turn is not None:
            record["session_id"] = turn.session or None
        if intent.act:
            record["act"] = intent.act
        if self.beside:
            record["beside"] = list(self.beside)
        if self.turns is not None:
            record["turns"] = self.turns.as_record()
        if self.patch_sha256:
            record["patch_sha256"] = self.patch_sha256
        if self.commits:
            record["commits"] = list(self.commits)
        record.update(traps_record(self.traps))
        return record
