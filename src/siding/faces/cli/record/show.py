"""Show one step: what ran, how it ended, what it changed, and its output.

N is a step's number, or `last`. The output is shown with its control characters made harmless; of
a program that draws on its terminal (an editor, an agent) the last screen is shown. --raw copies
the output to standard output byte for byte.

  siding show                       the newest step
  siding show 3 --full              step 3 with all of its output
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from siding.faces.cli.formats import json_text, write_result
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import size

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.recording.step_details import Output, Span
    from siding.record.recording.steps import Step, Task


SHOWN = 256 * 1024  # bytes of each stream shown without --full, from its end


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("step", nargs="?", default="last", metavar="N", help="default: last")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--full", action="store_true", help="all of the output, however long")
    parser.add_argument("--raw", action="store_true", help="only the output, byte for byte")
    parser.add_argument("-o", "--output", metavar="FILE", help="write into a file (json)")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.record.step_lines import request_lines, step_lines
    from siding.record.place.project import require_project
    from siding.record.recording.freed import freed_note, marked
    from siding.record.recording.missing_steps import ledger_problems
    from siding.record.recording.recorded_patches import only_patch
    from siding.record.recording.step_details import asked_by, commits_of, output
    from siding.record.recording.steps import running_step, same_number, step

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    named, wanted = arguments.task, arguments.step
    if wanted[:1].isalpha() and wanted != "last":  # the name of a run; of steps none is a word
        from siding.feed.running import named_run
        from siding.running.named_run import task_of_named

        named = task_of_named(project, named, (wanted,), ended=True)
        wanted = named_run(project, named, wanted)
    task, found = running_step(project, named, wanted) or step(project, named, wanted)
    for sentence in ledger_problems(project, task) if arguments.step == "last" else []:
        screen.warn(inert(sentence))
    if others := same_number(project, task, found):
        screen.warn(others)
    if arguments.format == "json":
        write_result(
            screen, arguments.output, json_text(marked(project, task.id, [found])[0]) + "\n"
        )
        return 0
    kept, patch = output(project, task, found), only_patch(project, task, found)
    if arguments.raw:
        if kept is not None:
            _copy(kept)
        return 0
    with paged(screen):
        commits, freed = commits_of(project, found), freed_note(project, task.id, found)
        lines = step_lines(task.name, found, commits, project.layout.root, freed=freed)
        _print_step(screen, [*lines, *request_lines(asked_by(project, task, found))])
        if kept is not None:
            drawn = None if arguments.full else _last_screen(project, task, found, kept)
            _print_output(screen, kept, drawn, full=arguments.full)
        if patch is not None:
            _print_stream(screen, "patch", patch, full=arguments.full)
    return 0


def _copy(kept: Output) -> None:
    """Write the output as it came: stdout to standard output, stderr to standard error."""
    for stream, target in ((kept.stdout, sys.stdout.buffer), (kept.stderr, sys.stderr.buffer)):
        for block in stream.chunks(1 << 20):
            target.write(block)
        target.flush()


def _print_step(screen: Screen, lines: Sequence[tuple[str, str]]) -> None:
    for label, text in lines:
        if text:
            screen.print(f"{screen.style(f'{label:<9}', 'dim')} {inert(text)}")


def _print_output(
    screen: Screen, kept: Output, drawn: tuple[str, ...] | None, *, full: bool
) -> None:
    name = "terminal" if kept.streams.value == "pty" else "stdout"
    if drawn is None:
        _print_stream(screen, name, kept.stdout, full=full)
        _print_stream(screen, "stderr", kept.stderr, full=full)
        return
    screen.print()
    screen.print(screen.style(f"--- {name} ({size(kept.stdout.size)}), its last screen", "dim"))
    for line in drawn:
        screen.print(inert(line))
    screen.print(screen.style("(--full shows all of the output, spelled out)", "dim"))


def _last_screen(project: Project, task: Task, step: Step, kept: Output) -> tuple[str, ...] | None:
    """Return what a program that draws on its terminal showed last; None if it prints lines."""
    if kept.streams.value != "pty":
        return None
    from siding.running.attach import screen_lines  # for runs in a terminal

    return screen_lines(project, task, step, kept)


def _print_stream(screen: Screen, name: str, stream: Span, *, full: bool) -> None:
    from codecs import getincrementaldecoder

    if stream.size == 0:
        return
    screen.print()
    screen.print(screen.style(f"--- {name} ({size(stream.size)})", "dim"))
    decode = getincrementaldecoder("utf-8")("replace").decode
    ends_line = True
    for block in stream.chunks() if full else [stream.tail(SHOWN)]:
        text = inert(decode(block).replace("\r\n", "\n"), lines=True)
        screen.out.write(text)
        ends_line = text.endswith("\n")
    if not ends_line:
        screen.print()
    if not full and stream.size > SHOWN:
        left = size(stream.size - SHOWN)
        screen.print(screen.style(f"({left} came before this; --full shows all)", "dim"))
