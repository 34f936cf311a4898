"""Which agents a workflow's calls are given to."""

from collections.abc import Callable

from siding.app.place.project import Project
from siding.app.workflows.request import WorkflowOptions
from siding.tasks.task import Task
from siding.workflows.calls import AgentCall, Attempt
from siding.workflows.engine.ports import Agents, AgentUnavailable, Report
from siding.workflows.outcome import Outcome


class _None:
    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        del attempt, report
        raise AgentUnavailable(f"there is no agent for {call.name}")


def make_agents(project: Project, task: Task, run_id: str, options: WorkflowOptions) -> Agents:
    """Return what runs the agents of a run."""
    del project, task, run_id, options
    return _None()
