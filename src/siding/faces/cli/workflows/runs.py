"""The verbs about runs of workflows: list, show, watch, steer, remove."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import duration, seconds_ago
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError

if TYPE_CHECKING:
    from siding.workflows.acts.views import AgentState, RunState, RunView, WorkflowView


_RUN = "an id, the beginning of one, or last (default: last)"
_SHOWN = 20


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("--scripts", action="store_true", help="the workflows instead of the runs")
    parser.add_argument(
        "-n", "--limit", type=int, default=_SHOWN, metavar="N", help="default: 20; 0 shows all"
    )
    add_format(parser, "table", "json")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.views import run_views, workflow_views

    project = require_project(context.app)
    if arguments.scripts:
        return _scripts(context, workflow_views(project), as_json=arguments.format == "json")
    views = run_views(project, limit=arguments.limit)
    if arguments.format == "json":
        print_json(context.screen, [view.state.fields() for view in views])
        return 0
    if not views:
        context.screen.note("no workflow was run yet; `siding workflow list --scripts` shows some")
        return 0
    now_ms = int(context.app.clock.now().timestamp() * 1000)
    print_table(
        context.screen,
        ("RUN", "WORKFLOW", "STATUS", "AGENTS", "TOKENS", "COST", "TOOK", "CHANGED"),
        [_list_row(view, now_ms) for view in views],
    )
    return 0


LIST = Verb(
    """\
List the runs of workflows, the newest first, and with `--scripts` the workflows there are.

Scripts are found in `.siding/workflows` of the repository, in `workflows` of Siding's home, and
among those that come with Siding.
""",
    _list_options,
    _list,
)


def _list_row(view: RunView, now_ms: int) -> tuple[str, ...]:
    from siding.workflows.acts.views import format_dollars, format_token_count

    state = view.state
    dead = sum(agent.result == "dead" for agent in state.agents)
    took = state.updated_at - state.started_at
    return (
        state.run_id,
        shorten(inert(state.name), 32),
        str(state.status) + (" (waits)" if state.waits else ""),
        f"{state.counted('done')}/{len(state.agents)}" + (f" {dead} failed" if dead else ""),
        format_token_count(state.tokens),
        "-" if state.dollars is None else format_dollars(state.dollars),
        duration(took) if took > 0 else "-",
        seconds_ago((now_ms - state.updated_at) // 1000) if state.updated_at else "-",
    )


def _scripts(context: Context, views: list[WorkflowView], *, as_json: bool) -> int:
    if as_json:
        print_json(context.screen, [view._asdict() for view in views])
        return 0
    print_table(
        context.screen,
        ("WORKFLOW", "FROM", "WHAT IT DOES"),
        [(inert(view.name), _origin(view), inert(_about(view))) for view in views],
    )
    return 0


def _origin(view: WorkflowView) -> str:
    return str(view.origin) + ("" if view.is_trusted else " (not allowed yet)")


def _about(view: WorkflowView) -> str:
    return f"cannot be run: {view.problem}" if view.problem else view.description or "-"


_MESSAGES = 8


def _show_options(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", metavar="RUN", help=_RUN)
    parser.add_argument("--agent", type=int, metavar="N", help="one agent: prompt, result, work")
    parser.add_argument("--json", action="store_true", help="print the state as JSON")
    parser.add_argument("--result", action="store_true", help="only what the script returned")
    parser.add_argument("--script", action="store_true", help="only the script")


def _show(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.workflows.lines import result_text
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
        _show_run(context, view)
    return 0


SHOW = Verb(
    """\
Show a run of a workflow: its phases, its agents with their steps, what it returned or why not.

