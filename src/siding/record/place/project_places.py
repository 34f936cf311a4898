"""Find the project directory that belongs to a repository.

A project is found by the repository's path. The path changes if the repository is moved. So a
project also has an id, stored in the file ``siding/id`` of git's common directory: it moves with
the repository, and `git clone` does not copy it. Path and id together give the project:

    a project for the path; the ids agree, or one of them is missing    this project
    a project for the id; its repository is no longer at its path       moved: it is adopted
    a project for the id; its repository is still at its path           a copy: gets its own project

Old projects have no id. They are recognised by the traces of their tasks in git's directory.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.ground.errors import NotFound, SidingError, UnreadableFile
from siding.ground.files.durable import create_bytes, make_dirs, replace_bytes
from siding.ground.files.regular import read_bytes, read_small
from siding.ground.git.discovery import RepositoryPaths, find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.git.refs import is_sha, read_ref
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.layout import ProjectLayout, project_dir_name
from siding.ground.storage.versions import Migration
from siding.record.place.sandbox_inside import home_is_hidden
from siding.record.place.wiring import App
from siding.record.tasks.store import TaskStore
from siding.record.tasks.task import Task

# 2: runs live beside each other, and the lock of a task is free meanwhile. An earlier version would
# take that for a task in which nothing runs.
PROJECT_VERSION = 2
PROJECT_MIGRATIONS: Mapping[int, Migration] = {1: dict}
HASH_WIDTHS = (4, 8, 16, 64)
_ID = re.compile(rb"[0-9a-f]{32}\n?\Z")


class ProjectPlace(NamedTuple):
    """One project directory. `root` is the last known path of its repository, "" in old homes."""

    layout: ProjectLayout
    document: dict[str, Any]

    @property
    def name(self) -> str:
        return self.layout.root.name

    @property
    def root(self) -> str:
        return str(self.document.get("repo_root") or "")

    @property
    def id(self) -> str | None:
        found = self.document.get("id")
        return found if isinstance(found, str) and found else None

    @property
    def made_at(self) -> str:
        """When the project was made; "" in old homes. It tells projects of two homes apart."""
        return str(self.document.get("created_at") or "")

    @property
    def is_adopted(self) -> bool:
        """Whether the project was adopted and the links of its workspaces are not repaired yet."""
        return bool(self.document.get("moving"))


class Relation(StrEnum):
    """How a project belongs to a repository."""

    HERE = "here"
    MOVED = "moved"
    COPY = "copy"
    NONE = "none"


class Seen(NamedTuple):
    """The result of a search.

    `place` is the project. For a copy it is the project of the original. For `Relation.NONE` it is
    the project of another repository that was at the same path, or None.
    """

    how: Relation
    place: ProjectPlace | None = None


def look(app: App, paths: RepositoryPaths) -> Seen:
    """Find the project of a repository; change nothing."""
    known = repository_id(paths)
    try:
        at_path = _at_path(app, paths, known)
    except PermissionError:
        if home_is_hidden(app):  # Landlock: it is there, and closed
            return Seen(Relation.NONE)
        raise
    if at_path is not None and (known is None or at_path.id == known):
        return Seen(Relation.HERE, at_path)
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


def _at_path(app: App, paths: RepositoryPaths, known: str | None) -> ProjectPlace | None:
    """Return the project of this path, unless its id is that of another repository."""
    for layout in candidates(app, paths.root):
        place = place_of(layout)
        if place is None:
            if not layout.config_yaml.exists():
                return None
            # An old home stores no path, so the hash in the directory's name has to be enough.
            return ProjectPlace(layout, {})
        if place.root != str(paths.root):
            continue
        if place.id == known or (place.id is None and known is not None):
            return place
        if known is None and _knows(place, paths):
            return place
    return None


def _knows(place: ProjectPlace, paths: RepositoryPaths) -> bool:
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
    return repository_id(there) != place.id if repository_id(there) else not _knows(place, there)


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


def candidates(app: App, root: Path) -> Iterator[ProjectLayout]:
    """Yield the possible directories of a project: if a hash collides, a longer one is used."""
    for width in HASH_WIDTHS:
        yield ProjectLayout(app.home.projects_dir / project_dir_name(root, width))


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


def place_of(layout: ProjectLayout) -> ProjectPlace | None:
    """Return a project directory with its document; None if it has no document."""
    document = read_document_or_none(
        layout.project_json,
        what="project",
        version=PROJECT_VERSION,
        migrations=PROJECT_MIGRATIONS,
    )
    return None if document is None else ProjectPlace(layout, document)


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


def is_empty(place: ProjectPlace) -> bool:
    """Tell whether a project contains no task, session, question, trash or archive."""
    root = place.layout.root
    kept = (
        place.layout.tasks_dir,
        root / "sessions",
        place.layout.decisions_dir,
        place.layout.trash_dir,
        root / "archives",
    )
    return not any(path.is_dir() and any(path.iterdir()) for path in kept)


def write_place(place: ProjectPlace, **changed: Any) -> ProjectPlace:
    """Change fields of a project's document durably; None removes a field."""
    document = {**place.document, **changed}
    document = {key: value for key, value in document.items() if value is not None}
    write_document(place.layout.project_json, document)
    return place._replace(document=document)


