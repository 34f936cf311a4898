"""List the runs of workflows, the newest first, and with `--scripts` the workflows there are.

Scripts are found in `.siding/workflows` of the repository, in `workflows` of Siding's home, and
among those that come with Siding.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import duration, seconds_ago

if TYPE_CHECKING:
    from siding.workflows.acts.views import RunView, WorkflowView


_SHOWN = 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--scripts", action="store_true", help="the workflows instead of the runs")
    parser.add_argument("-n", type=int, default=_SHOWN, metavar="N", help="so many (20; 0: all)")
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.views import run_views, workflow_views

    project = require_project(context.app)
    if arguments.scripts:
        return _scripts(context, workflow_views(project), as_json=arguments.format == "json")
    views = run_views(project, limit=arguments.n)
    if arguments.format == "json":
        print_json(context.screen, [view.state.fields() for view in views])
        return 0
    if not views:
        context.screen.note("no workflow was run yet; `siding workflow list --scripts` shows some")
        return 0
    now_ms = int(context.app.clock.now().timestamp() * 1000)
    context.screen.table(
        ("RUN", "WORKFLOW", "STATUS", "AGENTS", "TOKENS", "COST", "TOOK", "CHANGED"),
        [_row(view, now_ms) for view in views],
    )
    return 0


def _row(view: RunView, now_ms: int) -> tuple[str, ...]:
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
    context.screen.table(
        ("WORKFLOW", "FROM", "WHAT IT DOES"),
        [(inert(view.name), _origin(view), inert(_about(view))) for view in views],
    )
    return 0


def _origin(view: WorkflowView) -> str:
    return str(view.origin) + ("" if view.is_trusted else " (not allowed yet)")


def _about(view: WorkflowView) -> str:
    return f"cannot be run: {view.problem}" if view.problem else view.description or "-"
