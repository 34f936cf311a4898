"""A step: one recorded action in a task. The fields of a ``ledger.jsonl`` line.

The shape of ``run``, ``apply`` and ``rollback`` lines is the bar tool's; added are ``v``, ``prev``
(hash of the line before), ``snapshot`` and ``parent`` (the trees after and before), ``coverage``
and ``status``. `Step.line` is the line as it stands: what a newer version or another tool wrote is
passed on as it is. Outside this package nobody reads it by its keys.
"""

from collections.abc import Mapping
from shlex import join
from typing import TYPE_CHECKING, Any, NamedTuple

from siding.ledger.fields import (
    mapping,
    mappings,
    strings,
    text,
    text_or_none,
    whole,
    words,
)
from siding.ledger.kinds import StepKind, StepStatus

# What only some readers ask for is loaded when they do: a status or a board needs none of it, and
# the types of all kinds and reports take longer to load than a ledger to read.
if TYPE_CHECKING:
    from siding.git.snapshots.coverage import Coverage
    from siding.ledger.details import Detail
    from siding.ledger.details.apply import ApplyDetail
    from siding.ledger.details.checkpoint import CheckpointDetail
    from siding.ledger.details.reversal import Reversal
    from siding.ledger.details.rollback import RollbackDetail
    from siding.ledger.details.run import RunDetail
    from siding.ledger.figures import DiffFigures
    from siding.ledger.reports import IsolationReport, PolicyEvent

STEP_VERSION = 1


