"""List the passes of all tasks through the phases, newest first; `*` marks what is under way."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--current", action="store_true", help="only the present pass of each task")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.phases.phases import as_record, list_phases
    from siding.record.place.project import require_project

    screen = context.screen
    found = list_phases(require_project(context.app), earlier=not arguments.current)
    for sentence in found.problems:
        screen.warn(inert(sentence))
    if arguments.json:
        print_json(screen, [as_record(each) for each in found.passes])
        return 0
    if not found.passes:
        screen.note("no task is in any phase; `siding phase start` begins")
        return 0
    screen.table(
        ("PASS", "TASK", "PHASE", "STEP", "LAST"),
        [
            (
                f"{'*' if each.current else ' '} {each.pass_id}",
                shorten(each.task_name, 24),
                each.phase,
                str(each.step),
                shorten(each.history[-1].summary if each.history else "", 50),
            )
            for each in found.passes
        ],
    )
    return 0
