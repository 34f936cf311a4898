"""The details of steps that move something to another state: a rollback, an apply, a phase.

An act fills the detail of its step, and ``as_record`` writes the fields that only this kind has. A
rollback restores another state of the workspace, or merges a branch into it; an apply puts the
task's change onto a target branch, or takes it back; a phase moves the task on in its process.
"""

from collections.abc import Mapping
from typing import Any

from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import (
    mappings,
    said,
    strings,
    text,
    text_or_none,
    whole,
    whole_or_none,
)
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.kinds import ALL_PARTS, BASE, Reversal, StepKind


class RollbackDetail(NamedTuple):
    """The workspace was set to another state, or a branch was merged into it."""

    target: str = "step"  # base, step, merge
    target_step: str | None = None  # the id of the step whose state was restored
    message: str = ""
    hard: bool = False
    restored: str | None = None  # the snapshot that was restored
    paths: tuple[str, ...] = ()  # the paths that were restored; empty: all
    trash: str | None = None  # the directory in the trash for ignored files and obstacles
    trash_before: tuple[str, ...] = ()  # the same directories of attempts that were cut off
    brought_back: tuple[str, ...] = ()  # directories in the trash whose files were put back
    displaced: str = ""  # the directory in the trash for files that were replaced
    # versions that others wrote during the rollback, or still write: paths relative to the project
    kept: tuple[str, ...] = ()
    left: tuple["LeftAlone", ...] = ()  # paths that were not touched
    merged: "MergedBranch | None" = None
    reversal: Reversal = Reversal()
    returns: str | None = None  # the snapshot that an undo of this step restores
    # "all": HEAD, the branch, the index and the phases went along; "": files alone
    parts: str = ""
    retries: str = ""  # the id of the step that the next run does again
    # what the processes of live runs were in the middle of, if that was not waited for: sentences
    at_work: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return StepKind.ROLLBACK.value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RollbackDetail":
        return cls(
            target=text(record.get("target")),
            target_step=_step_named(record.get("target_step")),
            message=text(record.get("message")),
            hard=bool(record.get("hard")),
            restored=text_or_none(record.get("restored")),
            paths=strings(record.get("paths")),
            trash=text_or_none(record.get("trash")),
            trash_before=strings(record.get("trash_before")),
            brought_back=strings(record.get("brought_back")),
            displaced=text(record.get("displaced")),
            kept=strings(record.get("kept")),
            left=left_in(record.get("left")),
            merged=MergedBranch.from_record(record.get("merged")),
            reversal=Reversal.from_record(record),
            returns=text_or_none(record.get("returns")),
            parts=text(record.get("parts")),
            retries=text(record.get("retries")),
            at_work=strings(record.get("at_work")),
        )

    def as_record(self) -> dict[str, Any]:
        goes_back = self.parts == ALL_PARTS and self.merged is None
        goes = {"on": self.target_step or BASE} if goes_back else {}
        return {
            **goes,
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
                displaced=self.displaced,
                kept=list(self.kept),
                left=[each._asdict() for each in self.left],
                parts=self.parts,
                retries=self.retries,
                at_work=list(self.at_work),
            ),
        }


class LeftAlone(NamedTuple):
    """A path that a rollback or an apply did not touch, and the reason as a sentence."""

    path: str
    why: str


class MergedBranch(NamedTuple):
    """A branch, at `commit`, that was merged into the workspace; conflicts are resolved there.

    A sync says `how` HEAD came to have it (merge, fast-forward, rebase), and the snapshot `base`
    that the task's own change is counted from since then.
    """

    branch: str
    commit: str
    conflicts: tuple["ConflictedPath", ...] = ()
    how: str = ""
    base: str = ""

    @classmethod
    def from_record(cls, value: object) -> "MergedBranch | None":
        if not isinstance(value, dict):
            return None
        conflicts = mappings(value.get("conflicts"))
        return cls(
            branch=text(value.get("branch")),
            commit=text(value.get("commit")),
            conflicts=tuple(
                ConflictedPath(text(c.get("name")), text(c.get("kind"))) for c in conflicts
            ),
            how=text(value.get("how")),
            base=text(value.get("base")),
        )

    def as_record(self) -> dict[str, Any]:
        return {
            "branch": self.branch,
            "commit": self.commit,
            "conflicts": [each._asdict() for each in self.conflicts],
            **said(how=self.how, base=self.base),
        }


class ConflictedPath(NamedTuple):
    """A path with a merge conflict, and the kind of the conflict."""

    name: str
    kind: str


def left_in(value: object) -> tuple[LeftAlone, ...]:
    """Return the untouched paths from a field of a ledger line."""
    found = mappings(value)
    return tuple(LeftAlone(text(each.get("path")), text(each.get("why"))) for each in found)


def _step_named(value: object) -> str | None:
    """Return a step's id. Another tool may have written it as a number."""
    number = whole_or_none(value)
    return text_or_none(value) if number is None else step_id(number)


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


class PhaseDetail(NamedTuple):
    """A move of the task through its phases, made outside any step.

    A move that a command of a step makes belongs to that step, and has no line of its own.
    """

    message: str = ""  # the first line of the commit's message
    action: str = ""  # a PhaseMove
    phase: str = ""  # the phase after the move
    phase_step: int = 0  # the step in that phase after the move
    branch: str = ""
    commit_sha: str = ""  # the commit of the move; "" if the branch was not moved

    @property
    def kind(self) -> str:
        return StepKind.PHASE.value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "PhaseDetail":
        return cls(
            message=text(record.get("message")),
            action=text(record.get("action")),
            phase=text(record.get("phase")),
            phase_step=whole(record.get("phase_step")),
            branch=text(record.get("branch")),
            commit_sha=text(record.get("commit_sha")),
        )

    def as_record(self) -> dict[str, Any]:
        return self._asdict()
