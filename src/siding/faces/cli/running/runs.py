"""The verbs about runs that live: list, output, attach, send, stop."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import (
    ago,
    changes_with_turns,
    seconds_ago,
    size,
    task_name,
    task_step,
)
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.feed.running import LeftProcess, LeftRow, RunningRow
    from siding.record.recording.step_details import Piece
    from siding.running.attach import Watched, Watching
    from siding.running.stop import EndedLeft


HEADER = ("RUN", "TASK", "AGENT", "STARTED", "COMMAND", "LAST LINE", "WAITS FOR")


def _runs_options(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="of this task only")
    parser.add_argument("-a", "--all", action="store_true", help="of all projects")
    add_format(parser, "table", "json")


def _runs(arguments: Namespace, context: Context) -> int:
    from siding.feed.running import left_running, running
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.record.unfinished.live_workflows import live_workflows

    screen = context.screen
    if arguments.all:
        return _all(arguments, context)
    project = require_project(context.app)
    screen.use_colour(project.settings.color)
    task = None if arguments.task is None else select(project, arguments.task).id
    found = _sorted([*running(project, task), *left_running(project, task)])
    if arguments.format == "json":
        print_json(screen, [_runs_record(row) for row in found])
        return 0
    flows = list(live_workflows(project, task))
    if not found and not flows:
        screen.note("nothing runs; `siding run -- COMMAND` starts something")
        return 0
    if found:
        print_table(screen, HEADER, [cells for row in found for cells in _runs_rows(row)])
    for flow in flows:
        shows = f"`siding workflow watch {flow.run_id}` shows it"
        screen.note(f"the workflow {inert(flow.name)} runs in task {flow.task_id}; {shows}")
    return 0


RUNS = Verb(
    """\
Show what runs in this project, or with --all in every one.

Each run has its task, the last line it printed, and whom it waits for. Below a run that has ended
is what it left running; `siding stop RUN` ends that.

A run is a command that `siding run` started. Any number of them may live in a task at once: an
agent, a development server, the tests. A run that has ended is a step: `siding log`.
""",
    _runs_options,
    _runs,
)


def _all(arguments: Namespace, context: Context) -> int:
    from siding.feed.all_running import all_running

    if arguments.task is not None:
        raise UsageError("--all is of all projects; leave out --task, or --all")
    screen = context.screen
    found, problems = all_running(context.app)
    if arguments.format == "json":
        print_json(screen, [{"project": each.project, **_runs_record(each.row)} for each in found])
        return 0
    for problem in problems:
        screen.detail(inert(problem))
    if not found:
        screen.note("nothing runs in any project")
        return 0
    rows = [(inert(each.project), *cells) for each in found for cells in _runs_rows(each.row)]
    print_table(screen, ("PROJECT", *HEADER), rows)
    return 0


def _sorted(rows: list[RunningRow | LeftRow]) -> list[RunningRow | LeftRow]:
    return sorted(rows, key=lambda row: row.started_at)


def _runs_record(row: RunningRow | LeftRow) -> dict[str, object]:
    from siding.feed.running import LeftRow

    return row.as_record() if isinstance(row, LeftRow) else row._asdict()


def _runs_rows(row: RunningRow | LeftRow) -> list[tuple[str, ...]]:
    """Return the row of a run; of one that has ended, with a row for each process below it."""
    from siding.feed.running import RunningRow

    if isinstance(row, RunningRow):
        return [_runs_cells(row)]
    name = shorten(inert(row.task_name), 24)
    command, started = shorten(inert(row.command), 40), ago(row.started_at)
    first = (row.run, name, "-", started, command, "ended, left running:", "-")
    return [first, *(_process_cells(each, name) for each in row.processes)]


def _process_cells(process: LeftProcess, task_name: str) -> tuple[str, ...]:
    command = shorten(inert(process.command), 40)
    return ("", task_name, "-", seconds_ago(process.age_s), command, f"process {process.pid}", "-")


def _runs_cells(row: RunningRow) -> tuple[str, ...]:
    waits = "-"
    if row.waits_for:
        waits = f"you: siding decide answer {row.waits_for}"
    elif row.waits:
        waits = f"you: {shorten(inert(row.waits), 60)}"
    return (
        row.run,
        shorten(inert(row.task_name), 24),
        row.agent or "-",
        ago(row.started_at),
        shorten(inert(row.command), 40),
        shorten(inert(row.last_line), 40) or "-",
        waits,
    )


def _output_options(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", metavar="RUN", help="default: last")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--raw", action="store_true", help="byte for byte, whatever it is")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the run has ended")


def _output(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import say_left
    from siding.feed.running import named_run
    from siding.record.place.project import require_project
    from siding.record.recording.step_details import Piece, find_run, follow, output
    from siding.running.named_run import task_of_named

    project = require_project(context.app)
    named = task_of_named(project, arguments.task, (arguments.run,), ended=True)
    wanted = named_run(project, named, arguments.run)
    task, found = find_run(project, named, wanted)
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


OUTPUT = Verb(
    """\
