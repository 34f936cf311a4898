"""Show the history of a pass through the phases, oldest move first."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import local_time
from siding.ground.ids import run_or_step


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("which", nargs="?", help="a task, or a pass of `siding phase list`")
    parser.add_argument("--json", action="store_true", help="print the pass as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.phases.status import gate_line, print_head
    from siding.phases.phases import as_record, show
    from siding.record.place.project import require_project

    found = show(require_project(context.app), arguments.which)
    screen = context.screen
    if arguments.json:
        print_json(screen, as_record(found))
        return 0
    print_head(screen, found)
    screen.print()
    for entry in found.history:
        commit = f"  {entry.git_commit[:7]}" if entry.git_commit else ""
        where = f"{entry.step:>3}  {local_time(entry.timestamp)}  {inert(entry.phase)}"
        inside = f"  inside {inert(run_or_step(entry.inside_step))}" if entry.inside_step else ""
        screen.print(f"{where}  {entry.action}{screen.style(commit + inside, 'dim')}")
        for line in inert(entry.summary, lines=True).splitlines():
            screen.print(f"       {line}")
        for gate in entry.gates:
            screen.print(f"       {gate_line(gate)}")
    return 0
