"""The imports of an instruction file: ``@path`` in its text, as Claude Code has them.

Not in code: neither in blocks nor between backticks. Most words that begin with ``@`` are no
imports but names of people and packages; whether there is such a file tells them apart.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\])+)")
_ENDS_SENTENCE = ".,;:!?)]}'\"*_"


@lru_cache(maxsize=32)  # the same files are looked at before each prompt
def imports_of(text: str) -> tuple[str, ...]:
    """Return what a text imports, each once, in its order. ``\\ `` is a blank in a name."""
    if _IMPORT.search(text) is None:
        return ()
    names = (
        match.replace("\\ ", " ").partition("#")[0]
        for part in _prose(text)
        for match in _IMPORT.findall(part)
    )
    return tuple(dict.fromkeys(name for name in names if _is_path(name)))


def spellings(name: str) -> Iterator[str]:
    """Yield the name, and the name without what may end the sentence that it is in."""
    yield name
    shorter = name.rstrip(_ENDS_SENTENCE)
    if shorter not in ("", name):
        yield shorter


def resolved(name: str, directory: Path, home: Path) -> Path:
    """Return the path of an import in a file of the directory. The disk is not asked."""
    if name == "~" or name.startswith("~/"):
        return Path(os.path.normpath(home / name[2:]))
    return Path(os.path.normpath(directory / name))


def _is_path(name: str) -> bool:
    return re.match(r"~/.|\.{0,2}/.|[\w.-]", name) is not None


def _prose(text: str) -> Iterator[str]:
    """Yield the parts of a Markdown text that are no code."""
    for token in _parser().parse(text):
        for child in token.children or ():
            if child.type == "text":
                yield child.content


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Only what code can be in: everything else would cost time and change nothing.
    kinds = ["fence", "code", "list", "blockquote", "html_block", "backticks"]
    return MarkdownIt("zero", {"html": True}).enable(kinds)
