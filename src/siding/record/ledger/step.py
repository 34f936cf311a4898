"""A step: one recorded act in a task, read from a line of ``ledger.jsonl``.

Other tools write ``run``, ``apply`` and ``rollback`` lines of the same shape. Siding adds ``v``,
``prev`` (the hash of the line before), ``snapshot`` and ``parent`` (the workspace after and before
the step), ``coverage`` and ``status``. `Step.line` is the unchanged line, so fields of newer
versions and of other tools are passed on. Code outside this package must not read it by its keys.
"""

from collections.abc import Mapping
from shlex import join
from typing import TYPE_CHECKING, Any, cast

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import (
    mapping,
    mappings,
    strings,
    text,
    text_or_none,
    whole,
    words,
)
from siding.record.ledger.kinds import ALL_PARTS, StepKind, StepStatus

# Details and reports are imported by the properties that return them. A status or a board needs
# none of them, and importing all of these modules takes longer than reading a ledger.
if TYPE_CHECKING:
    from siding.record.ledger.details import Detail
    from siding.record.ledger.details.apply import ApplyDetail
    from siding.record.ledger.details.checkpoint import CheckpointDetail
    from siding.record.ledger.details.reversal import Reversal
    from siding.record.ledger.details.rollback import RollbackDetail
    from siding.record.ledger.details.run import RunDetail
    from siding.record.ledger.figures import DiffFigures, RunTurns
    from siding.record.ledger.reports import IsolationReport, PolicyEvent
    from siding.record.ledger.traps import Trap
    from siding.record.snapshots.coverage import Coverage

STEP_VERSION = 1