def repository_id(paths: RepositoryPaths) -> str | None:
    """Return the id in git's common directory; None if there is none or it cannot be read."""
    try:
        raw = read_bytes(id_file(paths), limit=100)
    except (OSError, UnreadableFile):
        return None
    return raw.decode("ascii").strip() if _ID.match(raw) else None


def id_file(paths: RepositoryPaths) -> Path:
    """Return the path of the file with the id of a repository's project."""
    return paths.common_dir / "siding" / "id"


def home_of(app: App) -> str:
    """Return the path of this home, with its links resolved."""
    return os.path.realpath(app.home.root)


def home_lines(paths: RepositoryPaths) -> dict[str, str]:
    """Return the homes of the repository's projects, by when each project was made."""
    raw = read_small(paths.common_dir / "siding" / "home", 64 << 10) or b""
    lines = (os.fsdecode(line).partition(" ") for line in raw.split(b"\n"))
    return {made_at: home for made_at, _, home in lines if home}


def write_home_lines(paths: RepositoryPaths, lines: Mapping[str, str]) -> None:
    """Replace the homes of the repository's projects."""
    path = paths.common_dir / "siding" / "home"
    make_dirs(path.parent)
    text = "".join(f"{made_at} {home}\n" for made_at, home in sorted(lines.items()))
    replace_bytes(path, os.fsencode(text), mode=0o644)


def give_id(app: App, place: ProjectPlace, paths: RepositoryPaths) -> ProjectPlace:
    """Give a project and its repository the same id, if they have none. Safe to repeat.

    The repository's file is made first and exclusively, so two commands at once, or one that is
    killed in between, still agree on one id. If the git directory is read-only, neither gets an id,
    and the project is found by its path only.
    """
    known = repository_id(paths)
    try:
        if known is None:
            known = place.id or app.random_bytes(16).hex()
            known = _create_id(paths, known)
        return place if place.id == known else write_place(place, id=known)
    except OSError:
        return place


def set_id(paths: RepositoryPaths, wanted: str) -> None:
    """Set the repository's id to `wanted`, replacing any other."""
    make_dirs(id_file(paths).parent)
    replace_bytes(id_file(paths), f"{wanted}\n".encode(), mode=0o644)


def _create_id(paths: RepositoryPaths, wanted: str) -> str:
    path = id_file(paths)
    make_dirs(path.parent)
    try:
        create_bytes(path, f"{wanted}\n".encode(), mode=0o644)
    except FileExistsError:
        found = repository_id(paths)
        if found is not None:
            return found
        replace_bytes(path, f"{wanted}\n".encode(), mode=0o644)  # the file contained no valid id
    return wanted
