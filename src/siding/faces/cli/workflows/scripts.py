"""The verbs about the scripts of workflows: check, begin, translate, the guide."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, counted

if TYPE_CHECKING:
    from siding.workflows.acts.conversion import Conversion


def is_workflow(context: Context, word: str) -> bool:
    """Tell whether there is a workflow of this name for the project one stands in."""
    from siding.record.place.project import find_project
    from siding.workflows.acts.scripts import named

    try:
        project = find_project(context.app)
        return project is not None and bool(named(project, word))
    except (SidingError, OSError):
        return False


def _check_options(parser: ArgumentParser) -> None:
    parser.add_argument("workflow", metavar="WORKFLOW", help="a name, a script, or -")
    parser.add_argument("--json", action="store_true", help="print the problems as JSON")


def _check(arguments: Namespace, context: Context) -> int:
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


CHECK = Verb(
    """\
Say what is wrong with a workflow's script, without running it: each problem with what to write.

Warnings are about agents that may write beside each other in one workspace.
""",
    _check_options,
    _check,
)


def _new_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the workflow")
    parser.add_argument("--home", action="store_true", help="for all projects of yours")
    parser.add_argument("--from", dest="from_", metavar="WORKFLOW", help="a copy of this one")


def _new(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project
    from siding.workflows.acts.scripts import new_workflow

    project, _made = ensure_project(context.app)
    path = new_workflow(project, arguments.name, home=arguments.home, like=arguments.from_)
    context.screen.print(str(path))
    context.screen.note(f"edit it, then `siding workflow run {inert(arguments.name)}`")
    return 0


NEW = Verb(
    """\
Begin a workflow: write a script to go on from into `.siding/workflows` of the repository.""",
    _new_options,
    _new,
)


def _convert_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .js, .mjs or .ts file")
    parser.add_argument("--show", action="store_true", help="print it, and write no file")
    parser.add_argument(
        "-o", dest="name", metavar="NAME", help="the workflow's name (default: the file's)"
    )


def _convert(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project
    from siding.workflows.acts.conversion import conversion, write_converted

    project, _made = ensure_project(context.app)
    done = conversion(project, arguments.file, name=arguments.name)
    screen = context.screen
    if arguments.show:
        screen.print(inert(done.converted.source.rstrip(), lines=True))
    else:
        screen.print(str(write_converted(project, done)))
    _say_convert(screen, done)
    return 0


CONVERT = Verb(
    """\
Translate a JavaScript workflow (`.claude/workflows/*.js`) into a Python one.

The script goes to `.siding/workflows/NAME.py`, never over a file that is there. What is not
translated is left in it as a comment, with an error that names the line of the JavaScript: until
it is written by hand, the workflow is not run, and `siding workflow check` says what is left.
""",
    _convert_options,
    _convert,
)


def _say_convert(screen: Screen, done: Conversion) -> None:
    found = done.converted
    left = len(found.left)
    said = f"{counted(found.translated, 'statement')} translated"
    screen.note(f"{said}, {left} left to write by hand" if left else said, "yellow" * bool(left))
    for place in found.left:
        screen.warn(f"line {place.line}: {inert(place.why)}")
    for place in found.notes:
        screen.note(f"line {place.line}, look at it: {inert(place.why)}")
    if done.problem and not left:
        screen.warn(inert(done.problem))


def _guide_options(parser: ArgumentParser) -> None:
    del parser


def _guide(arguments: Namespace, context: Context) -> int:
    from siding.workflows.acts.scripts import guide

    del arguments
    context.screen.print(guide().rstrip("\n"))
    return 0


GUIDE = Verb(
    """\
Print how to write a workflow, and when one is worth it: for agents, and for people.

An agent in a run gets it by the tool `workflow_guide`; any other one you can give it as it is.
""",
    _guide_options,
    _guide,
)
