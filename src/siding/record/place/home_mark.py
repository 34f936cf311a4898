"""Notice that two homes have one project: locks of one do not exclude commands in the other.

A repository says where its project's home is, in ``siding/home`` of git's common directory, a line
for each project of it: when the project was made, and the path of the home. Two homes that were
made apart have a line each. A copied home has the same project, and finds the other home's path:

    the other home is gone, or has no such project    moved: the workspaces are linked to this home
    the other home has the project                    a copy: it can be read, and not worked in

Projects of earlier versions have no line until the first act. There the paths of the workspaces
say which home they are in.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import Home
from siding.record.place.lost_projects import all_places
from siding.record.place.new_project import write_home_lines
from siding.record.place.project_places import ProjectPlace, home_lines, home_of
from siding.record.place.wiring import App
from siding.record.tasks.registry_file import Registry
from siding.record.tasks.task import WorkspaceState


class MarkedProject(NamedTuple):
    """A project, as much of it as its home is known by."""

    app: App
    place: ProjectPlace
    paths: RepositoryPaths
    registry: Registry


class HomeCopied(SidingError):
    """Another home has the same project, with the workspaces of its tasks."""

    code = "home_copied"

    def __init__(self, home: Path, other: Path) -> None:
        self.other = other
        super().__init__(
            f"{str(home)!r} is a copy of the home {str(other)!r}, which has this project, too: "
            "what they both change would be lost",
            hint=f"work with SIDING_HOME={other}. To go on with this one, move that one away: "
            "the next command links the workspaces to this home",
        )


def settle_home(project: MarkedProject, link_anew: Callable[[], list[str]]) -> Path | None:
    """Return the other home of which this one is a copy; None if there is none.

    If this home was moved here, `link_anew` links its workspaces; it says what it has done.
    """
    named = home_lines(project.paths).get(project.place.made_at)
    other = Path(named) if named is not None else _home_of_workspaces(project)
    if other is None or str(other) == home_of(project.app):
        return None
    if _has_project(project, other):
        return other
    _link(project, other, link_anew)
    if named is not None:
        with suppress(OSError):
            mark_home(project)
    return None


def mark_home(project: MarkedProject) -> None:
    """Write down that the project is in this home. Raises OSError."""
    here, made_at = home_of(project.app), project.place.made_at
    lines = home_lines(project.paths)
    if "\n" not in here and lines.get(made_at) != here:
        write_home_lines(project.paths, {**lines, made_at: here})


def _has_project(project: MarkedProject, other: Path) -> bool:
    """Tell whether another directory is a home with the same project.

    One that may not be read counts as one that has it.
    """
    projects = Home(other).projects_dir
    try:
        if not projects.is_dir() or os.path.samefile(projects, project.app.home.projects_dir):
            return False  # gone, or this home under another name
        os.listdir(projects)
    except PermissionError:
        return True
    except OSError:
        return False
    place, there = project.place, project.app._replace(home=Home(other))
    return any((each.made_at, each.id) == (place.made_at, place.id) for each in all_places(there))


def _home_of_workspaces(project: MarkedProject) -> Path | None:
    """Return the home that the registry has a workspace in, if it is not this one."""
    tail = Path("projects", project.place.name, "workspaces")
    for workspace in project.registry.all():
        if workspace.adopted or workspace.status not in (
            WorkspaceState.ACTIVE,
            WorkspaceState.KEPT,
        ):
            continue
        parent = Path(workspace.path).parent
        if parent.parts[-3:] == tail.parts:
            return Path(os.path.realpath(parent.parents[2]))
    return None


def _link(project: MarkedProject, other: Path, link_anew: Callable[[], list[str]]) -> None:
    try:
        notes = link_anew()
    except (SidingError, OSError) as error:
        reason = error.message if isinstance(error, SidingError) else str(error)
        project.app.warn(
            f"its workspaces could not be linked to the moved home: {reason}; see `siding doctor`"
        )
        return
    if notes:
        project.app.warn(f"this home was at {other} before; its workspaces came along")
