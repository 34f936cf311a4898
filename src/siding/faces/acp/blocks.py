"""The blocks of a prompt, as the words and the pictures that an agent is given."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from siding.chat.pictures import Picture, picture_in
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple


class Said(NamedTuple):
    """A prompt."""

    words: str
    pictures: tuple[Picture, ...] = ()


def said_in(blocks: object, root: str) -> Said:
    """Return what the blocks say. Files below `root` are named as they are in the workspace.

    Raises UsageError for a kind of block that no agent takes.
    """
    if not isinstance(blocks, list) or not all(isinstance(each, Mapping) for each in blocks):
        raise UsageError("`prompt` is no list of blocks")
    words: list[str] = []
    pictures: list[Picture] = []
    for block in blocks:
        for part in _parts(block, root):
            if isinstance(part, Picture):
                pictures.append(part)
            else:
                words.append(part)
    return Said(_joined(words), tuple(pictures))


def media_type_of(name: str) -> str:
    """Return the kind of a picture by the name of its file."""
    return "image/" + name.rpartition(".")[2].lower().replace("jpg", "jpeg")


def _parts(block: Mapping[str, Any], root: str) -> Iterator[str | Picture]:
    match block.get("type"):
        case "text":
            yield str(block.get("text", ""))
        case "resource_link":
            yield named(str(block.get("uri", "")), root)
        case "resource":
            resource = block.get("resource")
            yield _embedded(resource if isinstance(resource, Mapping) else {}, root)
        case "image":
            yield _picture(block.get("data"))
        case other:
            raise UsageError(
                f"a block of the kind {other!r} cannot be passed on",
                hint="text, images, links to resources and embedded texts can",
            )


def named(uri: str, root: str) -> str:
    """Return how a resource is named to the agent: ``@src/a.py``, a path, or its URI.

    The agent works in a workspace of its own: a file of the checkout has the same name in there.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file" or not parts.path:
        return uri
    path = PurePosixPath(unquote(parts.path))
    lines = f":{parts.fragment.removeprefix('L')}" if parts.fragment else ""
    if path.is_relative_to(root):
        return f"@{path.relative_to(root)}{lines}"
    return f"{path}{lines}"


def _embedded(resource: Mapping[str, Any], root: str) -> str:
    name = named(str(resource.get("uri", "")), root)
    said = resource.get("text")
    if not isinstance(said, str):
        raise UsageError(
            f"{name}: an embedded file that is no text cannot be passed on",
            hint="link to it, or attach it as an image",
        )
    fence = "`" * max(3, max(map(len, re.findall("`+", said)), default=0) + 1)
    end = "" if said.endswith("\n") or not said else "\n"
    return f"\n\n{name}:\n{fence}\n{said}{end}{fence}\n"


def _picture(data: object) -> Picture:
    try:
        return picture_in(base64.b64decode(str(data), validate=True), "an image of the prompt")
    except (binascii.Error, ValueError):
        raise UsageError("the data of an image is no base64") from None


def _joined(words: Sequence[str]) -> str:
    """Join the parts as they follow each other; two that would run into one get a blank."""
    joined = ""
    for each in words:
        needs = joined and each and not joined[-1].isspace() and not each[0].isspace()
        joined += (" " if needs else "") + each
    return joined.strip("\n")
