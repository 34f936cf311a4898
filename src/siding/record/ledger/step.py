"""A step: one recorded act in a task, read from a line of ``ledger.jsonl``.

`Step` is a closed union with a class for each kind of act; `step_from` chooses the class, once for
each line that is looked at. An undo, a redo, a merge and a turn are kinds of their own, whatever
their line is called. Code that does something for each kind uses ``match`` and ``assert_never``, so
that mypy shows every such place to whoever adds a kind. Code that asks for one kind uses the
properties `as_run`, `goes_back` and the like: for a step of any other kind they are None, false or
empty, and that stays true whatever kinds are added. `kind_shown` and `detail` have no such default:
a new kind without them is an error wherever they are read.

Other tools write ``run``, ``apply`` and ``rollback`` lines of the same shape. Siding adds ``v``,
``prev`` (the hash of the line before), ``snapshot`` and ``parent`` (the workspace after and before
the step), ``coverage`` and ``status``. `Step.line` is the unchanged line, so fields of newer
versions and of other tools are passed on. Code outside this package must not read it by its keys.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, assert_never, final

from siding.ground.storage.fields import mapping, strings, text, text_or_none, whole, words
from siding.record.ledger.kinds import ForeignDetail, StepKind, StepStatus, known_kind
from siding.record.ledger.step_fields import Said, StepFields, stat_of, usage_in

# Details are imported by the properties that return them: a status or a board needs none of them.
if TYPE_CHECKING:
    from siding.record.ledger.figures import RunTurns
    from siding.record.ledger.move_details import (
        ApplyDetail,
        MergedBranch,
        PhaseDetail,
        RollbackDetail,
    )
    from siding.record.ledger.reports import WireReport
    from siding.record.ledger.run_details import CheckpointDetail, RunDetail

STEP_VERSION = 1


def _run_name(line: Mapping[str, Any]) -> str:
    return text(line.get("name")) if text(line.get("run")) else ""


def _run_turns(line: Mapping[str, Any]) -> "RunTurns | None":
    if not (text(line.get("run")) and line.get("turns")):
        return None
    from siding.record.ledger.figures import RunTurns

    return RunTurns.from_record(line["turns"])


def _turn_of(line: Mapping[str, Any]) -> str:
    """Return what the turn in a checkpoint's line is of; "" if it is no turn."""
    return text(line.get("run")) or (text(line.get("agent")) and text(line.get("session")))


def _only_run_beside(line: Mapping[str, Any]) -> str:
    """Return the run during which a checkpoint was made, if this one alone lived then."""
    beside = strings(line.get("beside"))
    return beside[0] if line.get("origin") == "running" and len(beside) == 1 else ""


def _syncs(line: Mapping[str, Any]) -> bool:
    return bool(line["merged"].get("base"))


@final
class RunStep(StepFields):
    """A command that ran in the workspace."""

    kind_shown = "run"
    usage = Said(usage_in, "usage")
    run = Said(text, "run")
    turns = Said(_run_turns)
    run_name = Said(_run_name)
    since = Said(text, "since")

    @cached_property
    def detail(self) -> "RunDetail":
        from siding.record.ledger.run_details import RunDetail

        return RunDetail.from_record(self.line)

    @property
    def as_run(self) -> "RunDetail":
        return self.detail

    @property
    def wire(self) -> "WireReport | None":
        return self.detail.wire if "wire" in self.line else None

    @property
    def heading(self) -> str:
        prompt = text(self.line.get("prompt")).strip()
        if not prompt:
            return self.title
        return f"{text(self.line.get('name'))}: {prompt.splitlines()[0]}".removeprefix(": ")


class _CheckpointFields(StepFields):
    """What a checkpoint and a turn have; both are called ``checkpoint`` in the ledger."""

    usage = Said(usage_in, "usage")

    @cached_property
    def detail(self) -> "CheckpointDetail":
        from siding.record.ledger.run_details import CheckpointDetail

        return CheckpointDetail.from_record(self.line)

    @property
    def as_checkpoint(self) -> "CheckpointDetail":
        return self.detail

    @property
    def wire(self) -> "WireReport | None":
        return self.detail.wire if "wire" in self.line else None


@final
class CheckpointStep(_CheckpointFields):
    """The workspace was recorded: on request, or because it changed since the last step."""

    kind_shown = "checkpoint"
    run_of_turn = Said(_only_run_beside)


@final
class TurnStep(_CheckpointFields):
    """A turn of an agent, or a part of one: the line names its run or the agent's conversation."""

    turn_of = Said(_turn_of)
    run_of_turn = Said(_turn_of)
    turn = Said(text, "turn")

    @property
    def kind_shown(self) -> str:
        return "call" if self.line.get("moment") == "call" else "turn"


