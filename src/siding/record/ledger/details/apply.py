"""The detail of an apply step: the task's change was put onto a target branch, or taken back."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, said, strings, text, text_or_none
from siding.record.ledger.details.rollback import LeftAlone, left_in
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.kinds import Reversal, StepKind


class ApplyDetail(NamedTuple):
    """What an apply, or the undo or redo of one, changed on the target branch."""

    mode: str = ""  # commit, squash, patch, ...
    message: str = ""
    commit_sha: str = ""  # of the new commit; "" if only files were changed
    commit_message: str = ""
    target_branch: str = ""
    target_before: str = ""  # the commit that the target branch was at before
    commits: tuple[str, ...] = ()
    whole: bool = False  # the whole change of the task was applied
    head: str | None = None  # HEAD of the workspace at that moment
    applied: DiffFigures | None = None
    steps: str = ""  # the steps as they were named on the command line; "" for all
    paths: tuple[str, ...] = ()
    left_out: tuple[LeftAlone, ...] = ()
    gone_back: tuple["LeftCommit", ...] = ()
    proven_by: str = ""  # the command of `--if`, which held on the result
    reversal: Reversal = Reversal()
    displaced: str = ""  # as in RollbackDetail; absolute if it is not in the trash
    kept: tuple[str, ...] = ()
    move: Mapping[str, Any] | None = None  # `siding.record.moving.model.move_from` reads it
    reflog: str = ""

    @property
    def kind(self) -> str:
        return StepKind.APPLY.value

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
            left_out=left_in(record.get("left_out")),
            gone_back=tuple(
                LeftCommit(text(each.get("commit")), text(each.get("subject")))
                for each in mappings(record.get("gone_back"))
            ),
            proven_by=text(record.get("proven_by")),
            reversal=Reversal.from_record(record),
            displaced=text(record.get("displaced")),
            kept=strings(record.get("kept")),
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
                proven_by=self.proven_by,
                displaced=self.displaced,
                kept=list(self.kept),
            ),
            **self.reversal.as_record(),
            **said(move=self.move, reflog=self.reflog),
        }


class LeftCommit(NamedTuple):
    """A commit of the agent that was not applied, because a rollback had left it behind."""

    commit: str
    subject: str
