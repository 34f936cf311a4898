"""What a tool changes in files, as the diffs and places of a tool call."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Hunk(NamedTuple):
    """A part of a file that changes, with the lines around it. `line` is its first one, from 1."""

    line: int
    old: str
    new: str


class Shown(NamedTuple):
    """The diffs in the content of a tool call, and the places that an editor may go to."""

    content: list[dict[str, Any]]
    places: list[dict[str, Any]]


def shown_edits(edits: Sequence[Mapping[str, Any]], workspace: str) -> Shown:
    """Return the edits of a line of a story as the protocol has them: paths are absolute."""
    content: list[dict[str, Any]] = []
    places: list[dict[str, Any]] = []
    for edit in edits:
        path = posixpath.normpath(posixpath.join(workspace, str(edit.get("path", ""))))
        patch = edit.get("patch")
        if isinstance(patch, str) and patch:
            hunks = list(hunks_of(patch))
            content += [_diff(path, each.old, each.new) for each in hunks]
            places += [{"path": path, "line": each.line} for each in hunks[:1]]
            if hunks:
                continue
            content.append(_text(f"{path}\n\n{patch}"))
        else:
            old, new = edit.get("old"), edit.get("new")
            content.append(_diff(path, old if isinstance(old, str) else None, str(new or "")))
        places.append({"path": path})
    return Shown(content, places)


def hunks_of(patch: str) -> Iterator[Hunk]:
    """Yield the hunks of a unified patch; what stands before and between them is passed over."""
    lines = iter(_LINE.findall(patch))
    said = next(lines, None)
    while said is not None:
        found = _HUNK.match(said)
        said = next(lines, None)
        if found is None:
            continue
        old_left, new_left = int(found[1] or 1), int(found[3] or 1)
        old: list[str] = []
        new: list[str] = []
        sides: list[list[str]] = []  # of the line before
        while said is not None and (old_left > 0 or new_left > 0 or said.startswith("\\")):
            kind, words = said[0], said[1:]
            if kind == "\\":  # the line before has no newline
                for side in sides:
                    side[-1] = side[-1].removesuffix("\n")
            else:
                sides = {"-": [old], "+": [new]}.get(kind, [old, new])
                for side in sides:  # an empty line may stand without its blank
                    side.append(words if kind in " -+" else said)
                old_left -= kind != "+"
                new_left -= kind != "-"
            said = next(lines, None)
        yield Hunk(max(1, int(found[2])), "".join(old), "".join(new))


def _diff(path: str, old: str | None, new: str) -> dict[str, Any]:
    return {
        "type": "diff",
        "path": path,
        "newText": new,
        **({} if old is None else {"oldText": old}),
    }


def _text(said: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": said}}
