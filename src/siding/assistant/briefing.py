"""What the built-in agent is told of where it is: before the conversation, and while it goes on.

Instruction files and git's state are gathered at once, in threads, so that the libraries of a model
can load meanwhile. The system prompt has them; what lasts longest comes first in it:

| text                           | changes                                      |
|--------------------------------|----------------------------------------------|
| the base, with what is added   | with the version of Siding, and the options  |
| instruction files              | when somebody writes them                    |
| environment, git's state       | with each process                            |

Providers keep a prompt from its beginning to the first change. So the first two name no directory
of the task: they are the same in all tasks of a project in which the files are the same. For the
same reason the system prompt stays as it is while the conversation goes on. What is other than it
says comes as a hidden message before the next prompt (`FollowingContext`).
"""

import asyncio
import os
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from siding.assistant.loop.compaction import estimated
from siding.assistant.loop.context import (
    MOST_COMMITS,
    ContextPart,
    Environment,
    GitState,
    changes_text,
    environment_text,
    file_text,
    instructions_text,
    nested_text,
    one_line,
    short_status,
)
from siding.assistant.loop.instructions import (
    ROOM,
    Candidate,
    Found,
    InstructionFile,
    Instructions,
    Omitted,
    Places,
    Why,
    at_start,
    directories_above,
    gather,
    in_directory,
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
_MOST = 4 * ROOM.one + 4  # bytes: a character has four at most
MACHINE = Path("/etc/siding/AGENTS.md")
_SIDING = "Siding"
_OPTIONS = "the person's options"


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


# -- The system prompt -----------------------------------------------------------------------------


class SystemPrompt(NamedTuple):
    """The fields `system` and `stable` of a turn's `Setup`."""

    system: tuple[str, ...]
    stable: int


def system_prompt(briefing: Briefing, *, base: str | None = None, more: str = "") -> SystemPrompt:
    """Return the system prompt. `base` replaces the usual text; `more` comes behind either."""
    first = "\n\n".join(part for part in (base_text(base), more.strip()) if part)
    lasting = (first, instructions_text(briefing.instructions))
    stable = tuple(text for text in lasting if text)
    last = environment_text(briefing.environment, briefing.git)
    return SystemPrompt((*stable, last), len(stable))


def base_text(base: str | None = None) -> str:
    """Return the beginning of the system prompt: Siding's own, if no other one is given."""
    return _own() if base is None else base.strip()


def context_parts(
    briefing: Briefing, *, base: str | None = None, more: str = ""
) -> tuple[ContextPart, ...]:
    """Return what the system prompt consists of, with sizes, in its order.

    Files that were found and are not shown are among the parts.
    """
    who = _SIDING if base is None else _OPTIONS
    parts = [
        _part("system prompt", who, base_text(base)),
        _part("added to it", _OPTIONS, more.strip()),
        *map(_of_file, briefing.instructions.files),
        *map(_of_omitted, briefing.instructions.omitted),
        _part("environment", _SIDING, environment_text(briefing.environment, briefing.git)),
    ]
    return tuple(part for part in parts if part.characters or part.note)


def _part(name: str, origin: str, text: str) -> ContextPart:
    return ContextPart(name, origin, characters=len(text), tokens=estimated(text))


def _of_file(file: InstructionFile) -> ContextPart:
    part = _part(file.name, file.origin.value, file_text(file))
    return part._replace(size=file.size, note="only its beginning is shown" if file.is_cut else "")


def _of_omitted(omitted: Omitted) -> ContextPart:
    return _part(omitted.name, omitted.origin.value, "")._replace(note=omitted.why.value)


@lru_cache(maxsize=1)
def _own() -> str:
    return Path(__file__).with_name("system_prompt.md").read_text("utf-8").strip()


# -- What the model is told while the conversation goes on -----------------------------------------


class FollowingContext:
    """Remembers what the model was told. For one conversation in one process."""

    def __init__(self, briefing: Briefing) -> None:
        self._briefing = briefing
        self._places = briefing.places
        self._at_start = at_start(briefing.places)
        self.forget()

    def forget(self) -> None:
        """Take note that the model knows the system prompt alone: after a compaction."""
        self._day = self._briefing.environment.day
        self._known = _by_path(self._briefing.instructions)
        self._below: list[list[Candidate]] = []  # what was looked for at once, in that order
        started = {each.path.parent for each in self._at_start}
        self._looked = {self._places.root, *started}

    async def below(self, path: Path) -> str:
        """Return the instructions for a file that a tool has looked at; "" for none new.

        `path` is absolute and without links. A directory is looked into once.
        """
        new = [each for each in self._above(path) if each not in self._looked]
        if not new:
            return ""
        self._looked.update(new)
        candidates = [each for directory in new for each in in_directory(self._places, directory)]
        found = await asyncio.to_thread(
            gather, candidates, read_file, home=self._places.home, known=self._known.values()
        )
        self._below.append(candidates)
        self._known |= _by_path(found)
        return nested_text(found)

    async def changed_since(self) -> str:
        """Return what the model has to be told before the next prompt; "" for nothing.

        That is: instruction files that were changed, made or removed since it was told of them,
        and a new day.
        """
        now = await asyncio.to_thread(self._gathered)
        day = today(self._briefing.facts.place)
        text = changes_text(self._known, now, told_day=self._day, day=day)
        self._known, self._day = _by_path(now), day
        return text

    def _gathered(self) -> Instructions:
        found = gather(self._at_start, read_file, home=self._places.home)
        for candidates in self._below:
            more = gather(candidates, read_file, home=self._places.home, known=found.files)
            found = Instructions(found.files + more.files, found.omitted + more.omitted)
        return found

    def _above(self, path: Path) -> list[Path]:
        return directories_above(self._places, Path(os.path.normpath(path)))


def _by_path(instructions: Instructions) -> dict[Path, InstructionFile]:
    return {each.path: each for each in instructions.files}
