"""Where a task begins if not at its base (``siding task start --from``)."""

from collections.abc import Callable, Mapping
from typing import Any

from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.place.locks import Hold
from siding.record.place.project import Project
from siding.record.tasks.task import Task

FROM = "from"  # the field of the start card, and the origin of the first step


class StartPoint(NamedTuple):
    """Where a workspace starts. `step` and `task` (an id) are set if it is another task."""

    kind: str  # branch, commit, pull request, task
    name: str  # the branch, the revision, the number of the pull request, the name of the task
    commit: Sha  # what HEAD of the new workspace is at
    task: str = ""
    step: str = ""  # 0003, base

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "StartPoint":
        """Return what `record` wrote; fields of other releases are passed over."""
        return cls(
            kind=str(record.get("kind") or ""),
            name=str(record.get("name") or ""),
            commit=Sha(str(record.get("commit") or "")),
            task=str(record.get("task") or ""),
            step=str(record.get("step") or ""),
        )

    def record(self) -> dict[str, Any]:
        """Return the point as the start card has it; fields that say nothing are left out."""
        return {name: value for name, value in self._asdict().items() if value}

    @property
    def title(self) -> str:
        """The point as words of a sentence: `branch origin/fix`, `task parser, step 0003`."""
        if self.task:
            return f"task {self.name}, {'the base' if self.step == 'base' else f'step {self.step}'}"
        return f"{self.kind} {'#' if self.kind == 'pull request' else ''}{self.name}"


class Beginning(NamedTuple):
    """A start point, and the base that the task is compared with.

    `fill` brings the state of another task into the new workspace, as a step. Without it git checks
    the commit out. `notes` are sentences about what was not taken along. `source` is the task that
    it starts from, if it does.
    """

    point: StartPoint
    base_ref: str
    base: Sha
    fill: Callable[[Project, Task, Hold], Step] | None = None
    notes: tuple[str, ...] = ()
    source: Task | None = None