Print the output of a run: of one that lives, or of a recorded step.

Of a program that draws on its terminal, an editor or an agent, it is the last screen as text; --raw
gives its bytes. What prints lines is printed byte for byte. RUN is a run's id or name, a step's
number, or `last`. With --follow the command goes on, byte for byte, until the run has ended, or
until Ctrl-C, which leaves the run alone.

  siding output r7 --follow
  siding output web -f
""",
    _output_options,
    _output,
)


def _write(piece: Piece) -> None:
    target = sys.stdout.buffer if piece.stream == 1 else sys.stderr.buffer
    target.write(piece.data)
    target.flush()


DETACH_KEY = "ctrl-]"


_LOST = 1


def _attach_options(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="default: the only one that lives")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--detach-key",
        metavar="KEY",
        default=DETACH_KEY,
        help="with d behind it, leaves the run (default: ctrl-])",
    )
    parser.add_argument("--read-only", action="store_true", help="only look; keys go nowhere")
    parser.add_argument(
        "--own", action="store_true", help="open a conversation on its agent's own screen"
    )
    parser.add_argument(
        "-c", "--chat", metavar="ID", default="", help="with --own: such as c2 (default: newest)"
    )
    parser.add_argument(
        "-f", "--force", action="store_true", help="with --own: end what the agent has running"
    )


def _attach(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import say_left
    from siding.record.place.project import require_project
    from siding.running.attach import Left, attach, control_key, watch

    prefix = control_key(arguments.detach_key)
    if arguments.own:
        from siding.faces.cli.running.own_screen import open_own_screen

        return open_own_screen(arguments, context)
    if arguments.chat or arguments.force:
        raise UsageError("--chat and --force are of --own", hint="siding attach --own -c c2")
    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    watching = attach(
        project, arguments.task, arguments.run, prefix=prefix, read_only=arguments.read_only
    )
    _say_first(context, watching, arguments.detach_key, read_only=arguments.read_only)
    watched = watch(project, watching)
    exit_code = _say_last(context, watching, watched)
    if watched.left is not Left.DETACHED:
        say_left(context.screen, project, watching.task, watching.run.id)
    return exit_code


ATTACH = Verb(
    """\
Show a run in this terminal and type into it; leave it with Ctrl-] d, and it goes on.

RUN is a run's id (r7) or name; without one, the only run that lives in the task. Any number of
people may be attached at once; the run's terminal has the size of the window of whoever acted last.
A run without a terminal is only shown. When the run ends, so does this, with its exit status.

--own ends the hold of a conversation (`siding chat`) when its turn has ended, and opens it on the
agent's own screen, as a run. What waits in its queue is kept. Leaving the screen gives the
conversation back, with all that was said there. What cannot come along is shown first; while
something runs in the background it is refused without --force.

  siding attach
  siding attach r7 --read-only
  siding attach web --detach-key ctrl-a
  siding attach --own -c c2