RUN is an id, the beginning of one, or `last`.
""",
    _show_options,
    _show,
)


def _show_run(context: Context, view: RunView) -> None:
    from siding.faces.cli.workflows.lines import (
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
    from siding.faces.cli.workflows.lines import agent_line

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


_LOOK_S = 0.3


def _watch_options(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", metavar="RUN", help=_RUN)


def _watch(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.workflows.lines import run_line
    from siding.record.place.project import require_project
    from siding.workflows.acts.views import RunStatus, run_view

    view = run_view(require_project(context.app), arguments.run)
    seen = _Seen(context.screen)
    while True:
        state = view.folder.state() or view.state
        seen.tell(state)
        if state.status is not RunStatus.RUNNING:
            context.screen.progress("")
            context.screen.note(run_line(state))
            if state.error:
                context.screen.note(inert(state.error), "red")
            return 0 if state.status is RunStatus.COMPLETED else 1
        time.sleep(_LOOK_S)


WATCH = Verb(
    """\
Watch a run of a workflow as it goes, wherever it runs; Ctrl-C ends the watching, not the run.""",
    _watch_options,
    _watch,
)


class _Seen:
    """Prints what is new in a state."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._lines: dict[int, str] = {}
        self._phases: set[str] = set()
        self._waits: tuple[str, ...] = ()

    def tell(self, state: RunState) -> None:
        from siding.faces.cli.workflows.lines import MARKS, agent_line

        for title, _status in state.phases:
            if title not in self._phases:
                self._phases.add(title)
                self._screen.note(f"── {inert(title)}", "bold")
        for agent in state.agents:
            mark = agent.result if agent.status == "done" else "running"
            if self._lines.get(agent.id) != mark:
                self._lines[agent.id] = mark
                self._screen.note(agent_line(agent))
        if state.waits != self._waits:
            self._waits = state.waits
            for question in state.waits:
                self._screen.note(f"? waits for you: {inert(question)} (siding inbox)", "yellow")
        running = [inert(agent.name) for agent in state.agents if agent.status == "running"]
        self._screen.progress(f"{MARKS['running']} {', '.join(running[:4])}" if running else "")


_DONE = {"kill": "ended", "skip": "skipped", "retry": "begun again"}


def _steering(do: str, about: str) -> Verb:
    return Verb(about, partial(_steering_options, do=do), partial(_steer, do=do))


def _steering_options(parser: ArgumentParser, *, do: str) -> None:
    parser.add_argument("run", metavar="RUN", help="an id, the beginning of one, or last")
    if do == "kill":
        parser.add_argument(
            "agent", nargs="?", metavar="AGENT", help="this one only: name or number"
        )
    else:
        parser.add_argument(
            "agent", metavar="AGENT", help="its name, as `watch` shows it, or number"
        )


def _steer(arguments: Namespace, context: Context, *, do: str) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.control import agent_in, request
    from siding.workflows.acts.views import run_view

    view = run_view(require_project(context.app), arguments.run)
    folder = view.folder
    agent = None if arguments.agent is None else agent_in(view.state, arguments.agent)
    hit = request(folder, do, agent)
    name = f"agent #{agent}" if agent is not None else f"run {folder.run_id}"
    if not hit:
        context.screen.warn(f"{name} is not at work")
        return 1
    context.screen.note(f"{name} is {_DONE[do]}", "green")
    return 0


KILL = _steering(
    "kill", "End a run of a workflow with everything it started, or one of its agents."
)


SKIP = _steering("skip", "Let a run go on without an agent: the script gets None in its place.")


RETRY = _steering("retry", "End the attempt of an agent that is at work, and let it begin again.")


def _remove_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="an id, the beginning of one, or last"
    )


def _remove(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.retention import remove_run

    project = require_project(context.app)
    failed = 0
    for named in arguments.runs:
        try:
            place = remove_run(project, named)
        except SidingError as error:
            hint = f"; {inert(error.hint)}" if error.hint else ""
            context.screen.warn(f"{inert(error.message)}{hint}")
            failed += 1
        else:
            context.screen.note(f"the run is in the trash: {inert(place)}")
    return 1 if failed else 0


REMOVE = Verb(
    """\
Put runs of workflows that are over, or were interrupted, into the project's trash.

A run that lives, or whose question waits for an answer, is refused. `siding gc` frees the trash.
""",
    _remove_options,
    _remove,
)
