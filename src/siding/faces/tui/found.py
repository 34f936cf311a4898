"""What a first start finds, and whether it was shown. ``terminal/begun`` in the home says that."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from siding.agents.start_questions import Question, start_questions
from siding.agents.table import AGENTS
from siding.ground.namedtuples import NamedTuple
from siding.guard.guard import Guard
from siding.record.place.wiring import App

_FIRST = (
    (Question.FIRST_START, "never started here"),
    (Question.LOGIN, "not logged in"),
)


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


def installed(env: Mapping[str, str], cwd: Path) -> tuple[str, ...]:
    """Return the programs of agents that are on the path, with what each asks first.

    Whether one is logged in is looked up in its own files; where they do not say it, neither do we.
    """
    path = env.get("PATH", "")
    found = []
    for agent in AGENTS:
        program = next((each for each in agent.programs if shutil.which(each, path=path)), "")
        if program:
            asked = start_questions(agent.name, (program,), cwd, env) or ()
            first = next((said for question, said in _FIRST if question in asked), "")
            found.append(f"{program} ({first})" if first else program)
    return tuple(found)
