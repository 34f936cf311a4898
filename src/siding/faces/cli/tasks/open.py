"""Open a task's workspace in your editor: --with, $SIDING_EDITOR, $VISUAL or $EDITOR.

siding open                       the active task's workspace
siding open parser --with 'code -n'
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from siding.faces.cli.globals import Context
from siding.ground.errors import SidingError, UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="id or name (default: the active)")
    parser.add_argument("--with", dest="editor", metavar="COMMAND", help="the editor to use")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.editor import open_in
    from siding.tasks.whereabouts import workspace_path

    place = workspace_path(require_project(context.app), arguments.task)
    command = _command(arguments.editor, context.app.env)
    context.screen.out.flush()
    return open_in(command, place, env=context.app.env)


def _command(wanted: str | None, env: Mapping[str, str]) -> list[str]:
    import shlex

    from siding.tasks.editor import EDITORS, find_editor

    named = wanted or next((env[name] for name in EDITORS if env.get(name)), None)
    if named is None:
        found = find_editor(env)
        if found is None:
            raise SidingError(
                "no editor is named and none of the usual ones is installed",
                hint="set EDITOR, or name one: siding open --with 'code -n'",
            )
        return [found]
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise UsageError(f"the editor {named!r} cannot be read as a command: {error}") from None
    if not words:
        raise UsageError("the editor's name is empty", hint="siding open --with 'code -n'")
    return [os.path.expanduser(words[0]), *words[1:]]
