"""Find out whether a directory is a worktree that a task can adopt, and from which commit."""

import os
from pathlib import Path

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NoCommits, NotARepository
from siding.ground.git.refs import HeadState
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.worktrees.listing import WorktreeInfo, worktrees
from siding.tasks.start import default_base_of, say_what_is_taken

INITIALIZING = "initializing"  # how `git worktree add` locks a worktree that it is making


class NotAdoptable(SidingError):
    """The directory is no worktree that a task can adopt. Nothing was changed."""

    code = "not_adoptable"


class FoundWorktree(NamedTuple):
    """A linked worktree of the project's repository that belongs to no task."""

    path: Path  # without symbolic links
    git_dir: Path
    branch: str
    head: Sha


def find_worktree(project: Project, path: Path) -> FoundWorktree:
    """Return the worktree at `path`.

    Raises NotFound if there is no directory, and NotAdoptable, with the reason, if it is not a
    whole linked worktree of this repository that is on a branch and that no task has.
    """
    place = Path(os.path.realpath(path))
    if not place.is_dir():
        raise NotFound(
            f"there is no directory {str(path)!r}",
            hint="`git worktree list` shows the worktrees of this repository",
        )
    _refuse_taken(project, place)
    info = _worktree_at(project, place)
    _refuse_busy(info, place)
    _refuse_unmovable(project, place)
    head = project.repository.head(info.git_dir)
    if head.state is HeadState.UNBORN or head.sha is None:
        raise NoCommits(
            f"the branch {head.branch!r} of {str(place)!r} has no commit yet",
            hint="make a first commit there: a task starts from one",
        )
    if head.branch is None:
        raise NotAdoptable(
            f"{str(place)!r} has no branch checked out (its HEAD is detached)",
            hint=f"`git -C {place} switch -c NAME` makes a branch of it; if a rebase or bisect is "
            "under way there, end it first",
        )
    return FoundWorktree(path=place, git_dir=info.git_dir, branch=head.branch, head=head.sha)


def base_of(project: Project, found: FoundWorktree, named: str | None) -> tuple[str, Sha]:
    """Return the base's name, and the commit where the worktree's branch departed from it.

    Raises UsageError if there is no such commit, or if the base is the worktree's own branch and
    nobody named it.
    """
    base_ref = named or default_base_of(project, project.repository.head())
    if named is None and base_ref == found.branch:
        raise UsageError(
            f"{str(found.path)!r} has {found.branch!r} checked out, which is the base itself",
            hint="--base REF names the commit or branch that its changes are counted from",
        )
    tip = project.repository.resolve(base_ref)
    if named is not None:
        say_what_is_taken(project, named, tip)
    base = project.repository.merge_base(found.head, tip)
    if base is None:
        raise UsageError(
            f"{found.branch!r} and {base_ref!r} have no commit in common",
            hint="--base REF names the commit or branch that its changes are counted from",
        )
    return base_ref, base


def _refuse_taken(project: Project, place: Path) -> None:
    """Refuse a workspace, what lies in one, and what one lies in."""
    owner = project.task_around(place)
    if owner is not None:
        entry = project.registry.of_task(owner)
        itself = entry is None or os.path.realpath(entry.path) == str(place)
        where = "is" if itself else "lies in"
        raise NotAdoptable(
            f"{str(place)!r} {where} the workspace of {_named(project, owner)}",
            hint="a directory belongs to one task at most; `siding worktree bind` gives a "
            "workspace to another task"
            if itself
            else "what is in a workspace is recorded with it",
        )
    if place.is_relative_to(os.path.realpath(project.app.home.root)):
        raise NotAdoptable(
            f"{str(place)!r} is inside Siding's home", hint="`siding doctor` says what it is"
        )
    for entry in project.registry.all():
        if entry.status.value in ("active", "kept") and Path(entry.path).is_relative_to(place):
            raise NotAdoptable(
                f"the workspace of {_named(project, entry.task_id)} lies in {str(place)!r}",
                hint="`git worktree move` one of them elsewhere",
            )


def _named(project: Project, task_id: TaskId) -> str:
    try:
        task = project.tasks.load(task_id)
    except SidingError:
        return f"task {task_id}"
    return f"task {task_id} · {task.name} ({task.status.value})"


def _worktree_at(project: Project, place: Path) -> WorktreeInfo:
    try:
        paths = find_repository(place)
    except NotARepository as error:
        raise NotAdoptable(
            f"{str(place)!r} is not a worktree of git: {error.message}", hint=error.hint
        ) from error
    if paths.common_dir != project.paths.common_dir:
        raise NotAdoptable(
            f"{str(place)!r} belongs to another repository: {str(paths.root)!r}",
            hint="run the command in that one",
        )
    if paths.worktree is None:
        raise NotAdoptable(
            f"{str(place)!r} is a git directory, not a worktree",
            hint="`git worktree list` shows the worktrees of this repository",
        )
    if paths.worktree != place:
        raise NotAdoptable(
            f"{str(place)!r} is only a part of the worktree {str(paths.worktree)!r}",
            hint="name the worktree itself",
        )
    if not paths.linked:
        raise NotAdoptable(
            f"{str(place)!r} is the main checkout, which is yours",
            hint="`siding task start NAME --carry` makes a workspace with your changes",
        )
    for info in worktrees(project.repository)[1:]:
        if os.path.realpath(info.git_dir) == str(paths.git_dir):
            if info.path is not None and os.path.realpath(info.path) == str(place):
                return info
            break
    raise NotAdoptable(
        f"git's record of the worktree {str(place)!r} names another place or is gone",
        hint=f"`git worktree repair {place}` mends it, if nobody uses the other place",
    )


def _refuse_busy(info: WorktreeInfo, place: Path) -> None:
    for name in ("index.lock", "HEAD.lock"):
        if os.path.lexists(info.git_dir / name):
            raise NotAdoptable(
                f"git is at work in {str(place)!r}: there is {str(info.git_dir / name)!r}",
                hint="try again when it has ended; if it was killed, delete that file",
            )
    if info.locked == INITIALIZING:
        raise NotAdoptable(
            f"`git worktree add` is making {str(place)!r} or was killed at it",
            hint="try again when it has ended; if it was killed, remove the worktree",
        )


def _refuse_unmovable(project: Project, place: Path) -> None:
    """Refuse what could not be gone back in: that renames files from the home into place."""
    if place.stat().st_dev != project.layout.root.stat().st_dev or os.path.ismount(place):
        raise NotAdoptable(
            f"{str(place)!r} is on another file system than Siding's home "
            f"{str(project.app.home.root)!r}",
            hint="going back renames files into place, which works within one file system only: "
            "`git worktree move` it, or start with SIDING_HOME on that file system",
        )
