"""Names of workflows, ids of runs, and which paths lie within a directory. Pure."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from posixpath import normpath

RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 8


def sanitize_workflow_name(name: str) -> str | None:
    """Return the name if it can be that of a workflow: one entry of a directory; else None."""
    if not name or name in {".", ".."} or any(letter in name for letter in "/\\\0"):
        return None
    return name if name.isprintable() and not name.startswith("-") else None


def new_run_id(random_bytes: Callable[[int], bytes]) -> str:
    """Return "w" and eight letters or digits, each equally likely."""
    letters: list[str] = []
    limit = 256 - 256 % len(_LETTERS)
    while len(letters) < _ID_LENGTH:
        some = random_bytes(_ID_LENGTH * 2)
        letters += [_LETTERS[byte % len(_LETTERS)] for byte in some if byte < limit]
    return "w" + "".join(letters[:_ID_LENGTH])


def is_run_id(text: str) -> bool:
    """Tell whether a text can be the id of a run."""
    return RUN_ID.fullmatch(text) is not None


def contains_path(directory: str, path: str) -> bool:
    """Tell whether a path, taken from `directory`, names it or lies within it. Reads no disk."""
    root = normpath(directory)
    whole = normpath(PurePosixPath(root, path).as_posix())
    return whole == root or whole.startswith(root.rstrip("/") + "/")
