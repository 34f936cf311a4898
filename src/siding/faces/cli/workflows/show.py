"""Show a run of a workflow: its phases, its agents with their steps, what it returned or why not.

RUN is an id, the beginning of one, or `last`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert

if TYPE_CHECKING:
    from siding.workflows.acts.views import AgentState, RunView


_MESSAGES = 8


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", metavar="RUN", help="default: last")
    parser.add_argument("--agent", type=int, metavar="N", help="one agent: prompt, result, work")
    parser.add_argument("--json", action="store_true", help="the state as JSON")
    parser.add_argument("--result", action="store_true", help="only what the script returned")
    parser.add_argument("--script", action="store_true", help="only the script")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.workflow_lines import result_text
    from siding.record.place.project import require_project
    from siding.workflows.acts.views import run_view

    view = run_view(require_project(context.app), arguments.run)
    screen = context.screen
    if arguments.script:
        screen.print(inert(view.folder.source(), lines=True).rstrip("\n"))
    elif arguments.json:
        print_json(screen, view.state.fields())
    elif arguments.result:
        screen.print(inert(result_text(view.state.value), lines=True))
    elif arguments.agent is not None:
        return _show_agent(context, view, arguments.agent)
    else:
        _show(context, view)
    return 0


def _show(context: Context, view: RunView) -> None:
    from siding.faces.cli.telling.workflow_lines import (
        agent_line,
        result_text,
        run_line,
        status_text,
    )
    from siding.workflows.acts.views import way_on

    screen, state = context.screen, view.state
    screen.print(f"{run_line(state)}  {status_text(screen, state.status)}")
    if state.description:
        screen.print(screen.style(inert(state.description), "dim"))
    for phase, agents in _by_phase(view):
        screen.print()
        done = sum(agent.status == "done" for agent in agents)
        screen.print(screen.style(f"{inert(phase)}  {done}/{len(agents)}", "bold"))
        for agent in agents:
            screen.print(f"  {agent_line(agent)}")
    for question in state.waits:
        screen.print(screen.style(f"? waits for you: {inert(question)}", "yellow"))
    if state.messages:
        screen.print()
        for text, is_warning in state.messages[-_MESSAGES:]:
            screen.print(screen.style(inert(text), "yellow" if is_warning else "dim"))
    screen.print()
    if state.error:
        where = f"line {state.error_line}: " if state.error_line else ""
        screen.print(screen.style(f"{where}{inert(state.error)}", "red"))
    if state.value is not None:
        screen.print(inert(result_text(state.value), lines=True))
    if said := way_on(state):
        screen.note(said)


def _show_agent(context: Context, view: RunView, number: int) -> int:
    from siding.faces.cli.telling.workflow_lines import agent_line

    agent = next((each for each in view.state.agents if each.id == number), None)
    screen = context.screen
    if agent is None:
        screen.warn(f"the run has no agent #{number}")
        return 1
    screen.print(agent_line(agent))
    for name, value in _facts(agent):
        if value:
            screen.print(f"{name:<10} {inert(value)}")
    for title, text in (("PROMPT", agent.prompt), ("RESULT", agent.says)):
        if text:
            screen.print()
            screen.print(screen.style(title, "dim"))
            screen.print(inert(text, lines=True))
    return 0


def _facts(agent: AgentState) -> tuple[tuple[str, str], ...]:
    work = agent.work
    task = work.fork or work.task
    shown = f"siding show {f'-t {task} ' if task else ''}{work.step.lstrip('0')}"
    return (
        ("phase", agent.phase),
        ("place", agent.path),
        ("type", agent.agent_type),
        ("step", f"{work.step}   {shown}" if work.step else ""),
        ("session", work.session and f"{work.session}   siding session show {work.session}"),
        ("fork", work.fork),
        ("failed", f"{agent.reason}: {agent.detail}" if agent.reason else ""),
    )


def _by_phase(view: RunView) -> list[tuple[str, list[AgentState]]]:
    """Return the agents by phase: as declared, then as they came; those without one last."""
    state = view.state
    titles = [*state.declared, *(title for title, _status in state.phases)]
    titles += [agent.phase for agent in state.agents]
    found = []
    for title in dict.fromkeys(titles):
        agents = [agent for agent in state.agents if agent.phase == title]
        if title or agents:
            found.append((title or "(no phase)", agents))
    return found
