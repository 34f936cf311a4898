"""Files in memory, for what reads instruction files through the port."""

from collections.abc import Mapping
from pathlib import Path

from siding.assistant.loop.instructions import (
    ROOM,
    Found,
    Instructions,
    Places,
    Room,
    Why,
    at_start,
    gather,
)

ROOT = Path("/work/repo")
HOME = Path("/home/ada")
MACHINE = Path("/etc/siding/AGENTS.md")
PLACES = Places(root=ROOT, directory=ROOT, home=HOME, config=HOME / ".config", machine=MACHINE)


class Tree:
    """A file system of texts, of links (to a path) and of what cannot be read."""

    def __init__(self, files: Mapping[str, str | Path | Why]) -> None:
        self.files = {ROOT / name: each for name, each in files.items()}
        self.looked_at: list[Path] = []

    def read(self, path: Path, roots: tuple[Path, ...]) -> Found | Why | None:
        self.looked_at.append(path)
        here = self.files.get(path)
        while isinstance(here, Path):
            path, here = here, self.files.get(here)
        if here is None or isinstance(here, Why):
            return here
        if roots and not any(map(path.is_relative_to, roots)):
            return Why.OUTSIDE
        return Found(path, here, len(here.encode()))

    def gathered(self, places: Places = PLACES, room: Room = ROOM) -> Instructions:
        """Return what is there at the start."""
        return gather(at_start(places), self.read, home=places.home, room=room)


def names(instructions: Instructions) -> list[str]:
    """Return the names of the files that are shown, in their order."""
    return [each.name for each in instructions.files]
