"""Say where the versions are that other programs wrote while an act moved files."""

from pathlib import Path
from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import Screen

if TYPE_CHECKING:
    from siding.record.recording.steps import Step


def tell_kept(screen: Screen, home: Path, step: "Step | None") -> None:
    """Print where the versions are that others wrote while the act of `step` moved files.

    `home` is the project's directory.
    """
    for path in () if step is None else step.kept:
        screen.warn(f"a file was written during this by another program: kept as {home / path}")
