"""Say what is wrong with a workflow's script, without running it: each problem with what to write.

Warnings are about agents that may write beside each other in one workspace.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("workflow", metavar="WORKFLOW", help="a name, a script, or -")
    parser.add_argument("--json", action="store_true", help="the problems as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.workflows.run import find_script
    from siding.record.place.project import ensure_project
    from siding.workflows.acts.views import ScriptError

    project, _made = ensure_project(context.app)
    found = find_script(project, arguments.workflow)
    try:
        problems = found.script().warnings
    except ScriptError as error:
        problems = error.problems
    screen = context.screen
    if arguments.json:
        print_json(screen, [problem._asdict() for problem in problems])
    else:
        name = found.path or "script"
        for each in problems:
            kind = "warning" if each.is_warning else "error"
            where = f"{inert(name)}:{each.line}:{each.column}"
            screen.print(f"{where}: {kind}: {inert(each.what)}; {inert(each.remedy)}")
    wrong = sum(not each.is_warning for each in problems)
    if not arguments.json:
        said = counted(wrong, "problem") if wrong else "it can be run"
        screen.note(said, "red" if wrong else "green")
    return 1 if wrong else 0