class _ApplyFields(StepFields):
    """What an apply has, and the undo and redo of one: a target was moved, not the workspace."""

    kept = Said(strings, "kept")

    @cached_property
    def detail(self) -> "ApplyDetail":
        from siding.record.ledger.move_details import ApplyDetail

        return ApplyDetail.from_record(self.line)

    @property
    def as_apply(self) -> "ApplyDetail":
        return self.detail


@final
class ApplyStep(_ApplyFields):
    """The task's change was put onto a target: a branch, or the files of a checkout."""

    kind_shown = "apply"


@final
class ApplyUndoStep(_ApplyFields):
    """An apply was taken back from its target."""

    kind_shown = "undo"


@final
class ApplyRedoStep(_ApplyFields):
    """An apply that was taken back was put onto its target again."""

    kind_shown = "redo"


class _RollbackFields(StepFields):
    """What every step has that replaced the content of the workspace: ``rollback`` in the ledger,
    also where it was no rollback."""

    kept = Said(strings, "kept")

    @cached_property
    def detail(self) -> "RollbackDetail":
        from siding.record.ledger.move_details import RollbackDetail

        return RollbackDetail.from_record(self.line)

    @property
    def as_rollback(self) -> "RollbackDetail":
        return self.detail

    @property
    def goes_back(self) -> bool:
        return True


@final
class RollbackStep(_RollbackFields):
    """The workspace went to a recorded state that a person named."""

    kind_shown = "rollback"


@final
class UndoStep(_RollbackFields):
    """The workspace went back to the state before an act."""

    kind_shown = "undo"


@final
class RedoStep(_RollbackFields):
    """The workspace went to the state after an act that was undone."""

    kind_shown = "redo"


@final
class MergeStep(_RollbackFields):
    """A branch was merged into the workspace, perhaps with conflicts; or the base was (a sync)."""

    syncs = Said(_syncs)

    @property
    def kind_shown(self) -> str:
        return "sync" if self.syncs else "merge"

    @property
    def goes_back(self) -> bool:
        return False

    @property
    def merged(self) -> "MergedBranch | None":
        return self.detail.merged


@final
class PhaseStep(StepFields):
    """The task was moved to a phase, with a commit on its branch."""

    kind_shown = "phase"

    @cached_property
    def detail(self) -> "PhaseDetail":
        from siding.record.ledger.move_details import PhaseDetail

        return PhaseDetail.from_record(self.line)


@final
class ForeignStep(StepFields):
    """An act of a kind that this version does not know: it is shown, and never taken back."""

    @property
    def kind_shown(self) -> str:
        return self.kind

    @property
    def detail(self) -> ForeignDetail:
        return ForeignDetail(self.kind)


Step = (
    RunStep
    | TurnStep
    | CheckpointStep
    | ApplyStep
    | ApplyUndoStep
    | ApplyRedoStep
    | RollbackStep
    | UndoStep
    | RedoStep
    | MergeStep
    | PhaseStep
    | ForeignStep
)


_TIMES = ("started_at", "ended_at")


def step_from(line: Mapping[str, Any]) -> Step:
    """Return the step in a ledger line; raise ValueError if the line is not a step."""
    number, kind = number_of(line), str(line["kind"])
    exit_code = line.get("exit_code")
    stat = stat_of(line)
    return _class_of(kind, line)(
        number=number,
        kind=kind,
        status=str(line.get("status") or _status_of_old_line(exit_code)),
        started_at=text(line.get("started_at")),
        ended_at=text(line.get("ended_at")),
        duration_ms=_duration_of(line),
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


def _duration_of(line: Mapping[str, Any]) -> int:
    """Return how long a step took, in milliseconds; another tool may say only when it was."""
    if "duration_ms" in line or not (line.get("started_at") and line.get("ended_at")):
        return whole(line.get("duration_ms"))
    from datetime import datetime

    try:
        began, ended = (datetime.fromisoformat(str(line[key])) for key in _TIMES)
        return max(0, round((ended - began).total_seconds() * 1000))
    except (TypeError, ValueError):  # one of them is no time, or only one has an offset
        return 0


def _class_of(kind: str, line: Mapping[str, Any]) -> type[Step]:
    """Return the class for a line, whose word for its kind is `kind`."""
    known = known_kind(kind)
    match known:
        case None:
            return ForeignStep
        case StepKind.RUN:
            return RunStep
        case StepKind.CHECKPOINT:
            return TurnStep if _turn_of(line) else CheckpointStep
        case StepKind.ROLLBACK if isinstance(line.get("merged"), dict):
            return MergeStep
        case StepKind.ROLLBACK if text_or_none(line.get("undoes")):
            return UndoStep
        case StepKind.ROLLBACK:
            return RedoStep if text_or_none(line.get("redoes")) else RollbackStep
        case StepKind.APPLY if text_or_none(line.get("undoes")):
            return ApplyUndoStep
        case StepKind.APPLY:
            return ApplyRedoStep if text_or_none(line.get("redoes")) else ApplyStep
        case StepKind.PHASE:
            return PhaseStep
        case _:
            assert_never(known)


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
