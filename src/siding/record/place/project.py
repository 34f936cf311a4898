"""Find the project of the working directory, and make it on first use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.errors import NotInitialised, SidingError, UsageError
from siding.ground.git.discovery import RepositoryPaths, find_repository, is_linked
from siding.ground.git.errors import GitError, NotARepository
from siding.ground.ids import TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.layout import ProjectLayout, TaskLayout
from siding.record.place.project_of_repository import look
from siding.record.place.project_places import (
    ProjectPlace,
    Relation,
    Seen,
    home_lines,
    home_of,
    place_of,
    repository_id,
)
from siding.record.place.settings import Settings
from siding.record.place.settings_files import read_settings, redaction_in
from siding.record.place.wiring import App, hide_from_git, home_hidden, home_is_hidden
from siding.record.tasks.store import TaskStore

if TYPE_CHECKING:
    from siding.ground.git.command import Git
    from siding.ground.git.repository import Repository
    from siding.ground.git.settings import UserSettings
    from siding.record.ledger.store import Ledger
    from siding.record.place.event_log import EventLog
    from siding.record.place.lost_workspaces import LostWorkspaces
    from siding.record.place.redaction import Redaction
    from siding.record.snapshots.store import SnapshotStore
    from siding.record.tasks.registry import Workspaces
    from siding.record.tasks.registry_file import Registry

# Stores are made on first use, and their modules imported then: most commands need few of them.

STATE_VERSION = 1
TRUST_VERSION, DRIVERS = 1, "drivers"  # of `trust.json`, and a section of it
WAIT_FOR_PROJECT_S = 60.0  # seconds; a change of the registry takes milliseconds


class Checkout(NamedTuple):
    """A worktree of the person, not a task's workspace, and its git directory."""

    root: Path
    git_dir: Path


class RepositoryGone(SidingError):
    """The project's repository is not where it was, and nothing can be done without it."""

    code = "repository_gone"


