"""A task's ledger as it could be, line by line, and what an apply reads a task from."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from integration.undo.desk import Desk
from siding.applying.content import Sources, bench_for
from siding.ground.ids import Sha
from siding.record.ledger.move_details import ApplyDetail, MergedBranch, RollbackDetail
from siding.record.ledger.step import Step
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.last_state import LastState
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.git_details import GitDetails


class Told:
    """A desk whose ledger is written by hand; `first` and `later` are states of the workspace."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.ledger = desk.project.ledger(desk.task.id)
        self.main = self.commit_of("main")
        workspace = require_workspace(desk.project, desk.task)
        self.base = Sha(workspace.base_snapshot)

    def commit_of(self, revision: str) -> Sha:
        return Sha(self.desk.sandbox.git("rev-parse", revision))

    def line(self, detail: Any, **fields: object) -> Step:
        return self.ledger.append(
            {"kind": detail.kind, "status": "completed", **detail.as_record(), **fields}
        )

    def run(self, **fields: object) -> Step:
        return self.ledger.append({"kind": "run", "status": "completed", "cmd": ["x"], **fields})

    def apply(self, to: str | None = None, *, status: str = "completed", **more: Any) -> Step:
        detail = ApplyDetail(
            commit_sha=self.main if to is None else to, target_branch="main", whole=True
        )
        snapshot = more.pop("snapshot", self.base)
        return self.line(detail._replace(**more), status=status, snapshot=snapshot)

    def merge(self, commit: str | None = None, branch: str = "main", **fields: Any) -> Step:
        merged = MergedBranch(
            branch=branch,
            commit=self.main if commit is None else commit,
            conflicts=fields.pop("conflicts", ()),
            base=fields.pop("base", ""),
        )
        return self.line(RollbackDetail(target="merge", merged=merged), **fields)

    def back(self, step: int | None) -> Step:
        named = None if step is None else f"{step:04d}"
        return self.line(RollbackDetail(target="step", target_step=named))

    @contextmanager
    def sources(self, last: LastState | None = None) -> Iterator[Sources]:
        project, task = self.desk.project, self.desk.task
        workspace = require_workspace(project, task)
        with bench_for(project, project.snapshots, self.desk.sandbox.directory / "bench") as bench:
            yield Sources(project, task, workspace, bench, Coverage(), last)


def last_at(head: Sha | None, details: GitDetails | None = None) -> LastState:
    """A recorded state of a workspace in which a run lives."""
    return LastState("step 0001", Sha(""), Coverage(), head, details or GitDetails(), ("r1 `x`",))
