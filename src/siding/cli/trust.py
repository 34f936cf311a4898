"""Show the hooks that come with the repository, and allow exactly these.

Hooks are shell commands in the repository's `.siding/config.yaml`. They never run before you
allowed them, and any change to them asks again.
"""

from argparse import ArgumentParser, Namespace

from siding.app.hooks import repository_hooks, revoke, trust
from siding.app.project import ensure_project
from siding.cli.globals import Context
from siding.cli.screen import inert
from siding.cli.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--show", action="store_true", help="only show them")
    choice.add_argument("--revoke", action="store_true", help="allow none any more")


def run(arguments: Namespace, context: Context) -> int:
    project, _made = ensure_project(context.app)
    screen = context.screen
    if arguments.revoke:
        screen.note(f"forgot {counted(revoke(project), 'allowed set', 'allowed sets')} of hooks")
        return 0
    found = repository_hooks(project)
    if not found.hooks:
        screen.note("this repository brings no hooks")
        return 0
    for moment, commands in found.hooks.items():
        for command in commands:
            screen.print(f"{moment:<12} {inert(command)}")
    if found.trusted:
        screen.note("they are allowed")
    elif arguments.show:
        screen.note("they are not allowed; `siding trust` allows them")
    else:
        trust(project)
        screen.note("allowed, as long as they stay exactly these", "green")
    return 0
