"""The verbs that say where a workspace is, and go there."""

import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress

from siding.faces.cli.globals import Context
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError


def _path_options(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="id or name (default: the active)")
    parser.add_argument("--main", action="store_true", help="your own checkout")
    parser.add_argument(
        "--switch", action="store_true", help="and have this terminal be about TASK, as `cd` does"
    )


def _path(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.changes import switch
    from siding.tasks.whereabouts import main_path, workspace_path

    if arguments.main and arguments.task is not None:
        raise UsageError("--main is your own checkout, which belongs to no task")
    if arguments.main:
        place = main_path(context.app)
    else:
        project = require_project(context.app)
        place = workspace_path(project, arguments.task)
        if arguments.switch and arguments.task is not None:
            with suppress(SidingError):  # a closed task that kept its workspace can be looked at
                switch(project, arguments.task)
    # Written as bytes: the encoding of the terminal may not have every character of the path.
    context.screen.out.flush()
    context.screen.out.buffer.write(bytes(place) + b"\n")
    return 0


PATH = Verb(
    """\
Print where a task's workspace is, for use in other commands: code "$(siding path)".

Without TASK it is that of the task that this terminal is about. --main prints your own checkout.
""",
    _path_options,
    _path,
)


def _cd(arguments: Namespace, context: Context) -> int:
    """Tell how to set the shell up. Once its function is in place, this code is not reached."""
    from shlex import quote

    from siding.faces.cli.shell.shell_init import START_LINES

    words = [*([quote(arguments.task)] if arguments.task else []), *["--main"] * arguments.main]
    path = " ".join(["siding", "path", *words])
    shell = os.path.basename(context.app.env.get("SHELL", ""))
    line, file = START_LINES.get(shell, START_LINES["bash"])
    raise UsageError(
        "a program cannot change the directory of your shell",
        hint=f'cd "$({path})" goes there now; `{line}` in {file} makes `siding cd` work',
    )


CD = Verb(
    """\
Go into a task's workspace; `siding cd --main` goes back to your own checkout.

With TASK, this terminal is about that task from then on, as after `siding switch TASK`.

A program cannot change the directory of the shell it was started by. A line in the shell's start
file makes `siding cd` a function of the shell, which can:

  bash   eval "$(siding shell-init bash)"      in ~/.bashrc
  zsh    eval "$(siding shell-init zsh)"       in ~/.zshrc
  fish   siding shell-init fish | source       in ~/.config/fish/config.fish
""",
    _path_options,
    _cd,
)
