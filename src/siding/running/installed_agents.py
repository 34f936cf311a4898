"""Which agents are on the path, and what each would ask before it can work."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from siding.agents.start_questions import Question, start_questions
from siding.agents.table import AGENTS

_FIRST = (
    (Question.FIRST_START, "never started here"),
    (Question.LOGIN, "not logged in"),
)


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
