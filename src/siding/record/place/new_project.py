"""Make the project of a repository, on the first command that needs one; give both one id."""

import os
from collections.abc import Mapping
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.files.durable import create_bytes, make_dirs, replace_bytes
from siding.ground.git.command import Git, Place
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.storage.documents import write_document
from siding.ground.storage.filesystem import unsupported_reason
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.project_of_repository import candidates
from siding.record.place.project_places import (
    PROJECT_VERSION,
    ProjectPlace,
    Relation,
    Seen,
    id_file,
    place_of,
    repository_id,
)
from siding.record.place.settings import DEFAULT_TEXT
from siding.record.place.wiring import App


def create_project(app: App, paths: RepositoryPaths, seen: Seen) -> ProjectLayout:
    """Make the project of a repository that has none, and return where it is.

    `seen` is what was found in the place of one: the project of which the repository is a copy.
    """
    reason = unsupported_reason(app.home.root)
    if reason is not None:
        raise SidingError(
            f"the home {str(app.home.root)!r} is on {reason}, where locks and flushes cannot be "
            "relied on",
            hint="point SIDING_HOME at a directory on a local disk",
        )
    _refuse_unreadable(app, paths)
    layout = _free_layout(app, paths)
    for directory in (layout.tasks_dir, layout.workspaces_dir, layout.locks_dir):
        make_dirs(directory)
    try:
        create_bytes(layout.config_yaml, DEFAULT_TEXT.encode())
    except FileExistsError:
        pass
    if seen.how is Relation.COPY and seen.place is not None:
        set_id(paths, app.random_bytes(16).hex())  # the copy contains the original's id
        app.warn(f"this repository is a copy of {seen.place.root}: it has a project of its own")
    # Written last: a project directory without this file is unfinished, and a later command that
    # gets here finishes it.
    document = {
        "version": PROJECT_VERSION,
        "repo_root": str(paths.root),
        "created_at": app.now(),
    }
    write_document(layout.project_json, document)
    give_id(app, ProjectPlace(layout, document), paths)
    return layout


def _refuse_unreadable(app: App, paths: RepositoryPaths) -> None:
    """Raise CommandFailed, with git's reason, if git cannot read the repository's configuration."""
    place = Place(git_dir=paths.git_dir, common_dir=paths.common_dir)
    Git.find(app.env).run(place, ["config", "--list"], doing="reading the configuration of git")


def _free_layout(app: App, paths: RepositoryPaths) -> ProjectLayout:
    """Return a directory for a new project that no project uses, not even an older one."""
    return next(each for each in candidates(app, paths.root) if place_of(each) is None)


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
