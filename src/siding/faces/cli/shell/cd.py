"""Go into a task's workspace; `siding cd --main` goes back to your own checkout.

With TASK, this terminal is about that task from then on, as after `siding switch TASK`.

A program cannot change the directory of the shell it was started by. A line in the shell's start
file makes `siding cd` a function of the shell, which can:

  bash   eval "$(siding shell-init bash)"      in ~/.bashrc
  zsh    eval "$(siding shell-init zsh)"       in ~/.zshrc
  fish   siding shell-init fish | source       in ~/.config/fish/config.fish
"""

import os
from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.shell.path import add_arguments as add_path_arguments
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    add_path_arguments(parser)


def run(arguments: Namespace, context: Context) -> int:
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
