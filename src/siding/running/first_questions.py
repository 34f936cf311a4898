"""Say what an agent asks on its screen before it can report, and note it for whoever watches."""

from collections.abc import Mapping
from typing import Any

from siding.agents.start_questions import SAYS, homes_in, start_questions
from siding.agents.table import Agent
from siding.ground.process.command import Command
from siding.record.place.wiring import App


def first_questions(
    app: App, agent: Agent, command: Command, *, reports: bool
) -> Mapping[str, Any]:
    """Return what the record of a run has of its agent's first questions; {} if nobody can tell."""
    found = start_questions(agent.name, command.argv, command.cwd, command.env)
    if found is None:
        return {}
    if found:
        asked = ", ".join(SAYS[each] for each in found)
        app.warn(f"{agent.title} will wait for you on its screen: {asked}")
    return {
        "first": [each.value for each in found],
        "env": homes_in(command.env),
        "reports": reports,
    }
