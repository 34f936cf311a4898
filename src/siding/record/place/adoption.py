"""Adopt a project: assign it to another repository path, after a move or on a person's request."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from siding.ground.errors import SidingError, UsageError
from siding.ground.files.durable import make_dirs, move_aside
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.storage.documents import migrate_document
from siding.ground.storage.layout import ProjectLayout
from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.lost_projects import all_places, is_gone
from siding.record.place.new_project import give_id, is_empty, set_id, write_place
from siding.record.place.project_of_repository import candidates, look
from siding.record.place.project_places import (
    PROJECT_MIGRATIONS,
    PROJECT_VERSION,
    ProjectPlace,
    Relation,
    Seen,
    place_of,
    repository_id,
)
from siding.record.place.wiring import App
from siding.record.runs.store import is_at_work
from siding.record.tasks.store import TaskStore

WAIT_S = 60.0


@contextmanager
def holding_projects(app: App, what: str) -> Iterator[None]:
    """Hold the home's lock for changes of the repository or the directory name of projects."""
    make_dirs(app.home.root / "locks")
    lock = FileLock(app.home.root / "locks" / "projects")
    lock.acquire(timeout_s=WAIT_S, holder=Holder(pid=app.pid, since=app.now(), what=what))
    try:
        yield
    finally:
        lock.release()


def raise_version(app: App, layout: ProjectLayout) -> None:
    """Write the present version into the document of a project, so that older ones refuse it."""
    if not layout.project_json.exists():
        return  # the project of another tool
    with holding_projects(app, "raising the version of a project"):
        migrate_document(
            layout.project_json,
            what="project",
            version=PROJECT_VERSION,
            migrations=PROJECT_MIGRATIONS,
        )


def adopt(app: App, place: ProjectPlace, paths: RepositoryPaths) -> ProjectPlace:
    """Assign a project to the repository `paths`, and return its new place.

    The caller holds the lock of `holding_projects`. Safe to repeat after a crash at any point. The
    field `moving` stays in the document until the links of the workspaces are repaired
    (`links_mended`).
    """
    place = write_place(place, repo_root=str(paths.root), moved_at=app.now(), moving=True)
    known = repository_id(paths)
    if place.id is not None and known != place.id:
        set_id(paths, place.id)
    place = _renamed(app, give_id(app, place, paths), paths)
    tasks = TaskStore(place.layout)
    for task in list(tasks.readable()):
        if task.repo_root != str(paths.root):
            tasks.save(task._replace(repo_root=str(paths.root)))
    return place


def adopt_moved(app: App, paths: RepositoryPaths, seen: Seen) -> Seen:
    """Adopt a moved project, unless a command works in it or the home is read-only."""
    try:
        with holding_projects(app, "adopting a moved repository"):
            seen = look(app, paths)  # under the lock: another command may have adopted it already
            if seen.how is not Relation.MOVED or seen.place is None or is_in_use(seen.place):
                return seen
            old_root = seen.place.root
            seen = Seen(Relation.HERE, adopt(app, seen.place, paths))
    except OSError:
        return seen
    if old_root != str(paths.root):
        app.warn(f"this repository was at {old_root} before; its project came along")
    return seen


def _renamed(app: App, place: ProjectPlace, paths: RepositoryPaths) -> ProjectPlace:
    """Rename the project directory to the name for the new path, under which it will be found."""
    for layout in candidates(app, paths.root):
        if layout.root == place.layout.root:
            return place
        if not os.path.lexists(layout.root):
            move_aside(place.layout.root, layout.root)
            return place._replace(layout=layout)
    return place


def is_in_use(place: ProjectPlace) -> bool:
    """Tell whether a command works in a task of the project; then its paths must not change."""
    tasks = TaskStore(place.layout).ids()
    return any(is_at_work(place.layout.task(each)) for each in tasks)


def links_mended(place: ProjectPlace) -> None:
    """Record that the workspaces of an adopted project are linked to the repository again."""
    current = place_of(place.layout)
    if current is not None and current.is_adopted:
        write_place(current, moving=None)


def adopt_named(
    app: App, name: str, here: ProjectPlace | None, paths: RepositoryPaths
) -> ProjectPlace:
    """Assign the project with this name to this repository, as a person requested.

    The project `here` that the repository has now is put aside: an empty one is moved to the trash
    of the other; any other stays under its name and can be adopted again. The caller holds the lock
    of `holding_projects`. Raises UsageError and SidingError if this is not possible.
    """
    wanted = next((each for each in all_places(app) if each.name == name), None)
    if wanted is None:
        raise UsageError(
            f"there is no project {name!r} in {str(app.home.projects_dir)!r}",
            hint="the name is that of its directory there",
        )
    if here is not None and here.layout == wanted.layout:
        raise UsageError(f"{name!r} is the project of this repository already")
    if wanted.root != str(paths.root) and not is_gone(wanted):
        raise UsageError(
            f"{name!r} is the project of {wanted.root!r}, which is still there",
            hint="a project can be adopted only after its old repository is gone",
        )
    for place in (wanted, *([here] if here is not None else [])):
        if is_in_use(place):
            raise SidingError(
                f"a command works in a task of {place.name!r}", hint="try again when it is done"
            )
    if here is not None:
        put_aside(app, here, wanted, paths)
    if wanted.id is None:
        wanted = write_place(wanted, id=app.random_bytes(16).hex())
    return adopt(app, wanted, paths)


def put_aside(
    app: App, here: ProjectPlace, for_the_sake_of: ProjectPlace, paths: RepositoryPaths
) -> None:
    """Detach the project `here` from the repository; nothing is deleted."""
    if is_empty(here):
        trash = for_the_sake_of.layout.trash_dir
        make_dirs(trash)
        move_aside(here.layout.root, trash / f"project-{app.random_bytes(6).hex()}")
        return
    if here.id is None and give_id(app, here, paths).id is None:
        raise SidingError(
            f"{str(paths.common_dir)!r} cannot be written to, so two projects of this path could "
            "not be told apart",
            hint="make it writable, then try again",
        )
