"""Read every transcript and say what is wrong with them.

Damaged lines stay where they are: each costs only what it covers. --mend makes the indexes anew
(they are caches); no line of a transcript is ever changed. Exit status 1 when something is wrong.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--mend", action="store_true", help="make all indexes anew")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.sessions.upkeep import examine

    count, findings = examine(require_project(context.app), mend=arguments.mend)
    if arguments.format == "json":
        print_json(
            context.screen, [{**each._asdict(), "path": str(each.path)} for each in findings]
        )
        return 1 if findings else 0
    for each in findings:
        where = f":{each.number}" if each.number else ""
        context.screen.print(inert(f"{each.path}{where}: {each.problem}"))
    what = "nothing wrong" if not findings else counted(len(findings), "finding")
    context.screen.note(f"{counted(count, 'transcript')} read; {what}")
    return 1 if findings else 0
