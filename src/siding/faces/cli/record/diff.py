"""Show what changed: the whole task by default, one step with N, a range with --from/--to.

--between A B compares two attempts: the state after step A with that after step B. Points are step
numbers, `base`, `last` or `now`; --from `look` is what `siding viewed --all` kept. PATHs are
relative to where you stand. The patch is byte-exact: `git apply` takes it.

  siding diff                       all that the task changed
  siding diff 3 --stat              the files that step 3 changed
  siding diff src                   only what is below src
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import json_text, write_result
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.colours import coloured_patch
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import changes, task_name
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.record.recording.difference import Difference, KeptState
    from siding.record.recording.recorded_patches import RecordedPatch


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="N | PATH", help="what step N changed; only these paths"
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--step", metavar="N", help="what this step changed")
    parser.add_argument("--from", dest="start", metavar="POINT", help="default: base")
    parser.add_argument("--to", dest="end", metavar="POINT", help="default: now")
    parser.add_argument(
        "--between", nargs=2, metavar=("A", "B"), help="from the state after A to that after B"
    )
    parser.add_argument("--stat", action="store_true", help="only files and numbers")
    parser.add_argument("-o", "--output", metavar="FILE", help="write into a file")
    add_format(parser, "patch", "stat", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.recording.difference import difference

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    at, start, end, names = _points(arguments)
    point: str | KeptState | None = start
    if start == "look":
        from siding.looks.since import last_look

        point = last_look(project, arguments.task)
    with difference(project, arguments.task, at=at, start=point, end=end) as found:
        paths = found.paths(names)
        if arguments.format == "json":
            stat = found.stat_record(paths)
            record = {**stat, "from": found.before, "to": found.after}
            write_result(screen, arguments.output, json_text(record) + "\n")
        elif arguments.stat or arguments.format == "stat":
            write_result(screen, arguments.output, _stat_text(found, paths))
        else:
            _patch(screen, found, paths, arguments.output)
    return 0


def _points(
    arguments: Namespace,
) -> tuple[str | None, str | None, str | None, list[str]]:
    """Return the step, or start and end of the range, and the paths."""
    at, start, end, names = arguments.step, arguments.start, arguments.end, arguments.paths
    if arguments.between:
        if at or start or end:
            raise UsageError("--between names both points; leave --step, --from and --to out")
        start, end = arguments.between
    elif at is None and not (start or end) and names:
        first = names[0]
        # A file of that name is meant, where there is one; `./7` always is one.
        is_number = first == "last" or (first.isascii() and first.isdigit())
        if is_number and not os.path.lexists(first):
            at, names = first, names[1:]
    return at, start, end, names


def _patch(
    screen: Screen,
    found: Difference | RecordedPatch,
    paths: tuple[bytes, ...],
    file: str | None,
) -> None:
    from siding.record.recording.difference import shown_modes

    if file is not None:
        with open(file, "wb") as target:
            found.write_patch(target.fileno(), paths)
        screen.note(f"written to {file}")
        return
    if not sys.stdout.isatty() and not screen.colour:
        sys.stdout.flush()
        found.write_patch(sys.stdout.fileno(), paths)  # to a program, byte for byte
        for each in shown_modes(found.mode_changes(paths)):
            screen.note(f"permissions: {each}")  # a patch has no place for most permissions
        for each in found.links(paths):
            screen.note(f"links: {each}")
        return
    with paged(screen):
        empty = True
        for line in found.patch_lines(paths):
            screen.print(coloured_patch(screen, line))
            empty = False
    modes = found.mode_changes(paths)
    for each in shown_modes(modes):
        screen.note(f"permissions: {each}")
    links = found.links(paths)
    for each in links:
        screen.note(f"links: {each}")
    if empty and not (modes or links):
        screen.note(f"{task_name(found.task.name)} · no difference in {found.title}")


def _stat_text(found: Difference | RecordedPatch, paths: tuple[bytes, ...]) -> str:
    from siding.record.recording.difference import shown_changes, shown_modes

    stat = found.stat(paths)
    lines = []
    for change in shown_changes(stat):
        numbers = "binary" if change.binary else f"+{change.additions} -{change.deletions}"
        lines.append(f"{change.status}  {numbers:>12}  {inert(change.name)}")
    modes = found.mode_changes(paths)
    lines += [f"P  {'permissions':>12}  {inert(each)}" for each in shown_modes(modes)]
    lines += [f"L  {'links':>12}  {inert(each)}" for each in found.links(paths)]
    lines.append(changes(stat.files, stat.additions, stat.deletions, len(modes)))
    return "\n".join(lines) + "\n"
