"""Let several agents try a task from the same state, each in a workspace of its own.

The best result is brought back onto the task's workspace, as a step; all of them are kept and can
be compared. It is the workflow `race`; `siding workflow new --from race NAME` is a copy to change.

  siding race 'Make the parser twice as fast' --agents claude,codex --check 'pytest -q'
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import changes, task_name
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.workflows.acts.views import Entrant, RaceResult


CHOICES = ("smallest", "judge", "ask", "none")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help="what the agents are asked")
    parser.add_argument(
        "--agents", metavar="A,B", help="their types (default: the usual one, twice)"
    )
    parser.add_argument("--check", metavar="COMMAND", help="a good result passes this")
    parser.add_argument("--choose", choices=CHOICES, default="smallest", help="among those that do")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--model", default="", metavar="MODEL", help="for all of them")
    parser.add_argument("--sandbox", action="store_true", help="run the agents in a sandbox")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.workflows.lines import RunLines, say_end, status_of
    from siding.record.place.project import ensure_project
    from siding.workflows.acts.request import WorkflowOptions
    from siding.workflows.acts.run import WorkflowRequest, carry_out, make_agents, prepare
    from siding.workflows.acts.scripts import named
    from siding.workflows.acts.trust import require_trust
    from siding.workflows.acts.views import race_result

    project, _made = ensure_project(context.app)
    agents = [name.strip() for name in (arguments.agents or "").split(",") if name.strip()]
    if len(agents) > 16:
        raise UsageError("a race has 16 agents at most")
    found = named(project, "race")
    require_trust(project, found)
    prepared = prepare(
        project,
        WorkflowRequest(
            found=found,
            args={
                "prompt": arguments.prompt,
                "agents": agents,
                "check": arguments.check,
                "choose": arguments.choose,
            },
            task=arguments.task,
            options=WorkflowOptions(
                max_concurrency=max(2, len(agents)),
                model=arguments.model,
                sandbox=arguments.sandbox,
            ),
        ),
    )
    run_id = prepared.folder.run_id
    context.screen.note(f"race · run {run_id} · task {task_name(prepared.task.name)}")
    done = carry_out(project, prepared, make_agents, RunLines(context.screen))
    if done.status != "completed" or not isinstance(done.value, Mapping):
        return say_end(context.screen, done)
    result = race_result(done.value)
    if arguments.json:
        print_json(context.screen, done.value)
    else:
        _tell(context.screen, result)
    return status_of(done)


def _tell(screen: Screen, result: RaceResult) -> None:
    if result.entrants:
        print_table(
            screen,
            ("AGENT", "CHECK", "CHANGED", "WORKSPACE"),
            [_row(result, entrant) for entrant in result.entrants],
        )
    if result.winner:
        where = f" · step {result.step}" if result.step else ""
        screen.note(f"{inert(result.winner)} is brought back{where}: {inert(result.why)}", "green")
    else:
        screen.note(f"nothing was brought back: {inert(result.why)}", "yellow")
    kept = next((entrant.fork for entrant in result.entrants if entrant.fork), "")
    if kept:
        screen.note(f"all are kept: `siding diff --task {kept}`, `siding task list --children`")


def _row(result: RaceResult, entrant: Entrant) -> tuple[str, ...]:
    mark = "*" if entrant.agent == result.winner else " "
    return (
        f"{mark} {inert(entrant.agent)}",
        "-" if entrant.passed is None else "passes" if entrant.passed else "fails",
        changes(entrant.files, entrant.additions, entrant.deletions),
        entrant.fork or "-",
    )
