"""The person's editor."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from siding.process.attached import become
from siding.process.lookup import Program, find_program

EDITORS = ("SIDING_EDITOR", "VISUAL", "EDITOR")  # variables, the first that is set wins
_USUAL = ("code", "cursor", "zed", "subl", "nvim", "vim", "nano", "vi")


def find_editor(env: Mapping[str, str]) -> str | None:
    """Return the first of the usual editors that is installed."""
    for name in _USUAL:
        if isinstance(find_program([name], env, Path("/")), Program):
            return name
    return None


def open_in(command: Sequence[str], place: Path, *, env: Mapping[str, str]) -> NoReturn:
    """Become the editor, started in the directory `place` and told to open it; or CannotStart."""
    become([*command, "."], env={**env, "PWD": str(place)}, cwd=place)
