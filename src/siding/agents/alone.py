"""The words with which an agent does one thing and ends, without a person who talks with it."""

import os
from collections.abc import Mapping, Sequence

from siding.agents.table import BY_PROGRAM

_PRINT = ("-p", "--print")
_PROMPT = ("-p", "--prompt")

ALONE: Mapping[str, tuple[str, ...]] = {
    "claude": _PRINT,
    "codex": ("exec", "e", "review", "mcp"),
    "gemini": _PROMPT,
    "qwen": _PROMPT,
    "aider": ("-m", "--message", "-f", "--message-file"),
    "opencode": ("run", "serve"),
    "crush": ("run",),
    "goose": ("run",),
    "copilot": _PROMPT,
    "amp": ("-x", "--execute"),
    "auggie": _PRINT,
    "cursor-agent": _PRINT,
    "droid": ("exec",),
    "kimi": _PRINT,
    "openhands": ("--headless",),
}


def talks(argv: Sequence[str]) -> bool:
    """Tell whether a command is an agent that waits for what a person types.

    Of an agent whose words are not listed nobody knows, and it counts as one that does not.
    """
    agent = BY_PROGRAM.get(os.path.basename(argv[0]))
    if agent is None or agent.name not in ALONE:
        return False
    return not any(word.partition("=")[0] in ALONE[agent.name] for word in argv[1:])
