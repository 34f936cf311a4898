"""The agent whose answers are written down (`scripted_program`)."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.headless.output import EventLines
from siding.agents.headless.port import CUT_OFF, Ask, Invocation, Stream

_PROGRAM = str(Path(__file__).with_name("scripted_program.py"))


class ScriptedHeadless:
    """It takes a schema in the sense that its table has the object."""

    says_end = True
    has_answer = False

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return True

    def invoked(self, ask: Ask) -> Invocation:
        how = ("--resume", ask.session) if ask.session else ("--session", ask.new_session)
        return Invocation(
            argv=(*ask.program, *ask.options, *how),
            stdin=ask.prompt.removeprefix(CUT_OFF),
            session=ask.session or ask.new_session,
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return EventLines()


HEADLESS = ScriptedHeadless()


def command(answers: str) -> tuple[str, ...]:
    """Return how the command line begins that answers from a table, whose path is absolute."""
    return (sys.executable, _PROGRAM, "--answers", answers)
