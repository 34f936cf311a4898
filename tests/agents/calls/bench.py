"""Call an agent through the port, as the engine of workflows does."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from agents.calls.subjects import Subject
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.engine.ports import AgentCall, Attempt, Report
from siding.workflows.outcome import Outcome

Got = TypeVar("Got")
NAME = "tried"  # of the agent, in the settings


class Bench:
    """A task, and one agent in its settings."""

    def __init__(self, subject: Subject, **settings: Any) -> None:
        self.subject = subject
        self.task = subject.task
        self.configure(**settings)

    def configure(self, **settings: Any) -> None:
        """Write the settings anew; a real client's address changes with each server."""
        said = {"version": 1, "workflows": {"agents": {NAME: self.subject.settings() | settings}}}
        (self.task.project / "config.yaml").write_text(json.dumps(said))

    def agents(self) -> ProgramAgents:
        project = require_project(open_app(env=dict(self.task.env), cwd=self.task.repo))
        return ProgramAgents(project, project.tasks.ids()[0])

    def call(self, prompt: str, attempt: Attempt = Attempt(), **more: Any) -> Outcome:  # noqa: B008
        """Call the agent once, and return how it came out."""
        return self.loop(lambda agents: agents.run(call(prompt, **more), attempt, _nobody))

    def loop(self, work: Callable[[ProgramAgents], Coroutine[Any, Any, Got]]) -> Got:
        """Run a coroutine that is given the port."""

        async def with_agents() -> Got:
            return await work(self.agents())

        return asyncio.run(with_agents())


def call(prompt: str, number: int = 1, **more: Any) -> AgentCall:
    """Return a call of the agent."""
    return AgentCall(id=number, path=str(number), prompt=prompt, agent_type=NAME, **more)


def _nobody(_report: Report) -> None:
    pass
