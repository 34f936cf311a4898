"""What it costs to start the agent, measured now: CPU time, memory and modules of each phase.

Each phase includes those before it, and runs in a process of its own. With SESSION also how long
the calls of that conversation took, by tool; `-` is the newest of this workspace.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import duration, size

if TYPE_CHECKING:
    from siding.assistant.looking.performance import StartPhase
    from siding.assistant.looking.spending import ToolSpending


_NEWEST = "-"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.chosen import looked_at
    from siding.assistant.looking.performance import start_phases
    from siding.assistant.looking.spending import tools_used
    from siding.assistant.looking.turns import calls_of
    from siding.record.place.project import require_project

    screen = context.screen
    tools: tuple[ToolSpending, ...] = ()
    if arguments.session:
        named = "" if arguments.session == _NEWEST else arguments.session
        tools = tools_used(calls_of(looked_at(require_project(context.app), named).history))
    phases = start_phases(context.app)
    if arguments.json:
        document = {
            "phases": [each._asdict() for each in phases],
            "tools": [each._asdict() for each in tools],
        }
        print_json(screen, document)
        return 0
    heads = ("PHASE", "CPU", "MEMORY", "MODULES", "")
    screen.table(heads, [_cells(each) for each in phases])
    if arguments.session and not tools:
        screen.note("no tool was called in the conversation")
    if tools:
        rows = [
            (inert(each.name), str(each.calls), duration(each.total_ms), duration(each.longest_ms))
            for each in tools
        ]
        screen.print()
        screen.table(("TOOL", "CALLS", "TIME", "LONGEST"), rows)
    return 0


def _cells(phase: StartPhase) -> tuple[str, ...]:
    if phase.problem:
        return (phase.name, "-", "-", "-", f"{phase.about}: {inert(phase.problem)}")
    cpu = f"{phase.cpu_us / 1000:.0f} ms"
    return (phase.name, cpu, size(phase.memory), str(phase.modules), phase.about)
