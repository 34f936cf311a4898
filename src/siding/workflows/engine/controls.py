"""What a person may do with single agents of a run that lives."""

import asyncio
from enum import StrEnum

from siding.workflows.outcome import Outcome


class Control(StrEnum):
    """What is to become of an agent's call."""

    SKIP = "skip"  # the script goes on without it
    RETRY = "retry"  # its attempt is ended, and another one begins
    KILL = "kill"  # its attempt is ended; it failed


class Running:
    """An agent's call that is not answered, and what a person wants of it."""

    def __init__(self) -> None:
        self.wanted: Control | None = None
        self.attempt: asyncio.Task[Outcome] | None = None
        self.waits = asyncio.Event()  # set: whoever waits between attempts goes on

    def take(self) -> Control | None:
        """Return what is wanted, and forget it."""
        wanted, self.wanted = self.wanted, None
        self.waits.clear()
        return wanted

    def want(self, control: Control) -> None:
        """Let a control take effect."""
        self.wanted = control
        self.waits.set()
        if self.attempt is not None:
            self.attempt.cancel()
