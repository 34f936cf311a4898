"""What steps of every kind have. The kinds themselves are in `siding.record.ledger.step`."""

from collections.abc import Mapping
from shlex import join
from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, text_or_none, whole
from siding.record.ledger.kinds import ALL_PARTS, Reversal, StepKind

# Details and reports are imported by the properties that return them. A status or a board needs
# none of them, and importing all of these modules takes longer than reading a ledger.
if TYPE_CHECKING:
    from siding.record.ledger.details.apply import ApplyDetail
    from siding.record.ledger.details.checkpoint import CheckpointDetail
    from siding.record.ledger.details.rollback import MergedBranch, RollbackDetail
    from siding.record.ledger.details.run import RunDetail
    from siding.record.ledger.figures import DiffFigures, RunTurns
    from siding.record.ledger.reports import IsolationReport, PolicyEvent, Trap
    from siding.record.ledger.usage import Usage
    from siding.record.ledger.wire import WireReport
    from siding.record.snapshots.coverage import Coverage


class StepFields(NamedTuple):
    """The fields of every step. A property that only some kinds have says "none" here."""

    number: int
    kind: str  # the word in the line: a StepKind, or another one that a newer version wrote
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
    def as_run(self) -> "RunDetail | None":
        """The detail of a run; None for a step of another kind."""
        return None

    @property
    def as_apply(self) -> "ApplyDetail | None":
        """The detail of an apply, or of the undo or redo of one; None for another kind."""
        return None

    @property
    def as_rollback(self) -> "RollbackDetail | None":
        """The detail of a step that replaced the content of the workspace; None for another."""
        return None

    @property
    def as_checkpoint(self) -> "CheckpointDetail | None":
        """The detail of a checkpoint or a turn; None for a step of another kind."""
        return None

    @property
    def merged(self) -> "MergedBranch | None":
        """The branch that the step merged into the workspace; None if it did not."""
        return None

    @property
    def syncs(self) -> bool:
        """Whether the step brought the moved base branch in, with HEAD and the index."""
        return False

    @property
    def goes_back(self) -> bool:
        """Whether the step set the workspace to another recorded state: a rollback, undo, redo."""
        return False

    @property
    def kept(self) -> tuple[str, ...]:
        """Versions that others wrote while the step moved files: paths in the project's home."""
        return ()

    @property
    def reversal(self) -> Reversal:
        """The step that this one undoes or redoes; both fields are None if it does neither."""
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
    def title(self) -> str:
        """One line that says what the step did."""
        if self.cmd:
            return join(self.cmd)  # quoted, so that it can be typed again
        return self.message or text(self.line.get("target") or self.line.get("mode"))

    @property
    def heading(self) -> str:
        """The title; of a run that a program called, its name and what its agent was asked."""
        return self.title

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
        return ""

    @property
    def was_stopped(self) -> bool:
        """Whether the step is a run that was ended on request."""
        return text(self.line.get("ending")) == "stopped"

    @property
    def turn_of(self) -> str:
        """The id of the run whose turn the step is; "" if it is no turn.

        Of an agent that was started without one, it is the agent's own id of the conversation.
        """
        return ""

    @property
    def run_of_turn(self) -> str:
        """The id of the run that the step is a turn of: it says so, or this run alone lived
        meanwhile."""
        return ""

    @property
    def turn(self) -> str:
        """The agent's own id of the prompt whose turn, or a part of it, the step is; "" if none."""
        return ""

    @property
    def turns(self) -> "RunTurns | None":
        """What the turns of a run changed, whose line this is; None if it had none, or an earlier
        version recorded it."""
        return None

    @property
    def run_name(self) -> str:
        """The name that the run was given; "" for none."""
        return ""

    @property
    def since(self) -> str:
        """The newest step when a run began, or "base"; "" in old lines and for other steps."""
        return ""

    @property
    def usage(self) -> "Usage":
        """What the agent of a run, or of one of its turns, has used, by model; {}: not known."""
        return {}

    @property
    def wire(self) -> "WireReport | None":
        """What passed the proxy of a run, or in one of its turns; None without a proxy."""
        return None

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
        from siding.record.ledger.reports import Trap

        return tuple(Trap.from_record(each) for each in found)

    @property
    def trap_count(self) -> int:
        """How many such files the step left."""
        return whole(self.line.get("trap_count")) or len(mappings(self.line.get("traps")))

    @property
    def diff_stat(self) -> "DiffFigures":
        """The figures of the change, and the changed paths: of an apply those of its target."""
        from siding.record.ledger.figures import DiffFigures

        return DiffFigures.from_record(stat_of(self.line))

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


def stat_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a line. Earlier versions wrote those of an apply in `applied` only."""
    applied = mapping(line.get("applied")) if line.get("kind") == StepKind.APPLY else {}
    return applied or mapping(line.get("diff_stat"))