""",
    _attach_options,
    _attach,
)


def _say_first(context: Context, watching: Watching, key: str, *, read_only: bool) -> None:
    what = shorten(inert(watching.run.title), 60)
    name = f"{task_name(watching.task.name)} · {watching.run.id} ({what})"
    context.screen.note(f"{name} · {key} d leaves it running", "dim")
    if not watching.has_terminal:
        context.screen.note("it has no terminal: what is typed goes nowhere", "dim")
    elif read_only:
        context.screen.note("only looking: what is typed goes nowhere", "dim")


def _say_last(context: Context, watching: Watching, watched: Watched) -> int:
    from siding.running.attach import Left

    screen, run = context.screen, watching.run
    if watched.skipped:
        screen.note(f"{size(watched.skipped)} were not shown: this terminal was too slow", "yellow")
    if watched.left is Left.DETACHED:
        screen.note(f"{task_name(watching.task.name)} · {run.id} goes on · siding attach {run.id}")
        return 0
    if watched.exit_code is None:
        screen.warn(f"the host of {run.id} is gone; the next command in the task records the run")
        return _LOST
    step = watched.step
    if step is None:
        screen.note(f"{task_name(watching.task.name)} · {run.id} · exit {watched.exit_code}")
    else:
        change = changes_with_turns(step)
        how = f"{step.status} · exit {watched.exit_code} · {change}"
        screen.note(f"{task_step(watching.task.name, step.id)} · {how}")
    return watched.exit_code


def _send_options(parser: ArgumentParser) -> None:
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


def _send(arguments: Namespace, context: Context) -> int:
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


SEND = Verb(
    """\
Type into the terminal of a run: a line with Enter, keys, or the bytes of a file.

RUN is a run's id (r7) or name. TEXT is typed first, then each --key in order, then the file. It
returns when the run's terminal has taken all of it. A run without a terminal has no input.

  siding send r7 'fix the failing test'
  siding send web --key ctrl-c
  siding send r7 --key escape --key up --key enter
  siding send r7 --file answers.txt
""",
    _send_options,
    _send,
    mixed=True,  # `siding send r7 --raw TEXT`
)


def _bytes_of(file: str | None) -> bytes | None:
    from pathlib import Path

    if file is None:
        return None
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _stop_options(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="*", metavar="RUN", help="default: the only one that lives")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "-a", "--all", action="store_true", help="every run, and all that was left running"
    )
    parser.add_argument("--now", action="store_true", help="SIGKILL at once")
    parser.add_argument("--json", action="store_true", help="print the steps as JSON")


def _stop(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import tell_stopped
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.running.stop import stop

    if arguments.all and arguments.run:
        raise UsageError("--all ends every run; leave out the names, or --all")
    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    found = stop(project, arguments.task, arguments.run, every=arguments.all, now=arguments.now)
    if arguments.json:
        steps = [each.step.line for each in found.runs if each.step is not None]
        print_json(context.screen, [*steps, *map(_left_record, found.left)])
        return 0
    tell_stopped(context.screen, found)
    if not found.runs and not found.left:
        name = task_name(select(project, arguments.task).name)
        context.screen.note(f"{name} · nothing runs in the task")
    return 0


STOP = Verb(
    """\
End what runs: everything that a run started, whatever it did to its session and its signals.

RUN is a run's id (r7) or name; without one, the only run that lives in the task. Each process gets
SIGTERM and two seconds to tidy up, then SIGKILL. The run is recorded as interrupted, with its
output and changes. Of a run that has ended, what it left running is ended (`siding runs` shows it).

  siding stop
  siding stop r7 web
  siding stop --all
""",
    _stop_options,
    _stop,
)


def _left_record(left: EndedLeft) -> dict[str, object]:
    return {
        "run": left.run.id,
        "task_id": left.task.id,
        "left_running_ended": [each._asdict() for each in left.ended],
        "could_not_be_ended": [each._asdict() for each in left.stays],
    }
