"""What is being typed for an agent: a text in which long pastes and pictures are short labels.

A paste of many lines is one label, `[12 pasted lines]`, so that the text stays readable; what is
sent has the lines. A label that was deleted or changed is text: nothing is sent for it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from shlex import split

from siding.chat.pictures import Picture, picture_at
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple

_LINES, _CHARACTERS = 5, 1_000  # more than so many are a label
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Prompt(NamedTuple):
    """What is sent: the words, and the pictures that go along."""

    words: str
    pictures: tuple[Picture, ...] = ()


class Labels:
    """The labels of one prompt that is being typed."""

    def __init__(
        self, pasted: Mapping[str, str] | None = None, paths: Mapping[str, str] | None = None
    ) -> None:
        self._pasted = dict(pasted or {})
        self._paths = dict(paths or {})
        self._pictures: dict[str, Picture] = {}  # of the clipboard: they are nowhere else

    def paste(self, text: str) -> str:
        """Return what to put into the text for a paste: itself, or the label of many lines."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + 1
        if lines <= _LINES and len(text) <= _CHARACTERS:
            return text
        size = f"{lines:,} pasted lines" if lines > _LINES else f"{len(text):,} pasted characters"
        label = self._new(size)
        self._pasted[label] = text
        return label

    def picture(self, path: str) -> str:
        """Return the label of a picture in a file. It is read when the prompt is sent."""
        label = self._new(f"picture {Path(path).name}")
        self._paths[label] = path
        return label

    def clipboard(self, picture: Picture) -> str:
        """Return the label of a picture of the clipboard."""
        label = self._new("picture of the clipboard")
        self._pictures[label] = picture
        return label

    def expanded(self, text: str) -> str:
        """Return a text with the lines of its pastes in place of their labels."""
        if not self._pasted:
            return text
        labels = re.compile("|".join(map(re.escape, self._pasted)))
        return labels.sub(lambda found: self._pasted[found[0]], text)

    def prompt(self, text: str, cwd: Path) -> Prompt:
        """Return what a text means. Raises UsageError for a picture that cannot be read."""
        pictures = []
        for label in (*self._paths, *self._pictures):
            if label in text:
                found = self._pictures.get(label)
                pictures.append(found or picture_at(self._paths[label], cwd))
                text = text.replace(label, "")
        return Prompt(self.expanded(text).strip(), tuple(pictures))

    def kept(self, text: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the pastes and the files of the labels that a text still has."""
        pasted = {label: each for label, each in self._pasted.items() if label in text}
        return pasted, {label: each for label, each in self._paths.items() if label in text}

    def _new(self, what: str) -> str:
        label, number = f"[{what}]", 1
        while label in self._pasted or label in self._paths or label in self._pictures:
            number += 1
            label = f"[{what}, {number}]"
        return label


def picture_named(pasted: str, cwd: Path) -> str:
    """Return the path if a whole paste is the name of one picture that is there; else "".

    Terminals paste the name of a file that is dropped on them, quoted or with backslashes.
    """
    said = pasted.strip()
    if not said or "\n" in said or not said.rstrip("'\"").lower().endswith(_PICTURES):
        return ""
    for name in (said.removeprefix("file://"), _unquoted(said)):
        if name:
            try:
                picture_at(name, cwd)
            except SidingError:
                continue
            return name
    return ""


def _unquoted(said: str) -> str:
    try:
        words = split(said)
    except ValueError:
        return ""
    return words[0] if len(words) == 1 else ""
