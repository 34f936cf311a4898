"""Find the project of a repository that was moved, copied or lost its id; projects by name.

All projects of the home are looked at. Where a project is at its path, none of this is loaded.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.ground.errors import NotFound, SidingError
from siding.ground.git.discovery import RepositoryPaths, find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.git.refs import is_sha, read_ref
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.project_places import ProjectPlace, Relation, Seen, place_of, repository_id
from siding.record.place.wiring import App
from siding.record.tasks.store import TaskStore
from siding.record.tasks.task import Task


def search(
    app: App, paths: RepositoryPaths, known: str | None, at_path: ProjectPlace | None
) -> Seen:
    """Find the project of a repository whose id is not that of the project at its path."""
    places = list(all_places(app))
    for place in places:
        if known is not None and place.id == known:
            return Seen(_how(place, paths, known), place)
    if at_path is not None:
        return Seen(Relation.HERE, at_path)
    orphan = best_orphan(places, paths, known)
    if orphan is not None:
        return Seen(Relation.MOVED, orphan)
    return Seen(
        Relation.NONE, next((each for each in places if each.root == str(paths.root)), None)
    )


def is_of(place: ProjectPlace, paths: RepositoryPaths) -> bool:
    """Tell whether a repository without an id, at the path of a project, belongs to the project.

    A new clone of the repository has the commits that the tasks are based on. A project without
    tasks cannot be recognised: then it belongs, unless the project has an id and the repository has
    lost it.
    """
    ids = TaskStore(place.layout).ids()
    if not ids:
        return place.id is None
    if any((paths.common_dir / "worktrees" / each).is_dir() for each in ids):
        return True
    tasks = _tasks(place)
    started = [each for each in tasks if each.branch]
    if not started and place.id is None:
        return True
    return _evidence(tasks, paths) > 0 or any(_has_commit(paths, each) for each in tasks)


def _how(place: ProjectPlace, paths: RepositoryPaths, known: str) -> Relation:
    if place.root == str(paths.root):
        return Relation.MOVED  # an adoption was cut off before the directory was renamed
    try:
        there = find_repository(Path(place.root))
    except (NotARepository, OSError, ValueError):
        return Relation.MOVED
    if there.root != Path(place.root):
        return Relation.MOVED  # only a parent directory is a repository
    if there.common_dir == paths.common_dir:
        return Relation.HERE  # the same repository is visible at two paths, as with a bind mount
    return Relation.COPY if repository_id(there) == known else Relation.MOVED


def orphans(places: list[ProjectPlace], known: str | None) -> Iterator[ProjectPlace]:
    """Yield the projects whose repository is no longer at its path."""
    for place in places:
        if place.root and (place.id is None or place.id != known) and is_gone(place):
            yield place


def is_gone(place: ProjectPlace) -> bool:
    """Tell whether the project's repository is no longer at its path, or another one is there."""
    try:
        there = find_repository(Path(place.root))
    except (NotARepository, OSError, ValueError):
        return True
    if there.root != Path(place.root):
        return True
    return repository_id(there) != place.id if repository_id(there) else not is_of(place, there)


def best_orphan(
    places: list[ProjectPlace], paths: RepositoryPaths, known: str | None
) -> ProjectPlace | None:
    """Return the project without a repository whose tasks have the most traces in this one.

    Returns None if there are no traces, or if several projects have the same evidence.
    """
    ranked = [(_evidence(_tasks(each), paths), each) for each in orphans(places, known)]
    best = max((rank for rank, _place in ranked), default=0)
    found = [place for rank, place in ranked if rank == best]
    return found[0] if best and len(found) == 1 else None


def _evidence(tasks: list[Task], paths: RepositoryPaths) -> int:
    """Return how strong the traces of these tasks in a repository are: 2, 1, or 0 for none.

    2: git has a linked worktree with a task's name. 1: git has the pin of a base commit or a task's
    branch, which `git clone` does not copy. A commit proves nothing, because every clone has it.
    """
    common = paths.common_dir
    if any((common / "worktrees" / each.id).is_dir() for each in tasks):
        return 2
    for task in tasks:
        named = [f"refs/siding/base/{task.base_commit}"] if is_sha(task.base_commit) else []
        named += [f"refs/heads/{task.branch}"] if task.branch else []
        with suppress(OSError, ValueError):  # the names in a damaged document can be invalid
            if any(read_ref(common, name) for name in named):
                return 1
    return 0


def _has_commit(paths: RepositoryPaths, task: Task) -> bool:
    from siding.ground.git.command import Git
    from siding.ground.git.command import Place as GitPlace

    if not is_sha(task.base_commit):
        return False
    git = Git.find(os.environ)
    asked = ["cat-file", "-e", task.base_commit + "^{commit}"]
    return git.attempt(GitPlace(git_dir=paths.common_dir), asked).returncode == 0


def _tasks(place: ProjectPlace) -> list[Task]:
    return list(TaskStore(place.layout).readable())


def all_places(app: App) -> Iterator[ProjectPlace]:
    """Yield the projects of the home that have a document, sorted by name."""
    try:
        names = sorted(os.listdir(app.home.projects_dir))
    except OSError:  # no project yet, or a sandbox hides the home
        return
    for name in names:
        with suppress(SidingError, OSError):
            place = place_of(ProjectLayout(app.home.projects_dir / name))
            if place is not None:
                yield place


def named_place(app: App, name: str) -> ProjectPlace:
    """Return the project with this name, with or without its hash, or at this path.

    Raises NotFound if there is none, or more than one.
    """
    places = list(all_places(app))
    exact = [place for place in places if name in (place.name, place.root)]
    found = exact or [place for place in places if place.name.rpartition("-")[0] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(
            f"{name!r} may be {' or '.join(place.name for place in found)}",
            hint="name one of them; `siding projects` lists them with their repositories",
        )
    raise NotFound(f"there is no project {name!r}", hint="`siding projects` lists them")
