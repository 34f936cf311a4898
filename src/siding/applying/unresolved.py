"""What is left to resolve of a merge that was brought into a workspace. Reading takes no lock."""

from pathlib import Path

from siding.applying.history import MARKERS, newest_merge
from siding.ground.errors import SidingError
from siding.ground.files.regular import read_below
from siding.ground.git.paths import unquote_path
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.task_workspace import workspace_of

_READ = 16 << 20  # bytes of a file that are looked at


class Unresolved(NamedTuple):
    """A path that was in conflict. `is_left`: markers of git's are still in it."""

    name: str  # quoted
    kind: str
    is_left: bool


class Merging(NamedTuple):
    """A branch that was merged into a workspace with conflicts.

    `step` is the id of the step that did it. `syncs`: it was a sync, and git has a merge to end.
    """

    branch: str
    step: str
    syncs: bool
    paths: tuple[Unresolved, ...]

    @property
    def left(self) -> int:
        """How many paths still have markers."""
        return sum(each.is_left for each in self.paths)


def merging(project: Project, task_id: TaskId) -> Merging | None:
    """Return the merge that is being resolved in a task's workspace; None if there is none.

    A path without text, such as one that one side deleted, never has markers: somebody has to look
    at it all the same.
    """
    step = newest_merge(project, task_id, None)
    merged = None if step is None else step.merged
    workspace = workspace_of(project, project.tasks.load(task_id))
    if step is None or merged is None or not merged.conflicts or workspace is None:
        return None
    root = Path(workspace.path)
    paths = tuple(
        Unresolved(each.name, each.kind, is_left=_is_left(root, each.name))
        for each in merged.conflicts
    )
    return Merging(merged.branch, step.id, step.syncs, paths)


def _is_left(root: Path, name: str) -> bool:
    try:
        path = Path(unquote_path(name).decode("utf-8", "surrogateescape"))
        return MARKERS.search(read_below(root, path, _READ)[0]) is not None
    except (OSError, SidingError, ValueError):
        return False  # it is gone, or nothing that could have markers
