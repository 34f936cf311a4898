"""What a first start finds, and whether it was shown. ``terminal/begun`` in the home says that."""

import os
from contextlib import suppress

from siding.ground.namedtuples import NamedTuple
from siding.guard.guard import Guard
from siding.record.place.wiring import App


class Found(NamedTuple):
    """What the first start says."""

    agents: tuple[str, ...]  # that are installed
    guard: Guard
    hooks: int  # projects whose repository brings hooks that nobody has allowed or refused

    @property
    def agents_line(self) -> str:
        """Which agents there are."""
        if not self.agents:
            return "Agents found: none on the path; any command can be run as one."
        return f"Agents found: {', '.join(self.agents)}."


def is_first(app: App) -> bool:
    """Tell whether the first start was not shown yet in this home."""
    return not os.path.lexists(app.home.terminal_dir / "begun")


def remember(app: App) -> None:
    """Keep that it was shown."""
    with suppress(OSError):  # a home that cannot be written: it is shown again
        app.home.terminal_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        (app.home.terminal_dir / "begun").touch(mode=0o600)
