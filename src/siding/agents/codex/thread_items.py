"""What the items of a Codex thread say: its tools, and what they change in files.

An item is a message, a thought or the call of a tool. It is told of as it starts and as it ends,
with the same id.
"""

import json
import os
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from siding.agents.talking.port import Edit, ToolEnded, ToolStarted
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, said, text

Item = Mapping[str, Any]
_SHELL_WORDS = 3  # bash -lc SCRIPT
_FAILED = frozenset({"failed", "declined", "interrupted"})
_LOOKS = {"read": "read", "listFiles": "search", "search": "search"}


class _Shown(NamedTuple):
    """How a call is shown as it starts."""

    name: str
    title: str
    kind: str = "other"
    input: Mapping[str, Any] = {}


def tool_started(item: Item, inside: str = "") -> ToolStarted | None:
    """Return the call of a tool that an item is; None if it is none."""
    shown = _SHOWN.get(text(item.get("type")))
    if shown is None:
        return None
    found = shown(item)
    return ToolStarted(
        call=text(item.get("id")),
        name=found.name,
        title=found.title,
        kind=found.kind,
        input=found.input,
        edits=edits_of(item),
        inside=inside,
    )


def tool_ended(item: Item) -> ToolEnded:
    """Return how the call of a tool has ended."""
    has_failed = text(item.get("status")) in _FAILED or item.get("success") is False
    return ToolEnded(
        call=text(item.get("id")),
        failed=has_failed,
        text=_outcome(item),
        edits=() if has_failed else edits_of(item),
    )


def edits_of(item: Item) -> tuple[Edit, ...]:
    """Return what an item changes in files."""
    return tuple(_edit(each) for each in mappings(item.get("changes")))


def line_for_the_shell(command: str) -> str:
    """Return the script of ``/bin/bash -lc SCRIPT``, which is how Codex says each command."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) != _SHELL_WORDS or words[1] not in ("-c", "-lc"):
        return command
    is_shell = os.path.basename(words[0]) in ("sh", "bash", "zsh", "dash")
    return words[2] if is_shell else command


def kind_of_command(actions: object) -> str:
    """Return what a command does, as Codex itself has understood it (`commandActions`)."""
    kinds = [_LOOKS.get(text(each.get("type")), "execute") for each in mappings(actions)]
    return kinds[0] if kinds and "execute" not in kinds else "execute"


def _edit(change: Mapping[str, Any]) -> Edit:
    path, diff = text(change.get("path")), text(change.get("diff"))
    kind = mapping(change.get("kind"))
    match kind.get("type"):
        case "add":  # the diff is the whole of the text
            return Edit(path=path, new=diff)
        case "delete":
            return Edit(path=path, old=diff)
    moved = text(kind.get("move_path"))
    diff = diff.removesuffix(f"\n\nMoved to: {moved}")  # Codex says it behind the last hunk
    head = f"rename from {path}\nrename to {moved}\n" if moved else ""
    return Edit(path=moved or path, patch=f"{head}--- {path}\n+++ {moved or path}\n{diff}")


def _command(item: Item) -> _Shown:
    line = line_for_the_shell(text(item.get("command")))
    return _Shown(
        name="shell",
        title=line,
        kind=kind_of_command(item.get("commandActions")),
        input=said(command=line, cwd=text(item.get("cwd"))),
    )


def _file_change(item: Item) -> _Shown:
    edits = edits_of(item)
    names = ", ".join(os.path.basename(edit.path) for edit in edits)
    is_gone = bool(edits) and all(edit.new is None and not edit.patch for edit in edits)
    return _Shown(
        name="apply_patch",
        title=f"{'delete' if is_gone else 'edit'} {names}".rstrip(),
        kind="delete" if is_gone else "edit",
        input=said(paths=[edit.path for edit in edits]),
    )


def _tool_of_server(item: Item) -> _Shown:
    space = text(item.get("server") or item.get("namespace"))
    name = ".".join(filter(None, (space, text(item.get("tool")))))
    return _Shown(name=name, title=name, input=mapping(item.get("arguments")))


def _helper(item: Item) -> _Shown:
    name = text(item.get("tool"))
    return _Shown(name=name, title=name, input=said(prompt=text(item.get("prompt"))))


def _web_search(item: Item) -> _Shown:
    action = mapping(item.get("action"))
    address, query = text(action.get("url")), text(item.get("query"))
    kind = "fetch" if address else "search"
    return _Shown("web_search", address or query, kind, said(query=query, url=address))


def _image(item: Item) -> _Shown:
    path = text(item.get("path"))
    return _Shown("view_image", os.path.basename(path), "read", said(path=path))


def _picture_made(_item: Item) -> _Shown:
    return _Shown("image_generation", "make a picture")


_SHOWN: Mapping[str, Callable[[Item], _Shown]] = {
    "commandExecution": _command,
    "fileChange": _file_change,
    "mcpToolCall": _tool_of_server,
    "dynamicToolCall": _tool_of_server,
    "collabAgentToolCall": _helper,
    "webSearch": _web_search,
    "imageView": _image,
    "imageGeneration": _picture_made,
}


def _outcome(item: Item) -> str:
    """Return what a tool has printed or answered."""
    if item.get("aggregatedOutput"):
        return text(item.get("aggregatedOutput"))
    error = text(mapping(item.get("error")).get("message"))
    if error:
        return error
    answered = mapping(item.get("result")).get("content") or item.get("contentItems")
    pieces = [text(each.get("text") or _as_json(each)) for each in mappings(answered)]
    return "\n".join(pieces)


def _as_json(content: Mapping[str, Any]) -> str:
    """Return a content that is no text; the bytes of a picture are left out."""
    return json.dumps({name: value for name, value in content.items() if name != "data"})
