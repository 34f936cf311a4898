"""What the built-in agent is told before the conversation, gathered at once.

Instruction files and git's state are read at the same time, in threads, so that the libraries of a
model can load meanwhile. `system_prompt` is what a turn's `Setup` takes of it;
`FollowingContext` says what changed since.
"""

import asyncio
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from siding.assistant.loop.context.files import Found, Instructions, Places, Why, at_start
from siding.assistant.loop.context.instructions import ROOM, gather
from siding.assistant.loop.context.texts import (
    MOST_COMMITS,
    Environment,
    GitState,
    one_line,
    short_status,
)
from siding.assistant.tools.place import Place
from siding.ground.errors import NotARegularFile, SidingError
from siding.ground.files.regular import read_below
from siding.ground.git.command import Git, output_of
from siding.ground.git.command import Place as GitPlace
from siding.ground.git.discovery import RepositoryPaths, find_repository
from siding.ground.git.errors import GitError
from siding.ground.git.refs import Head
from siding.ground.git.repository import Repository
from siding.ground.git.settings import load_settings
from siding.ground.git.status import ARGUMENTS, StatusEntry, parse
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import TimedOut

# -- The state of a checkout, as the model is told of it when the conversation begins --------------
#
# Nothing of the repository's runs (`siding.ground.git.command`). Three short processes: the
# settings and the status, one after the other, and the last commits beside them.


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
        place = GitPlace(
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


# -- Read instruction files from the disk, whatever stands in their place --------------------------


_MOST = 4 * ROOM.one + 4  # bytes: a character has four at most


def read_file(path: Path, roots: tuple[Path, ...]) -> Found | Why | None:
    """Return a text file, or why it is none; None if nothing, or a directory, is there.

    With `roots` its real path must lie in one of them.
    """
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return None
    except OSError:  # a link that leads nowhere, or into a circle, is nothing as well
        return None
    real = Path(os.path.realpath(path))
    root = next((each for each in roots if real.is_relative_to(each)), None)
    if roots and root is None:
        return Why.OUTSIDE
    root = real.parent if root is None else root
    try:
        data, status = read_below(root, real.relative_to(root), _MOST)
    except NotARegularFile:
        return Why.NO_FILE
    except OSError:
        return Why.DENIED
    is_whole = len(data) >= status.st_size
    text = _decoded(data, is_whole=is_whole)
    if text is None:
        return Why.NO_TEXT
    return Found(real, text, max(status.st_size, len(data)), is_whole=is_whole)


def _decoded(data: bytes, *, is_whole: bool) -> str | None:
    """Return bytes as text, None if they are none; the last character may be cut off."""
    if b"\0" in data:
        return None
    for end in (len(data),) if is_whole else range(len(data), max(len(data) - 4, 0), -1):
        try:
            return data[:end].decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue
    return None


# -- What the built-in agent is told before the conversation, gathered at once ---------------------
#
# Instruction files and git's state are read at the same time, in threads, so that the libraries of
# a model can load meanwhile. `system_prompt` is what a turn's `Setup` takes of it;
# `FollowingContext` says what changed since.


MACHINE = Path("/etc/siding/AGENTS.md")


class Facts(NamedTuple):
    """What the caller knows. `directory` is where the person stands, in the workspace.

    `task` is the name of Siding's task and `base` what it began from, "" for none. `machine` is
    the instruction file of whoever administers the machine.
    """

    place: Place
    model: str
    directory: Path | None = None
    shell: str = ""
    task: str = ""
    base: str = ""
    machine: Path = MACHINE


class Briefing(NamedTuple):
    """What the model is told before the conversation."""

    facts: Facts
    places: Places
    environment: Environment
    instructions: Instructions
    git: GitState | None  # None where there is no repository, or no git


async def briefing(facts: Facts) -> Briefing:
    """Gather what the model is told. What cannot be read is said in it; nothing is raised."""
    repository = await asyncio.to_thread(_repository, facts.place.workspace)
    places = _places(facts, repository)
    instructions, git = await asyncio.gather(
        asyncio.to_thread(gather, at_start(places), read_file, home=places.home),
        _git(facts, repository),
    )
    return Briefing(facts, places, _environment(facts, places, repository), instructions, git)


def today(place: Place) -> str:
    """Return the day where the machine is, as ISO 8601."""
    return place.clock.now().astimezone().date().isoformat()


def _places(facts: Facts, repository: RepositoryPaths | None) -> Places:
    place = facts.place
    root = place.workspace
    worktree = None if repository is None else repository.worktree
    if worktree is not None and root.is_relative_to(worktree):
        root = worktree
    config = place.env.get("XDG_CONFIG_HOME", "")
    return Places(
        root=root,
        directory=facts.directory or place.workspace,
        home=place.home,
        config=Path(config) if config.startswith("/") else place.home / ".config",
        machine=facts.machine,
        extra=place.extra,
        main=None if repository is None else repository.main_worktree,
    )


def _repository(workspace: Path) -> RepositoryPaths | None:
    try:
        return find_repository(workspace)
    except (GitError, OSError):
        return None


async def _git(facts: Facts, repository: RepositoryPaths | None) -> GitState | None:
    if repository is None:
        return None
    try:
        git = Git.find(facts.place.env)
    except GitError:
        return None
    return await git_state(git, repository, task=facts.task, base=facts.base)


def _environment(facts: Facts, places: Places, repository: RepositoryPaths | None) -> Environment:
    machine = os.uname()
    return Environment(
        workspace=facts.place.workspace,
        directory=places.directory,
        platform=f"{machine.sysname} {machine.release} {machine.machine}",
        day=today(facts.place),
        model=facts.model,
        shell=facts.shell,
        extra=facts.place.extra,
        is_repository=repository is not None,
    )
