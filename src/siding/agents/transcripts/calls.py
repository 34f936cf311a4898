"""How a call of a tool is shown: an edit as a diff, a command as one, a read as a line.

What is known of a tool goes by the names of its arguments, not by its own: clients have many.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any

from siding.agents.transcripts.kinds import ATTACHMENT, SYSTEM, Record
from siding.agents.transcripts.messages import is_boundary
from siding.ground.namedtuples import NamedTuple

_PATHS = ("file_path", "absolute_path", "notebook_path", "path")
_PLACES = frozenset({*_PATHS, "offset", "limit", "pages"})
STEP = "siding_step"  # the subtype of a line that stands for a step, in what is shown
_MOST_LINES = 400  # of a text in a diff: to compare longer ones takes seconds


class ShownCall(NamedTuple):
    """A call as it is shown: a line, and what is below it, in a language of code blocks."""

    label: str
    body: str
    language: str = ""


def shown_call(name: object, arguments: object) -> ShownCall:
    """Return how the call of the tool `name` is shown."""
    named = str(name or "tool")
    given = arguments if isinstance(arguments, dict) else {}
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
    diff = "".join(_diffs(given))
    if diff:
        return ShownCall(label=f"{named} {path}".strip(), body=diff, language="diff")
    patch = _patch_in(arguments)
    if patch:
        return ShownCall(label=named, body=patch, language="diff")
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    if isinstance(command, str):
        about = given.get("description")
        label = f"{named}: {about}" if isinstance(about, str) and about else named
        return ShownCall(label=label, body=command, language="sh")
    if path and isinstance(given.get("content"), str):
        return ShownCall(label=f"{named} {path}", body=given["content"])
    if path and not given.keys() - _PLACES:
        places = [f"{key} {given[key]}" for key in ("offset", "limit", "pages") if key in given]
        return ShownCall(label=" ".join([named, path, *places]), body="")
    body = json.dumps(arguments, ensure_ascii=False, indent=2)
    return ShownCall(label=named, body=body, language="json")


def says_nothing(record: Record) -> bool:
    """Return whether a message is only of use to its client: hooks, times, empty attachments."""
    kind = record.get("type")
    if kind == ATTACHMENT:
        attachment = record.get("attachment")
        return not (isinstance(attachment, dict) and attachment.get("filename"))
    return kind == SYSTEM and not record.get("content") and not is_boundary(record)


def _diffs(given: Mapping[str, Any]) -> Iterator[str]:
    edits = given.get("edits")
    for edit in [given, *(edits if isinstance(edits, list) else [])]:
        if not isinstance(edit, dict):
            continue
        old, new = edit.get("old_string"), edit.get("new_string")
        if isinstance(old, str) and isinstance(new, str):
            yield _diff(old.splitlines(), new.splitlines())


def _diff(old: list[str], new: list[str]) -> str:
    if max(len(old), len(new)) > _MOST_LINES:
        lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        lines = [line.rstrip("\n") for line in unified_diff(old, new, n=2, lineterm="")][2:]
    return "".join(f"{line}\n" for line in lines)


def _patch_in(arguments: object) -> str:
    """Return the patch that Codex' tool takes as its one argument."""
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    found = [each for each in values if isinstance(each, str)]
    if len(found) == 1 and found[0].lstrip().startswith("*** Begin Patch"):
        return found[0]
    return ""
