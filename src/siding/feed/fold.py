"""The fold: the records of all projects as one feed.

`feed_of` looks once. A `HomeFold` looks again and again, and reads only what may have changed:
hints say what that is. A hint too many costs a few looks at files; where hints may have been lost,
`touched(())` has everything looked at again.
"""

import threading
from collections.abc import Iterable
from heapq import nlargest
from os import DirEntry, PathLike, fspath, scandir
from pathlib import Path

from siding.feed.model import Ask, Feed, Row
from siding.feed.places import short_names
from siding.feed.project_fold import (
    FORKS,
    HOOKS,
    QUESTIONS,
    TASKS,
    UNWATCHED,
    WORKFLOWS,
    WORKSPACES,
    ProjectFold,
    Wanted,
)
from siding.feed.project_part import Names
from siding.feed.state import longest_waiting, ordered
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.place.projects import FoundProject, known_projects
from siding.record.place.wiring import App

MOST_COUNTED = 50  # differences that a look counts, each with a start of git
_OPENED_BY = ("project.json", "config.yaml")  # what a project is opened with
_BY_FILE = {
    "worktrees.json": (WORKSPACES, UNWATCHED),
    "trust.json": (HOOKS,),
    # Each act has its line here: the tasks whose directories nobody watches are looked at, too.
    "events.jsonl": (UNWATCHED, FORKS),
    "decisions": (QUESTIONS,),
    "workflow-runs": (WORKFLOWS, FORKS),
}


def feed_of(app: App) -> Feed:
    """Return the feed as it is now. Raises HomeHidden in a sandbox.

    Only caches are written.
    """
    return HomeFold(app).look()


class HomeFold:
    """All projects of the home, or only one, or only a task of it.

    `touched` may be called from another thread.
    """

    def __init__(
        self, app: App, only: Project | None = None, only_task: TaskId | None = None
    ) -> None:
        self._app, self._only, self._only_task = app, only, only_task
        self._root = fspath(app.home.projects_dir)
        self._folds: dict[str, ProjectFold] = {}
        self._names: dict[str, str] = {}
        self._problems: tuple[str, ...] = ()
        self._count = 0
        self._lock = threading.Lock()
        self._hints: list[str] = []
        self._is_lost = True  # everything may have changed

    @property
    def projects(self) -> list[ProjectFold]:
        """The projects that can be opened, as they were at the last look, sorted by name."""
        return list(self._folds.values())

    def touched(self, paths: Iterable[str | PathLike[str]]) -> None:
        """Note what may have changed; nothing named: everything may have."""
        hints = [fspath(each) for each in paths]
        with self._lock:
            self._hints += hints
            self._is_lost = self._is_lost or not hints

    def look(self, *, most_counted: int = MOST_COUNTED) -> Feed:
        """Return the feed as it is now. Raises HomeHidden in a sandbox.

        At most so many differences are counted; the other tasks have no figures yet.
        """
        with self._lock:
            hints, self._hints = self._hints, []
            is_lost, self._is_lost = self._is_lost, False
        try:
            if is_lost or any(self._is_of_home(each) for each in hints):
                self._open()
                for fold in self._folds.values():
                    fold.touch_all()
            for hint in hints:
                self._pass_on(hint)
            return self._look(self._app.clock.now().timestamp(), most_counted)
        except BaseException:
            self.touched(())  # what was hinted must not be lost
            raise

    def directories(self) -> set[Path]:
        """Return the directories whose entries matter, as they were at the last look."""
        # A directory without a project in it may be about to become one.
        found = {Path(each.path) for each in _listed(self._root) if each.name not in self._folds}
        found.add(self._app.home.projects_dir)
        for fold in self._folds.values():
            found |= fold.directories()
        return found

    def living(self) -> set[int]:
        """Return the processes whose end no file tells, as they were at the last look."""
        return {pid for fold in self._folds.values() for pid in fold.living()}

    def _look(self, now: float, most_counted: int) -> Feed:
        for fold in self._folds.values():
            fold.read(now)
        self._count_wanted(most_counted)
        rows: list[Row] = []
        asks: list[Ask] = []
        problems, done = list(self._problems), 0
        for name, fold in self._folds.items():
            part = fold.part(Names(name, self._names.get(name, name)), now)
            rows += part.rows
            asks += part.asks
            problems += part.problems
            done += part.done_before
            fold.save()
        return Feed(
            epoch=0,
            seq=0,
            rows=tuple(ordered(rows)),
            asks=tuple(longest_waiting(asks)),
            problems=tuple(problems),
            projects=self._count,
            done_before=done,
        )

    def _count_wanted(self, most: int) -> None:
        """Count what applies would bring, of the tasks that were worked on last."""
        if not most:
            return
        wanted = [(fold, each) for fold in self._folds.values() for each in fold.wanted()]
        for fold, each in nlargest(most, wanted, key=_last_at):
            fold.count(each)

    def _open(self) -> None:
        """Open the projects; of one that is known, what is known of it is kept."""
        only = self._only
        found = list(known_projects(self._app)) if only is None else [FoundProject(only)]
        folds = {}
        for each in found:
            if each.project is not None:
                name = each.project.layout.root.name
                fold = self._folds.get(name)
                folds[name] = ProjectFold(each.project, self._only_task) if fold is None else fold
                folds[name].reopen(each.project)
        self._folds = folds
        self._names = short_names(self._app)
        self._problems = tuple(each.problem for each in found if each.project is None)
        self._count = len(found)

    def _is_of_home(self, hint: str) -> bool:
        """Tell whether a hint is about the list of projects, or what one is opened with."""
        parts = self._parts(hint)
        return parts is not None and (
            len(parts) < 2 or (len(parts) == 2 and parts[1] in _OPENED_BY)
        )

    def _parts(self, hint: str) -> list[str] | None:
        """Return the names below the directory of projects; None for a path that is elsewhere."""
        if hint == self._root:
            return []
        if not hint.startswith(f"{self._root}/"):
            return None
        return hint[len(self._root) + 1 :].rstrip("/").split("/")

    def _pass_on(self, hint: str) -> None:
        """Tell the project what a hint is about; a hint that is about nothing here is ignored."""
        parts = self._parts(hint)
        if parts is None:
            for each in self._folds.values():
                if each.reads_hooks_of(hint):
                    each.touch(HOOKS)
            return
        fold = self._folds.get(parts[0]) if len(parts) > 1 else None
        if fold is None:
            return
        match parts[1:]:
            case ["tasks", task, *_]:
                fold.touch_task(TaskId(task))
            case ["forks", *_]:
                fold.touch(FORKS)
            case ["tasks"]:
                fold.touch(TASKS)
            case [name, *_]:
                fold.touch(*_BY_FILE.get(name, ()))


def _listed(directory: str) -> list[DirEntry[str]]:
    """Return the directories in a directory; none if there is no such one."""
    try:
        with scandir(directory) as found:
            return [each for each in found if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _last_at(found: tuple[ProjectFold, Wanted]) -> tuple[str, str]:
    return (found[1].last_at, found[1].task)
