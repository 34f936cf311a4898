"""A conversation with any program that answers lines: `siding.agents.talking.any_program`."""

import os

from siding.agents.table import BY_PROGRAM
from siding.agents.talking.any_program import name_of_program
from siding.agents.talking.port import TALKING
from siding.ground.errors import UsageError


def line_agent(program: str) -> str:
    """Return what the conversation calls its agent. Raises UsageError for one that has a protocol:
    its own screen answers no lines.
    """
    known = BY_PROGRAM.get(os.path.basename(program))
    if known is not None and TALKING.of(known.name) is not None:
        raise UsageError(
            f"{known.name} is held over its own protocol, and not by lines",
            hint=f"siding chat {known.name}",
        )
    return name_of_program(program)
