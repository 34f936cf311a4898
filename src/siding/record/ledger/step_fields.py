"""What steps of every kind have. The kinds themselves are in `siding.record.ledger.step`."""

from collections.abc import Callable, Mapping
from shlex import join
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, text_or_none, whole
from siding.record.ledger.kinds import ALL_PARTS, Reversal, StepKind

# Details and reports are imported by the properties that return them. A status or a board needs
# none of them, and importing all of these modules takes longer than reading a ledger.
if TYPE_CHECKING:
    from siding.record.ledger.figures import DiffFigures, RunTurns
    from siding.record.ledger.move_details import ApplyDetail, MergedBranch, RollbackDetail
    from siding.record.ledger.reports import IsolationReport, PolicyEvent, Trap, WireReport
    from siding.record.ledger.run_details import CheckpointDetail, RunDetail
    from siding.record.ledger.usage import Usage
    from siding.record.snapshots.coverage import Coverage


T = TypeVar("T")
NOWHERE = ""  # the name of a field that no line has


class Said(Generic[T]):
    """What a field of the line says, read when it is asked for; without a name, the whole line."""

    def __init__(self, read: Callable[[Any], T], name: str | None = None) -> None:
        self._read = read
        self._name = name

    def __get__(self, step: "StepFields", _owner: type) -> T:
        return self._read(step.line if self._name is None else step.line.get(self._name))


def usage_in(found: object) -> "Usage":
    """Return the usage in a field; most steps have none, and what reads it is not loaded then."""
    if not found:
        return {}
    from siding.record.ledger.usage import usage_from

    return usage_from(found)


def _nothing(_found: object) -> None:
    return None


class _Fields(NamedTuple):
    """What is read of every line at once."""

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


class StepFields(_Fields):
    """The fields of every step. What only some kinds have says "none" here."""

    # The id of the act that the step records; "" in lines of other tools and old versions.
    act = Said(text, "act")
    # Whether the process of the step died, and a later command recorded the step.
    recovered = Said(bool, "recovered")
    # Whether the line has the hash of the line before it; lines of other tools have none.
    is_chained = Said(bool, "prev")
    # The name of the agent that ran; "" for any other command.
    agent = Said(text, "agent")
    # Why the step was blocked, stopped or could not start; "" if none of this happened.
    reason = Said(text, "reason")
    # The ids of the other runs that lived when the step ended: changes may be theirs.
    beside = Said(strings, "beside")
    # The commits that the step made.
    commits = Said(strings, "commits")
    # How many files are linked to others than before.
    links = Said(whole, "link_count")
    # How many directories are empty that were not, or were and are not.
    directories = Said(whole, "directory_count")
    # The SHA-256 of the patch; None if there is no patch.
    patch_sha256 = Said(text_or_none, "patch_sha256")

    # The step that this one undoes or redoes; both fields are None if it does neither.
    reversal = Said(Reversal.from_record)
    # The snapshot that an undo of this step restores, if it is not `parent`.
    returns = Said(text_or_none, "returns")
    # The id of the step that this one stands on, or "base"; "" in lines of old versions.
    on = Said(text, "on")
    # The id of the step that this one does again, or goes back to do again; "" if none.
    retries = Said(text, "retries")
    # Whether the step brought the moved base branch in, with HEAD and the index.
    syncs = Said(bool, NOWHERE)
    # Versions that others wrote while the step moved files: paths in the project's home.
    kept = Said(strings, NOWHERE)

    # The id of the run that the step records; "" for other steps and old lines.
    run = Said(text, NOWHERE)
    # The name that the run was given; "" for none.
    run_name = Said(text, NOWHERE)
    # The newest step when a run began, or "base"; "" in old lines and for other steps.
    since = Said(text, NOWHERE)
    # What the turns of a run changed, whose line this is; None if it had none, or an earlier
    # version recorded it.
    turns: "Said[RunTurns | None]" = Said(_nothing, NOWHERE)
    # What the agent of a run, or of one of its turns, has used, by model; {}: not known.
    usage = Said(usage_in, NOWHERE)

    # The id of the run whose turn the step is; "" if it is no turn. Of an agent that was started
    # without one, it is the agent's own id of the conversation.
    turn_of = Said(text, NOWHERE)
    # The id of the run that the step is a turn of: it says so, or this run alone lived meanwhile.
    run_of_turn = Said(text, NOWHERE)
    # The agent's own id of the prompt whose turn, or a part of it, the step is; "" if none.
    turn = Said(text, NOWHERE)

    @property
    def id(self) -> str:
        return f"{self.number:04d}"

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
    def goes_back(self) -> bool:
        """Whether the step set the workspace to another recorded state: a rollback, undo, redo."""
        return False

    @property
    def took_all_parts(self) -> bool:
        """Whether a rollback took HEAD, the branch, the index and the phases along."""
        return self.line.get("parts") == ALL_PARTS

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
    def was_stopped(self) -> bool:
        """Whether the step is a run that was ended on request."""
        return text(self.line.get("ending")) == "stopped"

    @property
    def wire(self) -> "WireReport | None":
        """What passed the proxy of a run, or in one of its turns; None without a proxy."""
        return None

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


def stat_of(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a line. Earlier versions wrote those of an apply in `applied` only."""
    applied = mapping(line.get("applied")) if line.get("kind") == StepKind.APPLY else {}
    return applied or mapping(line.get("diff_stat"))
