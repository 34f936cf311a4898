"""What an agent's tool does to files and to the network, without a shell in between."""

import re
import shlex
from enum import StrEnum
from typing import TypeAlias

from siding.ground.namedtuples import NamedTuple

# Keys that end or stop: Ctrl-C, Ctrl-D, Escape, Enter. Not Ctrl-Z, which leads back to the shell,
# and no arrows: a shell runs a line of its history again by them.
_KEYS = re.compile(r"[\x03\x04\x1b\r\n ]+")
# One answer to a question, and the Enter behind it.
_ANSWER = re.compile(r"(?:y|n|yes|no|q|quit|exit|[0-9]{1,4})[\r\n]{0,2}", re.IGNORECASE)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})


class Effect(StrEnum):
    """What is done to a file, or with an address."""

    READS = "reads"
    WRITES = "writes"  # makes or changes it
    DELETES = "deletes"
    FETCHES = "fetches"  # from an address of the network
    RUNS = "runs"  # a line of shell
    TYPES = "types"  # text into a program that runs already
    LEAVES = "leaves"  # makes a worktree, and goes on there
    SCHEDULES = "schedules"  # a prompt that is given later
    STEERS = "steers"  # another agent, outside of the run
    SCRIPTS = "scripts"  # program text of the agent's own kind, which is not read here
    UNKNOWN = "unknown"  # nobody has said what the tool does


# What a tool does, and to what: a path, taken literally; a URL; a line or another text.
Touch: TypeAlias = tuple[Effect, str]


class ToolUse(NamedTuple):
    """One call of a tool, with all that it touches."""

    name: str  # what its agent calls the tool
    touches: tuple[Touch, ...]
    into: str = ""  # where text is typed: the command line of the program that reads it, if known

    @property
    def text(self) -> str:
        """What a person reads: the tool and what it is used on."""
        return " ".join((self.name, *dict.fromkeys(what for _, what in self.touches)))


def is_harmless_input(text: str) -> bool:
    """Return whether a text can start nothing, whatever the program is that reads it."""
    return not text or bool(_KEYS.fullmatch(text) or _ANSWER.fullmatch(text))


def lines_for_shell(program: str, text: str) -> list[str] | None:
    """Return the lines that a text is to the shell which reads it.

    None if `program`, the command line of what reads it, is no shell alone, or if the text has keys
    in it that are no text, or does not end its last line: the rest of it may come later.
    """
    if not _is_shell(program) or text[-1:] not in ("\r", "\n"):
        return None
    lines = text.replace("\r", "\n").splitlines()
    if any(not character.isprintable() for line in lines for character in line):
        return None
    return [line for line in lines if line.strip()]


def _is_shell(program: str) -> bool:
    try:
        words = shlex.split(program)
    except ValueError:
        return False
    name = words[0].rpartition("/")[2] if words else ""
    return name in _SHELLS and all(word in ("-i", "-l", "-il", "-li") for word in words[1:])