class Project:
    """A repository that Siding knows, with the stores in its project directory."""

    def __init__(self, app: App, layout: ProjectLayout, paths: RepositoryPaths) -> None:
        self.app = app
        self.layout = layout
        self.paths = paths
        self._is_own_home = False
        self.tasks = TaskStore(layout)

    @cached_property
    def workspaces(self) -> "Workspaces":
        """The entries of the registry, one by one."""
        from siding.record.tasks.registry import Workspaces

        return Workspaces(self.layout.worktrees_json, elsewhere=self._lost_workspaces)

    @cached_property
    def registry(self) -> "Registry":
        """The registry of workspaces as a whole, and its changes."""
        from siding.record.tasks.registry_file import Registry

        path = self.layout.worktrees_json
        return Registry(path, elsewhere=self._lost_workspaces, say=self.app.warn)

    def _lost_workspaces(self) -> "LostWorkspaces":
        """Return what finds the entries that the registry lacks."""
        from siding.record.place.lost_workspaces import LostWorkspaces

        return LostWorkspaces(
            self.layout,
            self.app.home.root,
            self.tasks,
            repository=lambda: self.repository,
            snapshots=lambda: self.snapshots,
        )

    @cached_property
    def events(self) -> "EventLog":
        """The journal of what happens in the project."""
        from siding.record.place.event_log import EventLog

        def redacted(record: Any) -> Any:
            return self.redaction.record(record)  # `redaction` reads the settings on first use

        return EventLog(self.layout, self.app.clock, self.app.listeners, redact=redacted)

    @property
    def has_repository(self) -> bool:
        """Whether the repository is there; `named_project` gives a project without one, too."""
        return self.paths.common_dir.is_dir()

    def require_repository(self) -> None:
        """Raise RepositoryGone if there is no repository: only what is recorded can be read."""
        if not self.has_repository:
            raise RepositoryGone(
                f"the repository of project {self.layout.root.name} is gone",
                hint="`siding log`, `show` and `diff N` show what is recorded. If it was moved, "
                "any siding command in it, where it is now, takes the project along",
            )

    @cached_property
    def settings(self) -> Settings:
        """The settings of this project; raises UsageError for a mistake in a file."""
        found = read_settings(self.layout.config_yaml, self.app.home.config_path)
        for file, names in found.unknown.items():
            self.app.warn(f"settings that Siding does not know, in {file!r}: {names}")
        return found

    @cached_property
    def redaction(self) -> "Redaction":
        """The redaction that keeps secrets out of records."""
        from siding.record.place.redaction import Redaction

        settings = self.settings.redaction.over(redaction_in(self.app.home.config_path))
        return Redaction(
            self.app.env,
            enabled=settings.enabled is not False,
            extra=settings.extra,
            allow=settings.allow,
        )

    @cached_property
    def git(self) -> "Git":
        """The git program."""
        from siding.ground.git.command import Git

        return Git.find(self.app.env)

    @cached_property
    def repository(self) -> "Repository":
        """The user's repository."""
        from siding.ground.git.repository import Repository

        return Repository(self.git, self.paths, read_settings=self._read_user_settings)

    @cached_property
    def user_settings(self) -> "UserSettings":
        """The parts of the person's git configuration that Siding honours."""
        return self._read_user_settings()

    def _read_user_settings(self) -> "UserSettings":
        from siding.ground.git.settings import load_settings

        document = read_document_or_none(
            self.layout.root / "trust.json", what="what is trusted", version=TRUST_VERSION
        )
        trusted = (document or {}).get(DRIVERS)
        checkout = self.checkout
        # What git reads in a workspace may be an agent's: the person's own checkout counts.
        git_dir = self.paths.common_dir if checkout is None else checkout.git_dir
        return load_settings(
            self.git,
            self.paths._replace(git_dir=git_dir),
            trusted=frozenset(trusted if isinstance(trusted, dict) else ()),
            checkout=None if checkout is None else checkout.root,
        )

    @cached_property
    def snapshots(self) -> "SnapshotStore":
        """The project's snapshot store."""
        from siding.record.snapshots.store import SnapshotStore

        return SnapshotStore(self.git, self.layout.snapshots_git, self.paths)

    @cached_property
    def checkout(self) -> Checkout | None:
        """The person's checkout: the one around the working directory, else the main one.

        A workspace does not count. None if the repository is bare.
        """
        here = self.paths.worktree
        if here is not None and self.task_around(here, linked=self.paths.linked) is None:
            return Checkout(root=here, git_dir=self.paths.git_dir)
        if self.paths.main_worktree is None:
            return None
        return Checkout(root=self.paths.main_worktree, git_dir=self.paths.common_dir)

    def task_around(self, place: Path, *, linked: bool = True) -> TaskId | None:
        """Return the task whose workspace is this directory or holds it; None if none does.

        `linked` False says that the directory is in no linked worktree of git's. Then the registry,
        which takes milliseconds to parse, is only read for a directory below the home.
        """
        workspaces = Path(os.path.realpath(self.layout.workspaces_dir))
        here = Path(os.path.realpath(place))
        if here.is_relative_to(workspaces) and here != workspaces:
            name = here.relative_to(workspaces).parts[0]
            # The registry has the paths as the layout writes them, with the links in them.
            found = self.workspaces.around(str(self.layout.workspaces_dir / name))
            return TaskId(name) if found is None else found.task_id
        pool = Path(os.path.realpath(self.layout.forks.workspaces_dir))
        if here.is_relative_to(pool) and here != pool:
            from siding.record.tasks.slots import SlotBooks

            used = SlotBooks(self.layout.forks).is_used(here.relative_to(pool).parts[0])
            return TaskId(used.owner) if used is not None and is_fork(used.owner) else None
        found = self.workspaces.around(str(here)) if linked else None
        return None if found is None else found.task_id

    def branch_for(self, name: str, task_id: str) -> str:
        """Return the name of a new branch of a task; UsageError if the setting allows for none."""
        from siding.ground.git.refs import check_ref_part
        from siding.record.tasks.names import branch_name

        wanted = branch_name(self.settings.branch_prefix, name, task_id)
        try:
            return self.repository.free_branch_name(check_ref_part(wanted))
        except GitError as error:
            raise UsageError(
                f"{error.message}: it begins with the setting git.branch_prefix, "
                f"{self.settings.branch_prefix!r}",
                hint=f"change it in {str(self.layout.config_yaml)!r}, to `siding/` or the like",
            ) from None

    def ids_at_work(self) -> list[TaskId]:
        """Return the ids of the tasks of the board, and of the forks that have a workspace."""
        if not self.layout.forks.used_dir.is_dir():
            return self.tasks.ids()
        from siding.record.tasks.slots import SlotBooks

        owners = (slot.owner for slot in SlotBooks(self.layout.forks).used())
        return [*self.tasks.ids(), *(TaskId(owner) for owner in owners if is_fork(owner))]

    def task_layout(self, task_id: TaskId) -> TaskLayout:
        """Return the paths of a task's files."""
        return self.layout.task(task_id)

    def ledger(self, task_id: TaskId) -> "Ledger":
        """Return a task's ledger."""
        from siding.record.ledger.store import Ledger

        return Ledger(self.layout.task(task_id).ledger_jsonl)

    @cached_property
    def other_home(self) -> Path | None:
        """The home of which this one is a copy, if that has the project, too; else None."""
        place = self._marked_place
        if place is None or home_lines(self.paths).get(place.made_at) == home_of(self.app):
            return None
        from siding.record.place.home_mark import MarkedProject, settle_home

        return settle_home(
            MarkedProject(self.app, place, self.paths, self.registry), self._links_mended
        )

    def _links_mended(self) -> list[str]:
        from siding.record.place.workspace_links import mend_links

        return mend_links(self.registry, self.layout, self.repository, self._changing)

    def require_own_home(self) -> None:
        """Raise HomeCopied if another home has the project; write down that it is in this one."""
        if self._is_own_home:
            return
        if self.other_home is not None:
            from siding.record.place.home_mark import HomeCopied

            raise HomeCopied(self.app.home.root, self.other_home)
        place = self._marked_place
        if place is not None and place.made_at not in home_lines(self.paths):
            from siding.record.place.home_mark import MarkedProject, mark_home

            with suppress(OSError):  # a read-only git directory: copies are not noticed then
                mark_home(MarkedProject(self.app, place, self.paths, self.registry))
        self._is_own_home = True

    @cached_property
    def _marked_place(self) -> ProjectPlace | None:
        """The project's place, if a repository can say which home it is in."""
        place = place_of(self.layout) if self.has_repository else None
        return place if place is not None and place.made_at else None

    @contextmanager
    def changing(self, what: str) -> Iterator[None]:
        """Hold the project's lock, for changes of the board, the registry and the state.

        `what` is shown to commands that wait. Raises LockBusy after `WAIT_FOR_PROJECT_S` seconds,
        and HomeCopied if this home is a copy.
        """
        self.require_own_home()
        with self._changing(what):
            yield

    @contextmanager
    def _changing(self, what: str) -> Iterator[None]:
        from siding.ground.files.durable import make_dirs
        from siding.ground.storage.locks import FileLock, Holder

        holder = Holder(pid=self.app.pid, since=self.app.now(), what=what)
        if not self.layout.locks_dir.is_dir():  # another tool made this home, without locks
            make_dirs(self.layout.locks_dir)
        lock = FileLock(self.layout.lock("project"))
        lock.acquire(timeout_s=WAIT_FOR_PROJECT_S, holder=holder)
        try:
            yield
        finally:
            lock.release()

    def active_task_id(self) -> TaskId | None:
        """Return the id of the active task; None if no task is active."""
        state = read_document_or_none(
            self.layout.state_json, what="project state", version=STATE_VERSION
        )
        active = (state or {}).get("active_task_id")
        return TaskId(active) if isinstance(active, str) and active else None

    def set_active(self, task_id: TaskId | None) -> None:
        """Set the active task; None for no task. The caller holds the project's lock."""
        before = read_document_or_none(
            self.layout.state_json, what="project state", version=STATE_VERSION
        )
        write_document(
            self.layout.state_json,
            {
                **(before or {}),
                "version": STATE_VERSION,
                "active_task_id": task_id or "",
                "updated_at": self.app.now(),
            },
        )


