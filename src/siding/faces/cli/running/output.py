"""Print the output of a run: of one that lives, or of a recorded step.

Of a program that draws on its terminal, an editor or an agent, it is the last screen as text; --raw
gives its bytes. What prints lines is printed byte for byte. RUN is a run's id or name, a step's
number, or `last`. With --follow the command goes on, byte for byte, until the run has ended, or
until Ctrl-C, which leaves the run alone.

  siding output r7 --follow
  siding output web -f
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name

if TYPE_CHECKING:
    from siding.record.recording.following import Piece


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", metavar="RUN", help="default: last")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--raw", action="store_true", help="byte for byte, whatever it is")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the run has ended")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import say_left
    from siding.feed.running import named_run
    from siding.record.place.project import require_project
    from siding.record.recording.following import Piece, find_run, follow
    from siding.record.recording.outputs import output

    project = require_project(context.app)
    wanted = named_run(project, arguments.task, arguments.run)
    task, found = find_run(project, arguments.task, wanted)
    if arguments.follow:
        for piece in follow(project, task, found):
            _write(piece)
        if found.run:
            say_left(context.screen, project, task, found.run)
        return 0
    streams = output(project, task, found)
    if streams is None:
        context.screen.note(f"{task_name(task.name)} · {wanted} has printed nothing")
        return 0
    if streams.streams.value == "pty" and not arguments.raw:
        from siding.running.attach import screen_lines

        drawn = screen_lines(project, task, found, streams)
        if drawn is not None:
            for line in drawn:
                context.screen.print(inert(line))
            return 0
    for number, span in ((1, streams.stdout), (2, streams.stderr)):
        for data in span.chunks(1 << 20):
            _write(Piece(number, data))
    return 0


def _write(piece: Piece) -> None:
    target = sys.stdout.buffer if piece.stream == 1 else sys.stderr.buffer
    target.write(piece.data)
    target.flush()
