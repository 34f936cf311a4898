"""The tools by which an agent in a run starts workflows, looks at them and ends them."""

from collections.abc import Callable, Mapping
from typing import Any

from siding.broker.inside import Inside
from siding.broker.tool_answers import told
from siding.workflows.acts.scripts import guide

AddTool = Callable[[Callable[..., Any]], object]


def add_workflow_tools(tool: AddTool, broker: Callable[[], Inside]) -> None:
    """Add the tools to a server, by its `tool`."""

    @tool
    async def workflow(
        script: str = "",
        name: str = "",
        script_path: str = "",
        args: Any = None,
        resume: str = "",
        max_concurrency: int | None = None,
    ) -> str:
        """Run a script that starts many agents, in the background; returns the id of the run.

        Give a `script`, the `name` of a workflow, or a `script_path` in the workspace, with `args`;
        or `resume` with the id of an earlier run. Read `workflow_guide` before you write one.
        """
        fields = {
            "script": script or None,
            "name": name or None,
            "script_path": script_path or None,
            "args": args,
            "resume": resume or None,
            "max_concurrency": max_concurrency,
        }
        return _begun(await told(lambda: broker().ask("workflow", act="run", **fields)))

    @tool
    async def workflow_status(run: str) -> dict[str, Any]:
        """Return where a run of a workflow is: its phases, its agents, and what it returned."""
        return dict(await told(lambda: broker().ask("workflow", act="status", run=run)))

    @tool
    async def workflow_cancel(run: str, agent: int | None = None) -> dict[str, Any]:
        """End a run of a workflow with all its agents, or only the agent with this id."""
        asked = {"act": "cancel", "run": run, "agent": agent}
        return dict(await told(lambda: broker().ask("workflow", **asked)))

    @tool
    async def workflow_guide() -> str:
        """Return when a workflow is worth it, how to write one, and which there are by name."""
        found = await told(lambda: broker().ask("workflow", act="list"))
        lines = [f"- {each['name']}: {each['description']}" for each in found["workflows"]]
        return "\n".join([guide(), "# Workflows with a name", "", *lines])


def _begun(result: Mapping[str, Any]) -> str:
    lines = [
        "Workflow started (running in the background).",
        f"run_id: {result['run_id']}",
        f"workflow: {result['workflow']}",
        *(f"warning: {warning}" for warning in result["warnings"]),
        "",
        "`workflow_status` with this run_id tells how it goes, and what it returned.",
    ]
    return "\n".join(lines)