def find_project(app: App) -> Project | None:
    """Return the project of the repository around the working directory; None if it has none.

    If the repository was moved, its project is adopted, with a warning.
    """
    if app.project:
        return named_project(app)
    return project_of(app, _repository_around(app))[0]


def require_project(app: App) -> Project:
    """Return the project of the working directory.

    Raises NotInitialised if the repository has none, and HomeHidden if a sandbox hides the home.
    """
    if app.project:
        return named_project(app)
    paths = _repository_around(app)
    project, seen = project_of(app, paths)
    if project is None:
        if home_is_hidden(app):
            raise home_hidden()
        what = "this repository is not a Siding project yet"
        if seen.how is Relation.COPY and seen.place is not None:
            what = (
                f"this repository is a copy of {seen.place.root!r}, whose project stays there, and "
                "has none of its own yet"
            )
        hint = "`siding init` makes it one; so does the first `siding run -- COMMAND`"
        if seen.how is Relation.NONE and seen.place is not None:
            what += f"; {seen.place.name} was the project of another one at this path"
            hint += f". If it is this one's, `siding doctor --adopt {seen.place.name}` takes it"
        from siding.record.place.other_tools import left_by_another_tool

        raise NotInitialised(what, hint=left_by_another_tool(app, paths.root) or hint)
    return project


