"""Type into the terminal of a run: a line with Enter, keys, or the bytes of a file.

RUN is a run's id (r7) or name. TEXT is typed first, then each --key in order, then the file. It
returns when the run's terminal has taken all of it. A run without a terminal has no input.

  siding send r7 'fix the failing test'
  siding send web --key ctrl-c
  siding send r7 --key escape --key up --key enter
  siding send r7 --file answers.txt
"""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.faces.cli.globals import Context
from siding.ground.errors import UsageError

MIXED = True  # `siding send r7 --raw TEXT`


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run that lives: its id or name")
    parser.add_argument(
        "text", nargs="?", metavar="TEXT", help="a line, typed with Enter behind it"
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--raw", action="store_true", help="no Enter behind TEXT")
    parser.add_argument(
        "-k",
        "--key",
        action="append",
        default=[],
        metavar="KEY",
        help="enter, escape, up, f1, ctrl-c, alt-x, ... (repeatable, in order)",
    )
    parser.add_argument("--file", metavar="FILE", help="type the bytes of a file; - is our input")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.running.attach import send

    if arguments.text is None and not arguments.key and arguments.file is None:
        raise UsageError("there is nothing to send", hint="siding send RUN TEXT, --key or --file")
    project = require_project(context.app)
    send(
        project,
        arguments.task,
        arguments.run,
        text=arguments.text,
        enter=not arguments.raw,
        keys=arguments.key,
        data=_bytes_of(arguments.file),
    )
    return 0


def _bytes_of(file: str | None) -> bytes | None:
    if file is None:
        return None
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
