"""Give a project and its repository one id, and write down where both are."""

import os
from collections.abc import Mapping
from typing import Any

from siding.ground.files.durable import create_bytes, make_dirs, replace_bytes
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.storage.documents import write_document
from siding.record.place.project_places import ProjectPlace, id_file, repository_id
from siding.record.place.wiring import App


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
