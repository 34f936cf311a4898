"""The state of a checkout, as the model is told of it when the conversation begins.

Nothing of the repository's runs (`siding.ground.git.command`). Three short processes: the settings
and the status, one after the other, and the last commits beside them.
"""

import asyncio
from collections.abc import Sequence

from siding.assistant.loop.context.git_state import MOST_COMMITS, GitState, one_line, short_status
from siding.ground.errors import SidingError
from siding.ground.git.command import Git, Place, output_of
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.git.refs import Head
from siding.ground.git.repository import Repository
from siding.ground.git.settings import load_settings
from siding.ground.git.status import ARGUMENTS, StatusEntry, parse
from siding.ground.process.errors import TimedOut

USUAL_WAIT_S = 5.0  # the first request does not wait longer for a status
_STATUS = [
    *(each for each in ARGUMENTS if not each.startswith("--untracked-files")),
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
]


async def git_state(
    git: Git, paths: RepositoryPaths, *, task: str, base: str, wait_s: float = USUAL_WAIT_S
) -> GitState:
    """Return the state of the worktree that was found; what cannot be told is said in it."""
    repository = Repository(git, paths)
    try:
        head = await asyncio.to_thread(repository.head, paths.git_dir)
    except (SidingError, OSError) as error:
        return GitState(task=task, base=base, problem=_problem(error))
    (entries, problem), commits = await asyncio.gather(
        asyncio.to_thread(_status, git, paths, wait_s),
        asyncio.to_thread(_commits, repository, head),
    )
    status, more = short_status(entries)
    return GitState(
        branch=one_line(head.branch or ""),
        task=task,
        base=base,
        status=status,
        more=more,
        commits=commits,
        problem=problem,
    )


def _status(git: Git, paths: RepositoryPaths, wait_s: float) -> tuple[Sequence[StatusEntry], str]:
    """Return what is uncommitted, and why that is not known."""
    if paths.worktree is None:
        return (), "Status: this is a bare repository, without files."
    try:
        place = Place(
            git_dir=paths.git_dir,
            common_dir=paths.common_dir,
            work_tree=paths.worktree,
            settings=load_settings(git, paths).settings,
        )
        done = git.start(place, _STATUS).finish(timeout_s=wait_s)
        return list(parse(output_of(done, doing="looking at the checkout"))), ""
    except TimedOut:
        return (), f"Status: not known, since git took longer than {wait_s:g} s over it."
    except (SidingError, OSError) as error:
        return (), _problem(error)


def _commits(repository: Repository, head: Head) -> tuple[str, ...]:
    if head.sha is None:
        return ()
    try:
        found = repository.recent(head.sha, MOST_COMMITS)
    except (SidingError, OSError):  # a commit that is not there: the status says so, too
        return ()
    return tuple(one_line(f"{each.sha[:10]} {each.subject}") for each in found)


def _problem(error: SidingError | OSError) -> str:
    text = error.message if isinstance(error, SidingError) else error.strerror
    return one_line(f"Status: not known: {text}")
