"""Translate a JavaScript workflow (`.claude/workflows/*.js`) into a Python one.

The script goes to `.siding/workflows/NAME.py`, never over a file that is there. What is not
translated is left in it as a comment, with an error that names the line of the JavaScript: until
it is written by hand, the workflow is not run, and `siding workflow check` says what is left.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import counted
from siding.record.place.project import ensure_project
from siding.workflows.acts.conversion import Conversion, conversion, write_converted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .js, .mjs or .ts file")
    parser.add_argument("--show", action="store_true", help="print it, and write no file")
    parser.add_argument("-o", dest="name", metavar="NAME", help="the workflow's name (the file's)")


def run(arguments: Namespace, context: Context) -> int:
    project, _made = ensure_project(context.app)
    done = conversion(project, arguments.file, name=arguments.name)
    screen = context.screen
    if arguments.show:
        screen.print(inert(done.converted.source.rstrip(), lines=True))
    else:
        screen.print(str(write_converted(project, done)))
    _say(screen, done)
    return 0


def _say(screen: Screen, done: Conversion) -> None:
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
