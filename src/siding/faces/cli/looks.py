"""Mark hunks of a task's change as read, and list what is read and what is not.

PATH is a file or a directory, PATH:2 the second hunk of a file, PATH:0 what of it is in no line
(its mode, content that is no text). A mark goes when the text of its hunk changes, and holds again
when that comes back; it stays when lines move, the file is renamed, or the change is committed.

  siding viewed                     each file: viewed, changed since, or new
  siding viewed src/lexer.py:2      this hunk is read
  siding viewed --not src           these are not
  siding viewed --all               all is read; `siding diff --from look` begins here
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from siding.looks.marks import FileSeen, Progress, Seen

_COLOURS = {"viewed": "green", "changed": "yellow", "new": "bold"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH[:HUNK]", help="what is read (default: only list)"
    )
    parser.add_argument("-a", "--all", action="store_true", help="all is read, up to this moment")
    parser.add_argument("--not", dest="off", action="store_true", help="the other way: not read")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.looks.marking import chosen, present, seen, unview, view
    from siding.looks.marks import progress_of
    from siding.looks.since import keep_look
    from siding.record.place.project import require_project

    if arguments.all and arguments.paths:
        raise UsageError("--all is all paths: leave the PATHs out, or --all")
    if arguments.off and not (arguments.all or arguments.paths):
        raise UsageError("--not needs to know what is not read", hint="PATHs, or --all")
    project, screen = require_project(context.app), context.screen
    screen.use_colour(project.settings.color)
    task, patch = present(project, arguments.task)
    hunks = [*patch.hunks] if arguments.all else chosen(project, task, patch, arguments.paths)
    if hunks:
        files = (unview if arguments.off else view)(project, task.id, patch, hunks)
    else:
        files = seen(project, task.id, patch)
    if arguments.all and not arguments.off:
        keep_look(project, task.id)
    done = progress_of(files)
    if arguments.json:
        print_json(screen, _record(files, done))
        return 0
    if not hunks:
        for each in files:
            screen.print(screen.style(_line(each), _COLOURS[each.state]))
            if each.state != "viewed" and len(each.hunks) > 1:
                for one in each.hunks:
                    screen.print(f"           {_place(one):<14} {one.state}")
    of = f"{done.hunks} of {counted(done.of_hunks, 'hunk')}"
    screen.note(f"{task_name(task.name)} · {done if files else 'nothing is changed'} · {of}")
    return 0


def _line(file: FileSeen) -> str:
    count = f"{file.viewed}/{len(file.hunks)}"
    return f"{file.state.value:<7} {count:>5}  {inert(file.path)}"


def _place(one: Seen) -> str:
    if not one.hunk.number:
        return ":0 no lines"
    first, count = one.hunk.new
    return f":{one.hunk.number} {first}" + (f"-{first + count - 1}" if count > 1 else "")


def _record(files: list[FileSeen], done: Progress) -> dict[str, object]:
    return {
        "files": [
            {
                "path": file.path,
                "state": file.state.value,
                "hunks": [
                    {
                        "number": one.hunk.number,
                        "state": one.state.value,
                        "old": [*one.hunk.old],
                        "new": [*one.hunk.new],
                        "digest": one.hunk.digest,
                    }
                    for one in file.hunks
                ],
            }
            for file in files
        ],
        "viewed": done._asdict(),
    }
