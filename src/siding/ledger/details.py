"""What a step did: one type for each kind, and the fields of a ledger line that only it has.

`detail_from` reads them, ``as_record`` writes them. The union is closed: code that tells its types
apart does it with ``match`` or ``isinstance``, and mypy knows all cases. A kind that this version
does not know is a `ForeignDetail`: it is kept and shown, and nothing is undone across it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from siding.ledger.fields import (
    mapping,
    mappings,
    said,
    strings,
    text,
    text_or_none,
    whole_or_none,
    words,
)
from siding.ledger.reports import (
    DiffFigures,
    IsolationReport,
    MergedBranch,
    OutputReport,
    ProcessReport,
    SandboxReport,
)


class StepKind(StrEnum):
    """What a step did."""

    RUN = "run"
    APPLY = "apply"
    ROLLBACK = "rollback"
    CHECKPOINT = "checkpoint"


class RunDetail(NamedTuple):
    """A command that ran in the workspace."""

    cmd: tuple[str, ...] = ()
    cwd: str = ""  # relative to the workspace
    env: Mapping[str, str] = {}  # what was passed explicitly
    timeout_s: float | None = None
    ending: str = ""
    child_exit_code: int | None = None  # where it is not the step's
    output: OutputReport | None = None
    notes: tuple[str, ...] = ()
    processes: ProcessReport = ProcessReport()
    sandbox: SandboxReport | None = None
    limits: Mapping[str, int] = {}  # those in force besides the time
    isolation: IsolationReport | None = None  # None: nobody was left to look

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RunDetail":
        timeout_s = record.get("timeout_s")
        return cls(
            cmd=words(record.get("cmd")),
            cwd=text(record.get("cwd")),
            env=mapping(record.get("env")),
            timeout_s=timeout_s if isinstance(timeout_s, int | float) else None,
            ending=text(record.get("ending")),
            child_exit_code=whole_or_none(record.get("child_exit_code")),
            output=OutputReport.from_record(record.get("output")),
            notes=words(record.get("notes")),
            processes=ProcessReport.from_record(record.get("processes")),
            sandbox=SandboxReport.from_record(record.get("sandbox")),
            limits=mapping(record.get("limits")),
            isolation=IsolationReport.from_record(record.get("isolation")),
        )


class CheckpointDetail(NamedTuple):
    """The workspace as it stood, recorded because somebody asked or something had changed."""

    message: str = ""
    origin: str = ""  # asked, outside, carry

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "CheckpointDetail":
        return cls(message=text(record.get("message")), origin=text(record.get("origin")))

    def as_record(self) -> dict[str, Any]:
        return {"message": self.message, "origin": self.origin}


class Reversal(NamedTuple):
    """The step that another one takes back, or does again."""

    undoes: str | None = None  # a step's id
    redoes: str | None = None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Reversal":
        return cls(text_or_none(record.get("undoes")), text_or_none(record.get("redoes")))

    @property
    def of(self) -> str | None:
        """Return the step that is taken back or done again."""
        return self.undoes or self.redoes

    def as_record(self) -> dict[str, Any]:
        return said(undoes=self.undoes, redoes=self.redoes)


class RollbackDetail(NamedTuple):
    """The workspace was taken to another state."""

    target: str = "step"  # base, step, merge
    target_step: str | None = None  # the id of the step whose state it is
    message: str = ""
    hard: bool = False
    restored: str | None = None  # the snapshot
    paths: tuple[str, ...] = ()  # empty: everything
    trash: str | None = None  # where ignored files and obstacles went
    trash_before: tuple[str, ...] = ()  # the same, of attempts that were cut off
    brought_back: tuple[str, ...] = ()  # places in the trash whose files returned
    left: tuple["LeftAlone", ...] = ()  # what was left alone
    merged: MergedBranch | None = None
    reversal: Reversal = Reversal()
    returns: str | None = None  # the snapshot that taking this one back leads to

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RollbackDetail":
        return cls(
            target=text(record.get("target")),
            target_step=text_or_none(record.get("target_step")),
            message=text(record.get("message")),
            hard=bool(record.get("hard")),
            restored=text_or_none(record.get("restored")),
            paths=strings(record.get("paths")),
            trash=text_or_none(record.get("trash")),
            trash_before=strings(record.get("trash_before")),
            brought_back=strings(record.get("brought_back")),
            left=tuple(
                LeftAlone(text(each.get("path")), text(each.get("why")))
                for each in mappings(record.get("left"))
            ),
            merged=MergedBranch.from_record(record.get("merged")),
            reversal=Reversal.from_record(record),
            returns=text_or_none(record.get("returns")),
        )

    def as_record(self) -> dict[str, Any]:
        return {
            "message": self.message,
            "target": self.target,
            "target_step": self.target_step,
            "hard": self.hard,
            **said(merged=None if self.merged is None else self.merged.as_record()),
            **self.reversal.as_record(),
            **said(
                returns=self.returns,
                trash_before=list(self.trash_before),
                restored=self.restored,
                paths=list(self.paths),
                trash=self.trash,
                brought_back=list(self.brought_back),
                left=[each._asdict() for each in self.left],
            ),
        }


class LeftAlone(NamedTuple):
    """A path that a rollback or an apply did not touch."""

    path: str
    why: str


class ApplyDetail(NamedTuple):
    """The task's change went onto the main line, or came back from there."""

    mode: str = ""  # commit, squash, patch, ...
    message: str = ""
    commit_sha: str = ""  # empty: files only
    commit_message: str = ""
    target_branch: str = ""
    target_before: str = ""
    commits: tuple[str, ...] = ()
    whole: bool = False  # all of the task's change went
    head: str | None = None  # the agent's commit then
    applied: DiffFigures | None = None
    steps: str = ""  # as asked for, where it was some steps
    paths: tuple[str, ...] = ()
    left_out: tuple[LeftAlone, ...] = ()
    gone_back: tuple["LeftCommit", ...] = ()
    reversal: Reversal = Reversal()
    move: Mapping[str, Any] | None = None  # `siding.git.applying.move_from` reads it
    reflog: str = ""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "ApplyDetail":
        applied, move = record.get("applied"), record.get("move")
        return cls(
            mode=text(record.get("mode")),
            message=text(record.get("message")),
            commit_sha=text(record.get("commit_sha")),
            commit_message=text(record.get("commit_message")),
            target_branch=text(record.get("target_branch")),
            target_before=text(record.get("target_before")),
            commits=strings(record.get("commits")),
            whole=bool(record.get("whole")),
            head=text_or_none(record.get("head")),
            applied=DiffFigures.from_record(applied) if isinstance(applied, dict) else None,
            steps=text(record.get("steps")),
            paths=strings(record.get("paths")),
            left_out=tuple(
                LeftAlone(text(each.get("path")), text(each.get("why")))
                for each in mappings(record.get("left_out"))
            ),
            gone_back=tuple(
                LeftCommit(text(each.get("commit")), text(each.get("subject")))
                for each in mappings(record.get("gone_back"))
            ),
            reversal=Reversal.from_record(record),
            move=move if isinstance(move, dict) else None,
            reflog=text(record.get("reflog")),
        )

    def as_record(self) -> dict[str, Any]:
        reversed_ = self.reversal.of is not None
        return {
            "mode": self.mode,
            "commit_sha": self.commit_sha,
            "commit_message": self.commit_message,
            "message": self.message,
            "target_branch": self.target_branch,
            "target_before": self.target_before,
            **({} if reversed_ else {"commits": list(self.commits)}),
            "whole": self.whole,
            "head": self.head,
            **({} if self.applied is None else {"applied": self.applied.as_record()}),
            **said(
                steps=self.steps,
                paths=list(self.paths),
                left_out=[each._asdict() for each in self.left_out],
                gone_back=[each._asdict() for each in self.gone_back],
            ),
            **self.reversal.as_record(),
            **said(move=self.move, reflog=self.reflog),
        }


class LeftCommit(NamedTuple):
    """A commit of the agent's that stayed out because a rollback went back from it."""

    commit: str
    subject: str


class ForeignDetail(NamedTuple):
    """An act of a kind that this version does not know."""

    kind: str


Detail = RunDetail | CheckpointDetail | RollbackDetail | ApplyDetail | ForeignDetail


def detail_from(kind: str, record: Mapping[str, Any]) -> Detail:
    """Return what a line of that kind says that its step did."""
    match kind:
        case StepKind.RUN:
            return RunDetail.from_record(record)
        case StepKind.CHECKPOINT:
            return CheckpointDetail.from_record(record)
        case StepKind.ROLLBACK:
            return RollbackDetail.from_record(record)
        case StepKind.APPLY:
            return ApplyDetail.from_record(record)
        case _:
            return ForeignDetail(kind)
