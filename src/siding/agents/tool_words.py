"""What the tools of agents are called, and what a call of each does.

Each agent has a `ToolTable`. A tool that is in none of its parts is *unknown*: under
`--judge require` a person is asked about it. So is the list of tools that do nothing kept short:
a tool belongs there if all that its calls lead to is judged anyway, or stays in the conversation.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from siding.agents.edits import NO_EDITS, Edit, Editing
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, ToolUse

# One file or address, a line of shell or another text, and what a tool does with it.
Touch = tuple[Effect, str]

# What a field of a tool's input says that the tool touches.
Field = Callable[[Any], Iterator[Touch]]
# Tool -> its field -> what that names.
Tools = Mapping[str, Mapping[str, Field]]
# What a call does, from the whole of its input. Raises NotUnderstood.
Act = Callable[[Mapping[str, Any]], tuple[Touch, ...]]

# The tools of Siding's own server. A server of somebody else's may have the same name.
OWN_TOOLS = frozenset(
    """
    ask_person checkpoint note phase task workflow workflow_cancel workflow_guide workflow_status
    """.split()
)
NO_ACTS: Mapping[str, Act] = {}
_PATCHED = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_ADDRESS = re.compile(r"\b[a-z][a-z+.-]*://[^\s<>\"']+")
_PATHS = ("/", "~/", "../")  # a text that begins so looks like the name of a file
_LONGEST_INPUT = 300  # characters of an unknown tool's input that a person is shown
# A hook cuts all texts but these at so many characters: what comes behind it nobody could judge.
_LONGEST_TEXT = 16 << 10
_WHOLE = frozenset({"command", "patchText"})


class NotUnderstood(Exception):
    """The input of a known tool is not what the tool is known to be given. The message says how."""


class ToolTable(NamedTuple):
    """The tools of one agent."""

    shell: str  # the name of its shell
    touching: Tools  # those that work on files and addresses
    optional: frozenset[str] = frozenset()  # of those: may be called without any of these fields
    acting: Mapping[str, Act] = NO_ACTS
    harmless: frozenset[str] = frozenset()
    # The beginning of the names that tools of Siding's own server have: the broker of the run
    # answers them, and refuses what is a person's.
    own: str = "mcp__siding__"
    editing: Mapping[str, Editing] = NO_EDITS  # what of the input says how files are changed

    @property
    def judged(self) -> tuple[str, ...]:
        """The names of all tools that are known to do something."""
        return (self.shell, *self.touching, *self.acting)

    def does_nothing(self, name: str) -> bool:
        """Tell whether there is nothing to judge in a call of this tool."""
        own = name.removeprefix(self.own)
        return name in self.harmless or (own != name and own in OWN_TOOLS)

    def knows(self, name: str) -> bool:
        """Tell whether a tool is known to do something."""
        return name == self.shell or name in self.touching or name in self.acting

    def use(self, name: str, given: object) -> ToolUse | None:
        """Return what a call of a known tool other than the shell does; None if that is nothing.

        Raises NotUnderstood.
        """
        if not isinstance(given, Mapping):
            raise NotUnderstood("its input is no object")
        if name in self.touching:
            return ToolUse(name, self._touches(name, given))
        touches = self.acting[name](given)
        return ToolUse(name, touches) if touches else None

    def edits(self, name: str, given: object) -> tuple[Edit, ...]:
        """Return how a call changes files; nothing if its input does not say that."""
        if name not in self.editing or not isinstance(given, Mapping):
            return ()
        return self.editing[name](given)

    def _touches(self, name: str, given: Mapping[str, Any]) -> tuple[Touch, ...]:
        fields = self.touching[name]
        there = [field for field in fields if field in given]
        for field in there:
            if not _is_text(given[field]):
                raise NotUnderstood(f"{field!r} is no text")
            if field not in _WHOLE and _longest(given[field]) >= _LONGEST_TEXT:
                raise NotUnderstood(f"{field!r} is too long to be judged")
        if not there and name not in self.optional:
            raise NotUnderstood(f"there is no {' or '.join(map(repr, fields))} in its input")
        named = [each for field in there for each in fields[field](given[field])]
        if name in self.optional:  # where it looks may have a name that is not known here
            others = (each for field, each in given.items() if field not in (*fields, "pattern"))
            paths = (each for each in others if isinstance(each, str) and each.startswith(_PATHS))
            named += ((Effect.READS, each) for each in paths)
        return tuple(named)


def unknown_tool(name: str, given: object) -> ToolUse:
    """Return the call of a tool that is in no table, with its input for people to read."""
    shown = json.dumps(given, ensure_ascii=False)[:_LONGEST_INPUT]
    return ToolUse(name, ((Effect.UNKNOWN, shown),))


def command_of(given: object, field: str = "command") -> str:
    """Return the line that a shell is given. Raises NotUnderstood."""
    line = given.get(field) if isinstance(given, Mapping) else None
    if not isinstance(line, str) or not line:
        raise NotUnderstood(f"there is no {field!r} in its input")
    return line


def _is_text(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, str) and bool(value)


def _longest(value: Any) -> int:
    return max(map(len, value), default=0) if isinstance(value, list) else len(value)


def _named(effect: Effect) -> Field:
    def touches(value: Any) -> Iterator[Touch]:
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str) and each:
                yield effect, each

    return touches


read = _named(Effect.READS)
written = _named(Effect.WRITES)
deleted = _named(Effect.DELETES)
fetched = _named(Effect.FETCHES)
ran = _named(Effect.RUNS)
typed = _named(Effect.TYPES)


def patched(value: Any) -> Iterator[Touch]:
    """Yield the files that a patch in the form of Codex's `apply_patch` changes.

    Its lines of content begin with a blank, a plus or a minus, so none of them looks like a head.
    Raises NotUnderstood if it names no file.
    """
    found = list(_PATCHED.finditer(value if isinstance(value, str) else ""))
    if not found:
        raise NotUnderstood("no file is named in its patch")
    for each in found:
        yield Effect.DELETES if each[1] == "Delete" else Effect.WRITES, each[2]


def addressed(value: Any) -> Iterator[Touch]:
    """Yield the addresses in a text that tells a model what to fetch."""
    for found in _ADDRESS.finditer(value if isinstance(value, str) else ""):
        yield Effect.FETCHES, found[0]


def does(effect: Effect, *fields: str) -> Act:
    """Return an act that is the same whatever the input is; `fields` tell a person what it is."""

    def act(given: Mapping[str, Any]) -> tuple[Touch, ...]:
        said = (given.get(field) for field in fields)
        return ((effect, " ".join(each for each in said if isinstance(each, str))),)

    return act
