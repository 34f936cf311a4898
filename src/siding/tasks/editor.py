"""Find and start the person's editor."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from siding.ground.process.attached import become
from siding.ground.process.lookup import Program, find_program

EDITORS = ("SIDING_EDITOR", "VISUAL", "EDITOR")  # variables; the first one that is set counts
_USUAL = ("code", "cursor", "zed", "subl", "nvim", "vim", "nano", "vi")


def find_editor(env: Mapping[str, str]) -> str | None:
    """Return the first well-known editor that is installed; None if there is none."""
    for name in _USUAL:
        if isinstance(find_program([name], env, Path("/")), Program):
            return name
    return None


def open_in(command: Sequence[str], place: Path, *, env: Mapping[str, str]) -> NoReturn:
    """Replace this process by the editor, opening the directory `place`; raise CannotStart."""
    become([*command, "."], env={**env, "PWD": str(place)}, cwd=place)
