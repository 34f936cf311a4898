"""What a tool is about to do to files, as its input says: for the person who is asked about it.

All of it is what the agent says, and untrusted. Nothing here reads a file.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text, whole

CUT_AT = 16 << 10  # characters: a longer text of a large report is cut there by who hands it over


class Replacement(NamedTuple):
    """A text of a file is replaced by another one. An empty `old` makes a new file."""

    path: str
    old: str
    new: str
    times: int = 1  # how often `old` has to be there; 0: it is replaced wherever it is


class WholeFile(NamedTuple):
    """A file gets this content, whatever it held."""

    path: str
    content: str


class PatchText(NamedTuple):
    """A patch in the form of Codex's `apply_patch`."""

    patch: str


Edit = Replacement | WholeFile | PatchText
# What the whole input of a tool says; nothing if it is not what the tool is known to be given.
Editing = Callable[[Mapping[str, Any]], tuple[Edit, ...]]
NO_EDITS: Mapping[str, Editing] = {}
_KINDS: Mapping[str, type[Edit]] = {
    "replace": Replacement,
    "write": WholeFile,
    "patch": PatchText,
}


def replaces(path: str, old: str, new: str, every: Iterable[str]) -> Editing:
    """Return how to read a tool that replaces one text; one of `every` says: wherever it is."""
    flags = tuple(every)

    def read(given: Mapping[str, Any]) -> tuple[Edit, ...]:
        named, before, after = (given.get(each) for each in (path, old, new))
        if not (isinstance(named, str) and isinstance(before, str) and isinstance(after, str)):
            return ()
        return (Replacement(named, before, after, _times(given, flags)),)

    return read


def replaces_several(several: str, path: str, editing: Editing) -> Editing:
    """Return how to read a tool that is given a list of replacements in one file."""

    def read(given: Mapping[str, Any]) -> tuple[Edit, ...]:
        found: list[Edit] = []
        those = given.get(several)
        for each in those if isinstance(those, list) else ():
            one = editing({path: given.get(path), **each}) if isinstance(each, dict) else ()
            if not one:
                return ()
            found += one
        return tuple(found)

    return read


def writes(path: str, content: str) -> Editing:
    """Return how to read a tool that writes a whole file."""

    def read(given: Mapping[str, Any]) -> tuple[Edit, ...]:
        named, held = given.get(path), given.get(content)
        if not (isinstance(named, str) and isinstance(held, str)):
            return ()
        return (WholeFile(named, held),)

    return read


def patches(field: str) -> Editing:
    """Return how to read a tool that is given a patch."""

    def read(given: Mapping[str, Any]) -> tuple[Edit, ...]:
        patch = given.get(field)
        return (PatchText(patch),) if isinstance(patch, str) and patch else ()

    return read


def as_records(edits: Iterable[Edit]) -> list[dict[str, Any]]:
    """Return edits as JSON objects."""
    names = {kind: name for name, kind in _KINDS.items()}
    return [{"kind": names[type(each)], **each._asdict()} for each in edits]


def from_records(records: object) -> tuple[Edit, ...]:
    """Return the edits that were written as JSON objects; one that is not known is left out."""
    found: list[Edit] = []
    for each in mappings(records):
        match text(each.get("kind")):
            case "replace":
                path, old, new = (text(each.get(name)) for name in ("path", "old", "new"))
                found.append(Replacement(path, old, new, whole(each.get("times"))))
            case "write":
                found.append(WholeFile(text(each.get("path")), text(each.get("content"))))
            case "patch":
                found.append(PatchText(text(each.get("patch"))))
            case _:
                continue
    return tuple(found)


def _times(given: Mapping[str, Any], flags: tuple[str, ...]) -> int:
    """Return how often the text may be there: by a flag, or as Gemini CLI was told it."""
    if any(given.get(flag) is True for flag in flags):
        return 0
    expected = given.get("expected_replacements")
    if isinstance(expected, int) and not isinstance(expected, bool) and expected > 0:
        return expected
    return 1
