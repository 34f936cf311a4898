"""What a person can mention in a prompt: files of the workspace, and the agent's own commands."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from siding.chat.fuzzy import fitting
from siding.chat.settings import own_of
from siding.chat.store import Chat
from siding.ground.git.command import Place
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.tasks.task import Task
from siding.record.worktrees.listing import git_dir_of

_LISTING = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")

_LISTED_FOR_S = 5.0
_MOST_GONE = 100  # that git still lists and that were deleted: they are looked up last


class Mention(NamedTuple):
    """One thing that can be mentioned. `value` is what stands in the prompt."""

    value: str
    kind: str  # file, directory, command
    about: str = ""


class Workspace:
    """The files of a task's workspace, for who types: they are listed anew after some seconds."""

    def __init__(self, project: Project, task: Task) -> None:
        self._project, self._task = project, task
        self._root = Path()
        self._names: Sequence[str] = ()
        self._listed_at = -_LISTED_FOR_S

    def like(self, typed: str, limit: int) -> list[Mention]:
        """Return files and directories that fit, best first.

        Tracked files and those that git would track. Names that no prompt can have are left out.
        """
        if time.monotonic() - self._listed_at >= _LISTED_FOR_S:
            self._list()
        found: list[Mention] = []
        for each in fitting(self._names, typed, limit + _MOST_GONE):
            if len(found) < limit and os.path.lexists(self._root / each):
                kind = "directory" if each.endswith("/") else "file"
                found.append(Mention(f"@{each}", kind))
        return found

    def _list(self) -> None:
        workspace = require_workspace(self._project, self._task)
        self._root = Path(workspace.path)
        git_dir = Path(workspace.git_dir) if workspace.git_dir else git_dir_of(self._root)
        self._names = _names(self._project, self._root, git_dir) if git_dir is not None else ()
        self._listed_at = time.monotonic()


def files_like(project: Project, task: Task, typed: str, limit: int) -> list[Mention]:
    """Return files and directories of a task's workspace that fit, best first."""
    return Workspace(project, task).like(typed, limit)


def commands_like(chat: Chat, typed: str, limit: int) -> list[Mention]:
    """Return the agent's own commands that fit, best first."""
    about = {name.removeprefix("/"): said for name, said in own_of(chat).commands}
    return [Mention(f"/{name}", "command", about[name]) for name in fitting([*about], typed, limit)]


def _names(project: Project, root: Path, git_dir: Path) -> Sequence[str]:
    repository = project.repository
    place = Place(
        git_dir=git_dir,
        common_dir=repository.paths.common_dir,
        work_tree=root,
        settings=project.user_settings.settings,
    )
    data = repository.git.run(place, _LISTING, doing="listing files")
    paths = dict.fromkeys(
        each for each in data.decode("utf-8", "replace").split("\0") if each and _can_be_said(each)
    )
    directories: dict[str, None] = {}
    for each in paths:
        end = each.rfind("/")
        while end > 0 and each[: end + 1] not in directories:
            directories[each[: end + 1]] = None
            end = each.rfind("/", 0, end)
    return [*paths, *directories]


def _can_be_said(name: str) -> bool:
    return name.isprintable() and "\ufffd" not in name
