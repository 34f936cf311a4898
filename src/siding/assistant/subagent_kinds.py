"""Kinds of subagents: what each is good for, as options and files define them."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.agents.own.places import SUBAGENTS
from siding.ground.errors import NotARegularFile, UsageError
from siding.ground.files.regular import read_below
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

_AS_THE_AGENT = frozenset({"", "inherit", "haiku", "sonnet", "opus"})  # names of one provider alone


class SubagentKind(NamedTuple):
    """What a subagent is good for. Without a `prompt` it is told what the agent is told.

    `tools` are the names of those that it has, None for all; `model` is "" for the agent's own.
    """

    name: str
    description: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    model: str = ""


GENERAL = SubagentKind("general-purpose", "searches, inquiries, and work of several steps")


def kinds_in(document: object) -> tuple[SubagentKind, ...]:
    """Return the kinds that a client or `--agents` defines, by name. Raises UsageError."""
    if not isinstance(document, dict):
        raise UsageError(
            "agents are an object: a name, and what it is, of each",
            hint='{"reviewer": {"description": "finds mistakes", "prompt": "You review."}}',
        )
    return tuple(_kind(str(name), mapping(given)) for name, given in document.items())


def _kind(name: str, given: Mapping[str, Any]) -> SubagentKind:
    description, tools = text(given.get("description")), given.get("tools")
    if not description:
        raise UsageError(f"agent {name!r} needs a description: by it the model chooses")
    model = text(given.get("model"))
    return SubagentKind(
        name,
        description,
        prompt=text(given.get("prompt")),
        tools=None if tools is None else _names(tools),
        without=_names(given.get("disallowedTools")),
        model="" if model in _AS_THE_AGENT else model,
    )


def _names(given: object) -> tuple[str, ...]:
    """Return names of tools: a list, or as files of agents have them, a text with commas."""
    listed = given.split(",") if isinstance(given, str) else given
    return tuple(str(each).strip() for each in listed) if isinstance(listed, list) else ()


# -- Kinds of subagents that files define ----------------------------------------------------------
#
# They are in the directory `SUBAGENTS` of a workspace, and in that of the person's home. Each file,
# ``NAME.md``, begins with YAML between two lines of ``---`` (``name``, ``description``, perhaps
# ``tools``, ``disallowedTools``, ``model``); the rest is the prompt. Those of the repository count
# like its other instructions: they say what a subagent is told, and permit nothing.


DIRECTORY = Path(SUBAGENTS)
_LARGEST = 64 << 10  # bytes of a file
_MOST = 100  # files of a directory


def kinds_of_files(
    home: Path, workspace: Path, say: Callable[[str], None]
) -> tuple[SubagentKind, ...]:
    """Return the kinds of the person and of the workspace; of one name, that of the workspace.

    `say` is told of each file that defines none.
    """
    found: dict[str, SubagentKind] = {}
    for root in dict.fromkeys((home, workspace)):
        for kind in _kinds_below(root, say):
            found[kind.name] = kind
    return tuple(found.values())


def _kinds_below(root: Path, say: Callable[[str], None]) -> Iterator[SubagentKind]:
    try:
        names = sorted(os.listdir(root / DIRECTORY))
    except OSError:
        return
    for name in [each for each in names if each.endswith(".md")][:_MOST]:
        try:
            yield _kind_in(root, DIRECTORY / name)
        except (UsageError, OSError, NotARegularFile, ValueError) as error:
            why = error.message if isinstance(error, UsageError) else str(error)
            say(f"{root / DIRECTORY / name} defines no subagent: {' '.join(why.split())}")


def _kind_in(root: Path, path: Path) -> SubagentKind:
    data, status = read_below(root, path, _LARGEST)
    if status.st_size > _LARGEST:
        raise UsageError(f"it is larger than {_LARGEST:,} bytes")
    head, prompt = _parts(data.decode("utf-8-sig").replace("\r\n", "\n"))
    name = str(head.get("name") or path.stem)
    (kind,) = kinds_in({name: {**head, "prompt": prompt}})
    return kind


def _parts(text: str) -> tuple[dict[str, Any], str]:
    """Return what is said at the head of a file, and what follows it."""
    import yaml  # 20 ms, and most people have no such file

    begin, _, rest = text.partition("\n")
    said, end, prompt = f"\n{rest}".partition("\n---")
    if begin.rstrip() != "---" or not end:
        raise UsageError("it does not begin with `---`, a name, a description, and `---`")
    try:
        head = yaml.load(said, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise UsageError(f"its head is not valid YAML: {error}") from None
    if not isinstance(head, dict):
        raise UsageError("its head has no name and no description")
    return head, prompt.partition("\n")[2].strip()
