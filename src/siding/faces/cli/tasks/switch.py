"""The verbs that go to a task: in this terminal, in an editor."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.options import TASK_WORD, add_task_word
from siding.faces.cli.screen.words import ago
from siding.faces.cli.verb import Verb
from siding.ground.errors import NoActiveTask, SidingError, UsageError, counted

_SCHEME = "siding://"

if TYPE_CHECKING:
    from siding.feed.board import TaskRow
    from siding.feed.destination import Destination
    from siding.record.place.project import Project


def _switch_options(parser: ArgumentParser) -> None:
    add_task_word(parser, f"{TASK_WORD} (default: you choose)")
    parser.add_argument("-f", "--force", action="store_true", help="even if another task blocks it")


def _switch(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.changes import switch

    project = require_project(context.app)
    named = arguments.task or _picked(project, context)
    done = switch(project, named, force=arguments.force)
    of_what = "this terminal is about" if done.is_bound else "active task:"
    context.screen.note(f"{of_what} {done.task.id} · {done.task.name}")
    return 0


SWITCH = Verb(
    """\
Choose the task that this terminal is about: commands work on it when no task is named.

Each terminal keeps its own; the panes of tmux are terminals of their own. Where no terminal is, as
in a script, it becomes the active task of the project. Without TASK it is chosen from a list; `-`
is the task that this terminal was about before.

  siding switch parser              a part of its name is enough
  siding switch -                   back to the one before
""",
    _switch_options,
    _switch,
)


def _picked(project: Project, context: Context) -> str:
    """Return the id of the task that the person chooses."""
    from siding.faces.cli.screen.questions import pick_one
    from siding.feed.board import listed

    rows = sorted(
        listed(project, include_closed=False).rows, key=lambda row: row.updated_at, reverse=True
    )
    if not rows:
        raise NoActiveTask("no task is open here", hint="`siding task start NAME` makes one")
    return rows[pick_one(context.screen.out, [_switch_line(row) for row in rows], "which task")].id


def _switch_line(row: TaskRow) -> str:
    here = "*" if row.active else " "
    return f"{here} {row.name}  ({row.id}, {counted(row.steps, 'step')}, {ago(row.updated_at)})"


def _open_options(parser: ArgumentParser) -> None:
    add_task_word(parser, f"{TASK_WORD}, or an address as siding://PROJECT/TASK/STEP")
    parser.add_argument("--with", dest="editor", metavar="COMMAND", help="the editor to use")
    parser.add_argument(
        "--browser", action="store_true", help="of an address: its page, also at a terminal"
    )


def _open(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.whereabouts import open_in, workspace_path

    if arguments.task is not None and arguments.task.startswith(_SCHEME):
        if arguments.editor is not None:
            raise UsageError(
                "an address is no directory to edit in", hint="name the task: siding open TASK"
            )
        return _go_to(arguments, context)
    if arguments.browser:
        raise UsageError(
            "--browser is for an address as siding://PROJECT/TASK", hint="`siding ui` for all tasks"
        )
    place = workspace_path(require_project(context.app), arguments.task)
    command = _command(arguments.editor, context.app.env)
    context.screen.out.flush()
    return open_in(command, place, env=context.app.env)


OPEN = Verb(
    """\
Open a task's workspace in your editor: --with, $SIDING_EDITOR, $VISUAL or $EDITOR.

An address, as screens and `siding status --all` show it, is opened at a terminal in the screen of
`siding`: the task, with the patch of its step. In a pipe, inside a run, in plain mode and with
--browser its page is opened in the browser if the dashboard of its project runs (`siding ui`);
without one, the command that shows it is printed.

  siding open                       the workspace of this terminal's task
  siding open parser --with 'code -n'
  siding open siding://shop/parser/3
  siding open siding://shop/parser/3#src/a.py:2       the second hunk of a file
""",
    _open_options,
    _open,
)


def _go_to(arguments: Namespace, context: Context) -> int:
    """Open an address: in the terminal, else its page, else print the command that shows it."""
    from siding.feed.destination import destination

    found = destination(context.app, arguments.task)
    if not arguments.browser and os.isatty(0) and os.isatty(1):
        from siding.faces.cli.table import TERMINAL, load

        status = load(TERMINAL).opened_at(vars(arguments), found.address)
        if status is not None:
            assert isinstance(status, int)
            return status
    return _open_page(found, context)


def _open_page(found: Destination, context: Context) -> int:
    """Open the page of an address in the browser, or print the command that shows what it names."""
    from siding.faces.cli.screen.screen import inert
    from siding.record.place.dashboard import page_url

    context.screen.note(inert(str(found.address)))
    shown = page_url(found.project, found.address.page)
    # A browser that is started now shows a ticket behind the `#`, in the place of the hunk.
    opened = page_url(found.project, found.address._replace(hunk="").page, with_key=True)
    if shown is None or opened is None:
        context.screen.print(inert(found.command))
        context.screen.note("no dashboard of this project runs; `siding ui` starts one")
        return 0
    import webbrowser

    context.screen.print(inert(shown))
    context.screen.out.flush()
    if not webbrowser.open(opened):
        context.screen.warn("no browser could be started; open the address above")
    return 0


def _command(wanted: str | None, env: Mapping[str, str]) -> list[str]:
    import shlex

    from siding.tasks.whereabouts import EDITORS, find_editor

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
