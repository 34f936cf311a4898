"""The detail of a rollback step: another state was restored, or a branch was merged."""

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
    whole_or_none,
)
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
