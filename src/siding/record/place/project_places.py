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
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.ground.errors import UnreadableFile
from siding.ground.files.regular import read_bytes, read_small
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import Migration, read_document_or_none
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.wiring import App

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


def place_of(layout: ProjectLayout) -> ProjectPlace | None:
    """Return a project directory with its document; None if it has no document."""
    document = read_document_or_none(
        layout.project_json,
        what="project",
        version=PROJECT_VERSION,
        migrations=PROJECT_MIGRATIONS,
    )
    return None if document is None else ProjectPlace(layout, document)


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