class Step(NamedTuple):
    """What steps of every kind have. What only one kind has is in `detail`."""

    number: int
    kind: str  # a StepKind, or the word of a newer version
    status: str  # a StepStatus, or the word of a newer version
    started_at: str
    ended_at: str
    duration_ms: int
    exit_code: int | None
    cmd: tuple[str, ...]
    message: str
    snapshot: str | None  # commit in the project's own store: the workspace after the step
    parent: str | None  # the same, before the step
    files: int
    additions: int
    deletions: int
    modes: int  # paths whose permissions changed
    complete: bool  # everything in the workspace was captured
    line: Mapping[str, Any]

    @property
    def id(self) -> str:
        return f"{self.number:04d}"

    @property
    def act(self) -> str:
        """The id of the act that it records; "" in lines of other tools and earlier versions."""
        return text(self.line.get("act"))

    @property
    def recovered(self) -> bool:
        """Whether its own process died, and a later command recorded it."""
        return bool(self.line.get("recovered"))

    @property
    def detail(self) -> "Detail":
        """What only steps of this kind have, read from the line each time."""
        from siding.ledger.details import detail_from

        return detail_from(self.kind, self.line)

    @property
    def as_run(self) -> "RunDetail | None":
        """What a command did; None for a step of another kind."""
        if self.kind != StepKind.RUN:
            return None
        from siding.ledger.details.run import RunDetail

        return RunDetail.from_record(self.line)

    @property
    def as_apply(self) -> "ApplyDetail | None":
        """What an apply did; None for a step of another kind."""
        if self.kind != StepKind.APPLY:
            return None
        from siding.ledger.details.apply import ApplyDetail

        return ApplyDetail.from_record(self.line)

    @property
    def as_rollback(self) -> "RollbackDetail | None":
        """What a rollback, an undo or a merge did; None for a step of another kind."""
        if self.kind != StepKind.ROLLBACK:
            return None
        from siding.ledger.details.rollback import RollbackDetail

        return RollbackDetail.from_record(self.line)

    @property
    def as_checkpoint(self) -> "CheckpointDetail | None":
        """What a checkpoint says; None for a step of another kind."""
        if self.kind != StepKind.CHECKPOINT:
            return None
        from siding.ledger.details.checkpoint import CheckpointDetail

        return CheckpointDetail.from_record(self.line)

    @property
    def merges(self) -> bool:
        """Whether a branch was merged into the workspace.

        Such a step has the form of a rollback in the ledger: like one, it replaces what the
        workspace holds.
        """
        return self.kind == StepKind.ROLLBACK and isinstance(self.line.get("merged"), dict)

    @property
    def goes_back(self) -> bool:
        """Whether the workspace was taken to an earlier state."""
        return self.kind == StepKind.ROLLBACK and not self.merges

    @property
    def reversal(self) -> "Reversal":
        """The step that this one takes back or does again, if it does."""
        from siding.ledger.details.reversal import Reversal

        return Reversal.from_record(self.line)

    @property
    def returns(self) -> str | None:
        """The snapshot that taking this step back leads to, where it is not the one before it."""
        return text_or_none(self.line.get("returns"))

    @property
    def kind_shown(self) -> str:
        """Return the kind as a person is told it."""
        return "merge" if self.merges else self.kind

    @property
    def title(self) -> str:
        """Return one line that says what the step did."""
        if self.cmd:
            return join(self.cmd)  # quoted, so that it can be typed again
        return self.message or text(self.line.get("target") or self.line.get("mode"))

    @property
    def reason(self) -> str:
        """Why it was blocked, stopped or could not be started; "" when there is nothing to say."""
        return text(self.line.get("reason"))

    @property
    def agent(self) -> str:
        """The agent that ran, "" for any other command."""
        return text(self.line.get("agent"))

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits that the step made."""
        return strings(self.line.get("commits"))

    @property
    def coverage(self) -> "Coverage | None":
        """What the snapshot after the step holds; None where nobody looked."""
        from siding.git.snapshots.coverage import Coverage

        report = self.line.get("coverage")
        return Coverage.from_record(report) if isinstance(report, dict) else None

    @property
    def policy_events(self) -> "tuple[PolicyEvent, ...]":
        """The rules that matched."""
        from siding.ledger.reports import PolicyEvent

        found = mappings(self.line.get("policy_events"))
        return tuple(PolicyEvent.from_record(each) for each in found)

    @property
    def isolation(self) -> "IsolationReport | None":
        """What changed outside the workspace meanwhile; None for nothing, or nobody looked."""
        report = self.line.get("isolation")
        if not isinstance(report, dict) or not report.get("changes"):
            return None
        from siding.ledger.reports import IsolationReport

        return IsolationReport.from_record(report)

    @property
    def diff_stat(self) -> "DiffFigures":
        """How much changed in the workspace, and the paths."""
        from siding.ledger.figures import DiffFigures

        return DiffFigures.from_record(self.line.get("diff_stat"))

    @property
    def artifacts(self) -> Mapping[str, str]:
        """The files that belong to the step: ``patch``, ``output``; names relative to the task."""
        found = mapping(self.line.get("artifacts"))
        return {kind: text(name) for kind, name in found.items()}

    @property
    def patch_sha256(self) -> str | None:
        """The hash of the patch, where there is one."""
        return text_or_none(self.line.get("patch_sha256"))

    @property
    def is_chained(self) -> bool:
        """Whether the line names the one before it; those of other tools do not."""
        return bool(self.line.get("prev"))


def step_from(line: Mapping[str, Any]) -> Step:
    """Return the step in a ledger line; raise ValueError when it is not one."""
    number, kind = number_of(line), str(line["kind"])
    exit_code = line.get("exit_code")
    stat = mapping(line.get("diff_stat"))
    return Step(
        number=number,
        kind=kind,
        status=str(line.get("status") or _status_of_old_line(exit_code)),
        started_at=text(line.get("started_at")),
        ended_at=text(line.get("ended_at")),
        duration_ms=whole(line.get("duration_ms")),
        exit_code=exit_code if isinstance(exit_code, int) else None,
        cmd=words(line.get("cmd")),
        message=str(line.get("message") or line.get("commit_message") or ""),
        snapshot=text_or_none(line.get("snapshot")),
        parent=text_or_none(line.get("parent")),
        files=whole(stat.get("files")),
        additions=whole(stat.get("additions")),
        deletions=whole(stat.get("deletions")),
        modes=whole(line.get("mode_count")),
        complete=bool(mapping(line.get("coverage")).get("complete", True)),
        line=line,
    )


def number_of(record: Mapping[str, Any]) -> int:
    """Return the step's number; raise ValueError when the ledger line is not a step."""
    try:
        number, _kind = int(record["step_id"]), record["kind"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a step: {error!r}") from None
    return number


def _status_of_old_line(exit_code: object) -> StepStatus:
    """Lines of the bar tool have no status; its timeouts are exit code -1."""
    if exit_code == -1:
        return StepStatus.TIMEOUT
    return StepStatus.COMPLETED if exit_code in (0, None) else StepStatus.FAILED


__all__ = [
    "STEP_VERSION",
    "Step",
    "StepKind",
    "StepStatus",
    "number_of",
    "step_from",
]
