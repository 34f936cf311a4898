"""What the built-in agent is told before the conversation, gathered at once.

Instruction files and git's state are read at the same time, in threads, so that the libraries of a
model can load meanwhile. `system_prompt` is what a turn's `Setup` takes of it;
`FollowingContext` says what changed since.
"""

import asyncio
import os
from pathlib import Path

from siding.assistant.git_facts import git_state
from siding.assistant.instruction_files import read_file
from siding.assistant.loop.context.environment import Environment
from siding.assistant.loop.context.files import Instructions
from siding.assistant.loop.context.gathering import gather
from siding.assistant.loop.context.git_state import GitState
from siding.assistant.loop.context.levels import Places, at_start
from siding.assistant.tools.place import Place
from siding.ground.git.command import Git
from siding.ground.git.discovery import RepositoryPaths, find_repository
from siding.ground.git.errors import GitError
from siding.ground.namedtuples import NamedTuple

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
