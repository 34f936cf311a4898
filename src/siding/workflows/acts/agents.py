"""The agents of a run: those of the settings, with what the run says of calls that say nothing."""

from collections.abc import Callable

from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.workflows.acts.request import WorkflowOptions
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.calls import AgentCall, Attempt
from siding.workflows.engine.ports import Agents, Report
from siding.workflows.outcome import Outcome


class _WithDefaults:
    """Agents whose calls have the agent and the model of the run, if they name none."""

    def __init__(self, agents: Agents, options: WorkflowOptions) -> None:
        self._agents = agents
        self._options = options

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        known = call._replace(
            agent_type=call.agent_type or self._options.agent_type,
            model=call.model or self._options.model,
        )
        return await self._agents.run(known, attempt, report)


def make_agents(project: Project, task: Task, run_id: str, options: WorkflowOptions) -> Agents:
    """Return what runs the agents of a run."""
    agents = ProgramAgents(project, task.id, sandbox=options.sandbox, group=run_id)
    return _WithDefaults(agents, options)
