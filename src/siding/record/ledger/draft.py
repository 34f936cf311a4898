"""An unfinished step: it is stored in an intent, and it becomes a ledger line."""

from collections.abc import Mapping
from shlex import join
from typing import TYPE_CHECKING, Any, assert_never, cast

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, said, text, text_or_none, whole_or_none
from siding.record.ledger.kinds import ForeignDetail, StepKind, StepStatus, known_kind
from siding.record.ledger.reports import PolicyEvent

if TYPE_CHECKING:
    from siding.record.ledger.move_details import ApplyDetail, PhaseDetail, RollbackDetail
    from siding.record.ledger.run_details import CheckpointDetail, RunDetail

    Detail = (
        RunDetail | CheckpointDetail | RollbackDetail | ApplyDetail | PhaseDetail | ForeignDetail
    )


class Draft(NamedTuple):
    """The part of a step that the act supplies; the recorder adds the snapshots and the difference.

    `rest` holds the fields that this version does not know: a newer version began the step, and
    this version records it after a crash.
    """

    detail: "Detail"
    status: str = ""  # a StepStatus; "" until the act has ended
    exit_code: int | None = None
    ended_at: str = ""
    duration_ms: int | None = None
    reason: str = ""
    agent: str | None = None  # a known agent's name
    policy_events: "tuple[PolicyEvent, ...]" = ()
    recovered: bool = False  # a later command recorded it
    rest: Mapping[str, Any] = {}

    @classmethod
    def from_record(cls, kind: str, record: Mapping[str, Any]) -> "Draft":
        detail = detail_from(kind, record)
        known = {*cls._fields, *detail._fields, "undoes", "redoes", "on"}
        events = mappings(record.get("policy_events"))
        return cls(
            detail=detail,
            status=text(record.get("status")),
            exit_code=whole_or_none(record.get("exit_code")),
            ended_at=text(record.get("ended_at")),
            duration_ms=whole_or_none(record.get("duration_ms")),
            reason=text(record.get("reason")),
            agent=text_or_none(record.get("agent")),
            policy_events=_policy_events(events),
            recovered=bool(record.get("recovered")),
            rest={name: value for name, value in record.items() if name not in known},
        )

    def as_record(self) -> dict[str, Any]:
        """Return the fields of the ledger line; fields without a value are left out."""
        told = {} if self.exit_code is None else {"exit_code": self.exit_code}
        took = {} if self.duration_ms is None else {"duration_ms": self.duration_ms}
        return {
            **self.rest,
            **self.detail.as_record(),
            **said(
                status=self.status,
                ended_at=self.ended_at,
                reason=self.reason,
                agent=self.agent,
                policy_events=[each.as_record() for each in self.policy_events],
            ),
            **told,
            **took,
            **({"recovered": True} if self.recovered else {}),
        }

    @property
    def kind(self) -> str:
        return self.detail.kind

    @property
    def as_run(self) -> "RunDetail | None":
        """The detail of a run; None for an act of another kind."""
        return cast("RunDetail", self.detail) if self.kind == StepKind.RUN else None

    @property
    def as_apply(self) -> "ApplyDetail | None":
        """The detail of an apply; None for an act of another kind."""
        return cast("ApplyDetail", self.detail) if self.kind == StepKind.APPLY else None

    @property
    def as_rollback(self) -> "RollbackDetail | None":
        """The detail of an act that replaces the content of the workspace; None for another."""
        return cast("RollbackDetail", self.detail) if self.kind == StepKind.ROLLBACK else None

    @property
    def as_checkpoint(self) -> "CheckpointDetail | None":
        """The detail of a checkpoint or a turn; None for an act of another kind."""
        return cast("CheckpointDetail", self.detail) if self.kind == StepKind.CHECKPOINT else None

    @property
    def title(self) -> str:
        """The command that runs, quoted so that it can be typed again; "" for other kinds."""
        run = self.as_run
        return "" if run is None else join(run.cmd)

    def completed(self) -> "Draft":
        """Return the draft with the status "completed"."""
        return self._replace(status=StepStatus.COMPLETED.value)


def _policy_events(records: list[Mapping[str, Any]]) -> "tuple[PolicyEvent, ...]":
    if not records:
        return ()
    return tuple(PolicyEvent.from_record(each) for each in records)


def detail_from(kind: str, record: Mapping[str, Any]) -> "Detail":
    """Return the detail of a step of this kind from its record."""
    known = known_kind(kind)
    match known:
        case None:
            return ForeignDetail(kind)
        case StepKind.RUN:
            from siding.record.ledger.run_details import RunDetail

            return RunDetail.from_record(record)
        case StepKind.CHECKPOINT:
            from siding.record.ledger.run_details import CheckpointDetail

            return CheckpointDetail.from_record(record)
        case StepKind.ROLLBACK:
            from siding.record.ledger.move_details import RollbackDetail

            return RollbackDetail.from_record(record)
        case StepKind.APPLY:
            from siding.record.ledger.move_details import ApplyDetail

            return ApplyDetail.from_record(record)
        case StepKind.PHASE:
            from siding.record.ledger.move_details import PhaseDetail

            return PhaseDetail.from_record(record)
        case _:
            assert_never(known)