class Step(NamedTuple):
    """The fields that steps of every kind have. Fields of one kind only are in `detail`."""

    number: int
    kind: str  # a StepKind, or another word that a newer version wrote
    status: str  # a StepStatus, or another word that a newer version wrote
    started_at: str
    ended_at: str
    duration_ms: int
    exit_code: int | None
    cmd: tuple[str, ...]
    message: str
    snapshot: str | None  # a commit in the snapshot store: the workspace after the step
    parent: str | None  # the same for the workspace before the step
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
        """The id of the act that the step records; "" in lines of other tools and old versions."""
        return text(self.line.get("act"))

    @property
    def recovered(self) -> bool:
        """Whether the process of the step died, and a later command recorded the step."""
        return bool(self.line.get("recovered"))

    @property
    def detail(self) -> "Detail":
        """The fields of this kind of step; parsed from the line at each access."""
        from siding.record.ledger.details import detail_from

        return detail_from(self.kind, self.line)

    @property
    def as_run(self) -> "RunDetail | None":
        """The detail of a run; None for a step of another kind."""
        return cast("RunDetail", self.detail) if self.kind == StepKind.RUN else None

    @property
    def as_apply(self) -> "ApplyDetail | None":
        """The detail of an apply; None for a step of another kind."""
        return cast("ApplyDetail", self.detail) if self.kind == StepKind.APPLY else None

    @property
    def as_rollback(self) -> "RollbackDetail | None":
        """The detail of a rollback, an undo or a merge; None for a step of another kind."""
        return cast("RollbackDetail", self.detail) if self.kind == StepKind.ROLLBACK else None

    @property
    def as_checkpoint(self) -> "CheckpointDetail | None":
        """The detail of a checkpoint; None for a step of another kind."""
        return cast("CheckpointDetail", self.detail) if self.kind == StepKind.CHECKPOINT else None

    @property
    def merges(self) -> bool:
        """Whether the step merged a branch into the workspace.

        The ledger records a merge as a rollback, because both replace the content of the
        workspace.
        """
        return self.kind == StepKind.ROLLBACK and isinstance(self.line.get("merged"), dict)

    @property
    def syncs(self) -> bool:
        """Whether the step brought the moved base branch in, with HEAD and the index."""
        return self.merges and bool(self.line["merged"].get("base"))

    @property
    def goes_back(self) -> bool:
        """Whether the step restored an earlier state of the workspace."""
        return self.kind == StepKind.ROLLBACK and not self.merges

    @property
    def reversal(self) -> "Reversal":
        """The step that this one undoes or redoes; both fields are None if it does neither."""
        from siding.record.ledger.details.reversal import Reversal

        return Reversal.from_record(self.line)

    @property
    def returns(self) -> str | None:
        """The snapshot that an undo of this step restores, if it is not `parent`."""
        return text_or_none(self.line.get("returns"))

    @property
    def on(self) -> str:
        """The id of the step that this one stands on, or "base"; "" in lines of old versions."""
        return text(self.line.get("on"))

    @property
    def took_all_parts(self) -> bool:
        """Whether a rollback took HEAD, the branch, the index and the phases along."""
        return self.line.get("parts") == ALL_PARTS

    @property
    def retries(self) -> str:
        """The id of the step that this one does again, or goes back to do again; "" if none."""
        return text(self.line.get("retries"))

    @property
    def kind_shown(self) -> str:
        """The kind as it is shown to a person."""
        if self.merges:
            return "sync" if self.syncs else "merge"
        if self.turn_of:
            return "call" if self.line.get("moment") == "call" else "turn"
        undoes, redoes = self.reversal
        return "undo" if undoes else "redo" if redoes else self.kind

    @property
    def title(self) -> str:
        """One line that says what the step did."""
        if self.cmd:
            return join(self.cmd)  # quoted, so that it can be typed again
        return self.message or text(self.line.get("target") or self.line.get("mode"))

    @property
    def heading(self) -> str:
        """The title; of a run that a program called, its name and what its agent was asked."""
        prompt = text(self.line.get("prompt")) if self.kind == StepKind.RUN else ""
        if not prompt.strip():
            return self.title
        return f"{text(self.line.get('name'))}: {prompt.strip().splitlines()[0]}".removeprefix(": ")

    @property
    def reason(self) -> str:
        """Why the step was blocked, stopped or could not start; "" if none of this happened."""
        return text(self.line.get("reason"))

    @property
    def agent(self) -> str:
        """The name of the agent that ran; "" for any other command."""
        return text(self.line.get("agent"))

    @property
    def run(self) -> str:
        """The id of the run that the step records; "" for other steps and old lines."""
        return text(self.line.get("run")) if self.kind == StepKind.RUN else ""

    @property
    def was_stopped(self) -> bool:
        """Whether the step is a run that was ended on request."""
        return text(self.line.get("ending")) == "stopped"

    @property
    def turn_of(self) -> str:
        """The id of the run whose turn the step is; "" if it is no turn.

        Of an agent that was started without one, it is the agent's own id of the conversation.
        """
        if self.kind != StepKind.CHECKPOINT:
            return ""
        return text(self.line.get("run")) or (self.agent and text(self.line.get("session")))

    @property
    def run_of_turn(self) -> str:
        """The id of the run that the step is a turn of: it says so, or this run alone lived
        meanwhile."""
        if self.turn_of:
            return self.turn_of
        detail = self.as_checkpoint
        is_of_one = detail is not None and detail.origin == "running" and len(self.beside) == 1
        return self.beside[0] if is_of_one else ""

    @property
    def turn(self) -> str:
        """The agent's own id of the prompt whose turn, or a part of it, the step is; "" if none."""
        return text(self.line.get("turn")) if self.turn_of else ""

    @property
    def turns(self) -> "RunTurns | None":
        """What the turns of a run changed, whose line this is; None if it had none, or an earlier
        version recorded it."""
        if not (self.run and self.line.get("turns")):
            return None
        from siding.record.ledger.figures import RunTurns

        return RunTurns.from_record(self.line["turns"])

    @property
    def run_name(self) -> str:
        """The name that the run was given; "" for none."""
        return text(self.line.get("name")) if self.run else ""

    @property
    def beside(self) -> tuple[str, ...]:
        """The ids of the other runs that lived when the step ended: changes may be theirs."""
        return strings(self.line.get("beside"))

    @property
    def links(self) -> int:
        """How many files are linked to others than before."""
        return whole(self.line.get("link_count"))

    @property
    def directories(self) -> int:
        """How many directories are empty that were not, or were and are not."""
        return whole(self.line.get("directory_count"))

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits that the step made."""
        return strings(self.line.get("commits"))

    @property
    def coverage(self) -> "Coverage | None":
        """What the snapshot after the step contains and lacks; None if the line does not say."""
        from siding.record.snapshots.coverage import Coverage

        report = self.line.get("coverage")
        return Coverage.from_record(report) if isinstance(report, dict) else None

    @property
    def policy_events(self) -> "tuple[PolicyEvent, ...]":
        """The rules of the policy that the command matched."""
        found = mappings(self.line.get("policy_events"))
        if not found:
            return ()
        from siding.record.ledger.reports import PolicyEvent

        return tuple(PolicyEvent.from_record(each) for each in found)

    @property
    def isolation(self) -> "IsolationReport | None":
        """The changes outside the workspace during the step; None if none are known."""
        report = self.line.get("isolation")
        if not isinstance(report, dict) or not report.get("changes"):
            return None
        from siding.record.ledger.reports import IsolationReport

        return IsolationReport.from_record(report)

    @property
    def traps(self) -> "tuple[Trap, ...]":
        """The files that the step left, which a program outside runs later: the first of them."""
        found = mappings(self.line.get("traps"))
        if not found:
            return ()
        from siding.record.ledger.traps import Trap

        return tuple(Trap.from_record(each) for each in found)

    @property
    def trap_count(self) -> int:
        """How many such files the step left."""
        return whole(self.line.get("trap_count")) or len(mappings(self.line.get("traps")))

    @property
    def diff_stat(self) -> "DiffFigures":
        """The figures of the change, and the changed paths: of an apply those of its target."""
        from siding.record.ledger.figures import DiffFigures

        return DiffFigures.from_record(_stat_of(self.line))

    @property
    def artifacts(self) -> Mapping[str, str]:
        """The step's files, ``patch`` and ``output``, as paths relative to the task's directory."""
        found = mapping(self.line.get("artifacts"))
        return {kind: text(name) for kind, name in found.items()}

    @property
    def patch_sha256(self) -> str | None:
        """The SHA-256 of the patch; None if there is no patch."""
        return text_or_none(self.line.get("patch_sha256"))

    @property
    def is_chained(self) -> bool:
        """Whether the line has the hash of the line before it; lines of other tools have none."""
        return bool(self.line.get("prev"))


def step_from(line: Mapping[str, Any]) -> Step:
    """Return the step in a ledger line; raise ValueError if the line is not a step."""
    number, kind = number_of(line), str(line["kind"])
    exit_code = line.get("exit_code")
    stat = _stat_of(line)
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


def _stat_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a line. Earlier versions wrote those of an apply in `applied` only."""
    applied = mapping(line.get("applied")) if line.get("kind") == StepKind.APPLY else {}
    return applied or mapping(line.get("diff_stat"))


def number_of(record: Mapping[str, Any]) -> int:
    """Return the step's number; raise ValueError if the ledger line is not a step."""
    try:
        number, _kind = int(record["step_id"]), record["kind"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a step: {error!r}") from None
    return number


def _status_of_old_line(exit_code: object) -> StepStatus:
    """Return the status of a line without one. Other tools write exit code -1 for a timeout."""
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
