"""What is known of the settings file in which an agent can be told to report for good.

All of it is pure: the content of a file goes in, and comes out changed. Hooks of ours are known
again by the program that they start. `settings` in an agent's folder has its ``SETTINGS``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from siding.agents.facets import Facet
from siding.ground.namedtuples import NamedTuple

# How the path of our program ends, and how it ended before the house was moved.
PROGRAM = "siding/ground/process/broker/integrated.py"
_EARLIER = "siding/process/broker/integrated.py"


_TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


class NotMergeable(ValueError):
    """The settings are not in a form that can be changed; the message says why."""


class Hook(NamedTuple):
    """An event of the agent, and how long our program may take."""

    event: str
    seconds: int


class OwnSettings(Protocol):
    """The settings file of one agent. Settings are None where there is no file."""

    def file(self, env: Mapping[str, str], home: Path) -> Path:
        """Return where the file is, or would be."""
        ...

    def added(self, settings: str | None, command: str, file: Path) -> str:
        """Return the settings with hooks that start `command`. There are none of ours in them.

        Raises NotMergeable.
        """
        ...

    def removed(self, settings: str | None) -> str | None:
        """Return the settings without hooks of ours, as they were before `added`.

        Raises NotMergeable.
        """
        ...

    def parsed(self, settings: str) -> Mapping[str, Any]:
        """Return what the settings say. Raises NotMergeable."""
        ...

    def commands(self, settings: str) -> set[str]:
        """Return the commands of our hooks. Raises NotMergeable."""
        ...


SETTINGS: Facet[OwnSettings] = Facet("settings", "SETTINGS")


def is_ours(command: object) -> bool:
    """Tell whether a hook's command starts our program."""
    return isinstance(command, str) and (PROGRAM in command or _EARLIER in command)


def without_comments(raw: str) -> str:
    """Return JSON with spaces in place of its comments; what is in a text stays as it is."""
    return _TEXT_OR_COMMENT.sub(lambda hit: hit[1] or " " * len(hit[0]), raw)
