"""What an agent asks on its screen before it can report anything: trust, login, its first start.

It is looked up in the files and the environment that the agent itself goes by, before it starts.
They are only read. Nothing is answered for the person. `start_questions` in an agent's folder has
its ``asks``: a function of a `Start`.
"""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.agents.facets import Facet
from siding.agents.json_text import parsed
from siding.agents.table import BY_NAME
from siding.ground.errors import SidingError
from siding.ground.files.regular import read_small
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping

_LARGEST = 16 << 20  # bytes of a file of settings


class Question(StrEnum):
    """What is asked."""

    FIRST_START = "first-start"  # how it looks, and how the person logs in
    TRUST = "trust"
    LOGIN = "login"
    KEY = "key"
    NO_ASKING = "no-asking"


SAYS = {
    Question.FIRST_START: "the questions of its first start",
    Question.TRUST: "whether you trust the folder it works in",
    Question.LOGIN: "how you log in",
    Question.KEY: "whether it may use the API key of the environment",
    Question.NO_ASKING: "whether it may act without asking you",
}


class CannotTell(Exception):
    """The files do not say it: one of them cannot be read, or is something else."""


class Start(NamedTuple):
    """An agent that is about to start: its command line, where, and with what."""

    argv: tuple[str, ...]
    cwd: Path  # as the system names it, without links
    env: Mapping[str, str]

    @property
    def home(self) -> Path:
        return Path(self.env.get("HOME") or os.path.expanduser("~"))

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command line behind the program, up to a ``--``."""
        words = self.argv[1:]
        return words[: words.index("--")] if "--" in words else words

    def value_of(self, option: str) -> list[str]:
        """Return the values that an option is given: ``-c VALUE`` or ``-c=VALUE``."""
        words = self.words
        after = [words[at + 1] for at, word in enumerate(words[:-1]) if word == option]
        return [*after, *(w.partition("=")[2] for w in words if w.startswith(f"{option}="))]

    @property
    def worktree(self) -> Path | None:
        """The root of the worktree; None outside of one."""
        return self._roots()[0]

    @property
    def checkout(self) -> Path | None:
        """The root of the main worktree of the same repository; None if there is none."""
        return self._roots()[1]

    def _roots(self) -> tuple[Path | None, Path | None]:
        try:
            found = find_repository(self.cwd)
        except (NotARepository, OSError):
            return None, None
        return found.worktree, found.main_worktree


Asks = Callable[[Start], tuple[Question, ...]]
ASKS: Facet[Asks] = Facet("start_questions", "asks")


def start_questions(
    agent: str, argv: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> tuple[Question, ...] | None:
    """Return what an agent will ask before it reports; None if that cannot be told.

    One that draws no screen asks nothing: it works, or ends with an error.
    """
    asks = ASKS.of(agent)
    if asks is None:
        return None
    start = Start(tuple(argv), Path(os.path.realpath(cwd)), env)
    if set(BY_NAME[agent].no_screen) & set(start.words):
        return ()
    try:
        return asks(start)
    except CannotTell:
        return None


def homes_in(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say where agents keep their files, and no secret."""
    return {name: env[name] for name in _HOMES if name in env}


_HOMES = (
    *("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"),
    *("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"),
)


def json_of(path: Path, *, comments: bool = False) -> Mapping[str, Any]:
    """Return the object in a file of JSON; {} if there is no file, or nothing in it.

    `comments`: may it have some? Raises CannotTell.
    """
    return _object(path, lambda text: parsed(text, comments=comments) if text.strip() else {})


def toml_of(path: Path) -> Mapping[str, Any]:
    """Return what a file of TOML says; {} if there is no file. Raises CannotTell."""
    return _object(path, tomllib.loads)


def _object(path: Path, parse: Callable[[str], Any]) -> Mapping[str, Any]:
    if not os.path.lexists(path):
        return {}
    raw = read_small(path, _LARGEST)
    try:
        found = None if raw is None else parse(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError, SidingError):
        found = None
    if not isinstance(found, dict):
        raise CannotTell(path)
    return mapping(found)
