"""What the tools of agents are called, and which files and addresses they name."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from siding.policy.tool_use import Effect, ToolUse, Touch

# What a field of a tool's input says that the tool touches.
Field = Callable[[Any], Iterator[Touch]]
# Tool -> its field -> what that names.
Tools = Mapping[str, Mapping[str, Field]]

_PATCHED = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_ADDRESS = re.compile(r"\b[a-z][a-z+.-]*://[^\s<>\"']+")

NO_TOOLS: Tools = {}


def _named(effect: Effect) -> Field:
    def touches(value: Any) -> Iterator[Touch]:
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str) and each:
                yield Touch(effect, each)

    return touches


read = _named(Effect.READS)
written = _named(Effect.WRITES)
deleted = _named(Effect.DELETES)
fetched = _named(Effect.FETCHES)


def patched(value: Any) -> Iterator[Touch]:
    """Yield the files that a patch in the form of Codex's `apply_patch` changes.

    Its lines of content begin with a blank, a plus or a minus, so none of them looks like a head.
    """
    for found in _PATCHED.finditer(value if isinstance(value, str) else ""):
        effect = Effect.DELETES if found[1] == "Delete" else Effect.WRITES
        yield Touch(effect, found[2])


def addressed(value: Any) -> Iterator[Touch]:
    """Yield the addresses in a text that tells a model what to fetch."""
    for found in _ADDRESS.finditer(value if isinstance(value, str) else ""):
        yield Touch(Effect.FETCHES, found[0])


def use_of(tools: Tools, name: str, given: Mapping[str, Any]) -> ToolUse | None:
    """Return what the call of a tool touches; None of a tool that is not in the table."""
    fields = tools.get(name)
    if fields is None:
        return None
    touches = (each for field, says in fields.items() for each in says(given.get(field)))
    return ToolUse(name, tuple(touches))