def ensure_project(app: App) -> tuple[Project, bool]:
    """Return the project of the working directory, and whether it had to be made."""
    if app.project:
        return named_project(app), False
    paths = _repository_around(app)
    project, seen = project_of(app, paths)
    if project is None:
        if home_is_hidden(app):
            raise home_hidden()  # a project that is made in the sandbox would be lost with it
        from siding.record.place.new_project import create_project

        project = Project(app, create_project(app, paths, seen), paths)
        hide_from_git(app.home.root)
        return project, True
    hide_from_git(app.home.root)
    place = place_of(project.layout)
    if place is not None and (place.id is None or repository_id(paths) is None):
        from siding.record.place.new_project import give_id

        give_id(app, place, paths)
    return project, False


def named_project(app: App) -> Project:
    """Return the project that the command line names, as if started in its repository.

    If its repository is gone, or another one is at its path, what was recorded can still be read:
    then the project's repository is a path at which there is nothing. Raises NotFound.
    """
    from siding.record.place.lost_projects import is_gone, named_place

    place = named_place(app, app.project)
    there = Path(place.root) if place.root else place.layout.root / "no-repository"
    inside = app._replace(project="", cwd=there)
    try:
        paths = find_repository(there)
        if paths.root == there and not is_gone(place):
            project, _seen = project_of(inside, paths)
            if project is not None and project.layout.root == place.layout.root:
                return project
    except (NotARepository, OSError):
        pass
    nowhere = place.layout.root / "no-repository"
    app.warn(f"the repository of project {place.name} is not at {place.root or 'any path'} now")
    return Project(
        inside,
        place.layout,
        RepositoryPaths(
            root=nowhere,
            git_dir=nowhere,
            common_dir=nowhere,
            worktree=None,
            main_worktree=None,
            object_format="sha1",
            ref_format="files",
        ),
    )


def _repository_around(app: App) -> RepositoryPaths:
    try:
        found = find_repository(app.cwd)
    except NotARepository as error:
        from siding.record.place.trash import in_trash
        from siding.record.place.workspace_links import repository_of_workspace

        known = repository_of_workspace(app, None)
        if known is not None:
            return known
        raise (in_trash(app) or error) from None
    here = Path(os.path.realpath(app.cwd))
    if not here.is_relative_to(os.path.realpath(app.home.root)):
        return found
    if found.linked and is_linked(found.worktree or here, found.git_dir):
        return found
    from siding.record.place.workspace_links import repository_of_workspace

    return repository_of_workspace(app, found) or found


def project_of(app: App, paths: RepositoryPaths) -> tuple[Project | None, Seen]:
    """Return the project of a repository, None if it has none, and what was found."""
    seen = look(app, paths)
    if seen.place is None or seen.how in (Relation.COPY, Relation.NONE):
        return None, seen
    if seen.how is Relation.MOVED:
        from siding.record.place.adoption import adopt_moved

        seen = adopt_moved(app, paths, seen)
    assert seen.place is not None
    project = Project(app, seen.place.layout, paths)
    if seen.place.is_adopted:
        _link_anew(project, seen.place)
    if project.other_home is not None:
        app.warn(
            f"this home is a copy of {str(project.other_home)!r}, which is still there: here this "
            "project can be read, and not worked in"
        )
    return project, seen


def _link_anew(project: Project, place: ProjectPlace) -> None:
    from siding.record.place.adoption import links_mended
    from siding.record.place.workspace_links import mend_links

    try:
        mend_links(project.registry, project.layout, project.repository, project.changing)
        links_mended(place)
    except (SidingError, OSError) as error:
        reason = error.message if isinstance(error, SidingError) else str(error)
        project.app.warn(
            f"its workspaces could not be linked to the moved repository: {reason}; see `siding "
            "doctor`"
        )
