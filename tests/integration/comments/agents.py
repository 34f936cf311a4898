"""Two agents that live in a task, each with a terminal; what each is given is in a file."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from integration.undo.desk import Desk

_LONGEST_S = 60.0


@contextmanager
def two_agents(desk: Desk, directory: Path) -> Iterator[None]:
    """Let runs `first`, of claude, and `second`, of codex, live until the block ends."""
    desk.sandbox.siding("guard", "off")
    for name, agent in (("first", "claude"), ("second", "codex")):
        program = directory / agent
        program.write_text(f"#!/bin/sh\nexec cat >{name}\n")
        program.chmod(0o755)
        desk.sandbox.siding("run", "--detach", "--tty", "--name", name, "--", str(program))
    try:
        yield
    finally:
        desk.sandbox.siding("stop", "--all", status=None)


def until_reads(desk: Desk, name: str, wanted: bytes) -> None:
    """Wait until an agent has been given this."""
    end = time.monotonic() + _LONGEST_S
    while wanted not in desk.read(name):
        assert time.monotonic() < end
        time.sleep(0.02)
