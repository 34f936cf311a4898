"""What an agent may ask its broker, as tools of the Model Context Protocol over standard streams.

Each call has a connection of its own, since calls may wait beside each other: for a person, above
all. A client may limit how long a tool takes. So a question that is not answered in time is told as
that, with its session; it stays open, and the next call goes on waiting for it.

The protocol is the SDK's (`mcp`): it speaks both of its eras. Only `siding mcp` loads this module.
"""

from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, TypeVar

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from siding import __version__
from siding.broker.inside import Inside
from siding.ground.errors import SidingError, counted
from siding.ground.storage.fields import mapping, mappings, text
from siding.workflows.acts.scripts import guide

_Tool = TypeVar("_Tool", bound=Callable[..., Any])
_NOT_ANSWERED = "not_answered"
_ABOUT = (
    "Tools of the workspace that you work in. A choice that belongs to a person (what to delete, "
    "publish or pay for, which of several ways to go) you put to a person with `ask_person`, and "
    "wait. Everything you change is recorded; `checkpoint` marks a state to come back to."
)


def tools(broker: Callable[[], Inside], *, patience_s: float) -> MCPServer[Any]:
    """Return the server of the tools; a question waits for `patience_s` seconds at a time."""
    server: MCPServer[Any] = MCPServer("siding", instructions=_ABOUT, version=__version__)

    def tool(function: _Tool) -> _Tool:
        server.add_tool(function, description=cleandoc(function.__doc__ or ""))
        return function

    @tool
    async def ask_person(
        question: str, options: list[str] | None = None, context: str = "", session: str = ""
    ) -> str:
        """Put a question to a person and wait for the answer.

        `options` are the possible answers, two or more; without them the person writes a text.
        `context` says in Markdown what the person has to know. If there is no answer yet, a session
        is returned: call this again with the same `question` and that `session`, and go on waiting.
        """
        asked = _question(question, options or [], context)
        return await told(lambda: _asked(broker(), asked, session, patience_s))

    @tool
    async def checkpoint(message: str) -> str:
        """Record the workspace as it is now, as a step that one can come back to."""
        return await told(lambda: _recorded(broker().ask("checkpoint", message=message)))

    @tool
    async def phase(move: str, summary: str, phase: str = "") -> str:
        """Move the task through its phases; the answer to a wrong `move` names those there are.

        `summary` says what was done. `phase` names one to go back to.
        """
        fields = {"move": move, "summary": summary, "phase": phase or None}
        return await told(lambda: _moved(broker().ask("phase", **fields)))

    @tool
    async def task() -> dict[str, Any]:
        """Return the task: its name, workspace, phase, newest step, and the questions that wait."""
        return dict(await told(lambda: broker().ask("status")))

    @tool
    async def note(text: str) -> str:
        """Write a note into the record of this run: why something was done, what was tried."""
        await told(lambda: broker().ask("note", text=text))
        return "noted"

    add_workflow_tools(tool, broker)
    return server


def _question(question: str, options: list[str], context: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": 1, "title": question}
    if context:
        item["context"] = context
    if options:
        item["options"] = [{"value": each, "label": each} for each in options]
    else:
        item["kind"] = "text"
    return {"task": "a question of the agent", "source": "ask_person", "items": [item]}


def _asked(broker: Inside, question: Mapping[str, Any], session: str, patience_s: float) -> str:
    if not session:
        session = text(broker.ask("ask", question=question, wait=False)["session"])
    try:
        answered = broker.ask("ask", session=session, timeout_s=patience_s)
    except SidingError as error:
        if error.code != _NOT_ANSWERED:
            raise
        return f"No answer yet. Call ask_person again with session={session} to go on waiting."
    decision = next(iter(mappings(mapping(answered["output"]).get("decisions"))), {})
    note = text(decision.get("note"))
    return text(decision.get("chosen")) + (f"\n\nThe person adds: {note}" if note else "")


def _recorded(result: Mapping[str, Any]) -> str:
    return f"recorded as step {result['step']}, {counted(result['files'], 'file')} changed"


def _moved(result: Mapping[str, Any]) -> str:
    return f"now in phase {result.get('phase')}, step {result.get('step')}"


_Result = TypeVar("_Result")


async def told(ask: Callable[[], _Result]) -> _Result:
    """Ask in a thread; what is refused is told to the model with what to do."""
    try:
        return await to_thread.run_sync(ask, abandon_on_cancel=True)
    except SidingError as error:
        raise ToolError(": ".join(filter(None, (error.message, error.hint)))) from None
    except OSError as error:
        raise ToolError(f"Siding cannot be reached: {error}") from None


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
