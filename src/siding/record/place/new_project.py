"""Make the project of a repository, on the first command that needs one."""

from siding.ground.errors import SidingError
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.git.command import Git, Place
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.storage.documents import write_document
from siding.ground.storage.filesystem import unsupported_reason
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.project_ids import give_id, set_id
from siding.record.place.project_of_repository import candidates
from siding.record.place.project_places import (
    PROJECT_VERSION,
    ProjectPlace,
    Relation,
    Seen,
    place_of,
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
