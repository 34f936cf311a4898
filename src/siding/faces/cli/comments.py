"""The verbs about comments on lines of a task's change."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.comments.comment import Placed
    from siding.record.place.project import Project

_MOST_COPIED = 74_000  # bytes: xterm takes 100,000 characters of base64 in one sequence


def _project(context: Context) -> Project:
    from siding.record.place.project import require_project

    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    return project


def _task_and_json(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="also those that are done")
    _task_and_json(parser)


def _list(arguments: Namespace, context: Context) -> int:
    from siding.comments.comment import written
    from siding.comments.comments import listed

    project = _project(context)
    task, found = listed(project, arguments.task)
    shown = [each for each in found if arguments.all or each.shown_state != "addressed"]
    if arguments.json:
        print_json(context.screen, [_record(each) for each in shown])
        return 0
    colours = {
        "stale": "yellow",
        "waiting": "yellow",
        "addressed": "dim",
        "draft": "bold",
        "sent": "green",
    }
    for number, each in enumerate(shown):
        head, *lines = written(each).split("\n")
        by = f" · by {each.comment.by}" if each.comment.by else ""
        if number:
            context.screen.print()
        context.screen.print(
            context.screen.style(
                f"{inert(head)} · {each.shown_state}{by}", colours[each.shown_state]
            )
        )
        for line in lines:
            context.screen.print(inert(line))
    if not shown:
        done = len(found) - len(shown)
        more = f" ({counted(done, 'comment')} done: --all)" if done else ""
        context.screen.note(f"{task_name(task.name)} · no comment is open{more}")
    return 0


LIST = Verb(
    """\
List the comments on a task's change, each with its lines as they are now.

A comment whose lines were changed since, or whose place is not certain, is called stale and shows
the lines as they were. So does `siding comments` alone.
""",
    _list_options,
    _list,
)


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument("place", metavar="PATH:LINE[-LINE]", help="the lines, from where you stand")
    parser.add_argument(
        "said", metavar="TEXT", help="what should be changed; - reads it from input"
    )
    parser.add_argument("--old", action="store_true", help="lines as before the task's change")
    _task_and_json(parser)


def _add(arguments: Namespace, context: Context) -> int:
    from siding.comments.comment import Side
    from siding.comments.comments import add, place_of

    project = _project(context)
    wanted = place_of(arguments.place, side=Side.OLD if arguments.old else Side.NEW)
    said = sys.stdin.read() if arguments.said == "-" else arguments.said
    task, placed = add(project, arguments.task, wanted, said)
    if arguments.json:
        print_json(context.screen, _record(placed))
        return 0
    comment = placed.comment
    if context.screen.quiet:
        context.screen.print(comment.id)
    first = inert(comment.snippet.split("\n")[0].strip())
    context.screen.note(
        f"{task_name(task.name)} · {comment.id} on {first!r} · siding comments send"
    )
    return 0


ADD = Verb(
    """\
Comment on lines of a task's change. It is a draft until `siding comments send`.

  siding comments add src/lexer.py:12-14 'this reads the file twice'
  siding comments add --old src/lexer.py:40 'why did this have to go?'
""",
    _add_options,
    _add,
)


def _resolve_options(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="such as c3")
    parser.add_argument("--open", action="store_true", help="the other way: they are not done")
    _task_and_json(parser)


def _resolve(arguments: Namespace, context: Context) -> int:
    from siding.comments.comments import resolve

    project = _project(context)
    task, changed = resolve(project, arguments.task, arguments.ids, is_open=arguments.open)
    if arguments.json:
        print_json(context.screen, [each.as_record() for each in changed])
        return 0
    for each in changed:
        context.screen.note(f"{task_name(task.name)} · {each.id} · {each.state.value}")
    return 0


RESOLVE = Verb(
    """\
Say that comments are done; an agent that was sent them does so, too. --open takes it back.
""",
    _resolve_options,
    _resolve,
)


def _send_options(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="default: all drafts")
    parser.add_argument(
        "--to", metavar="RUN", help="the run, where several agents live (default: the only one)"
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="only say how they would reach which run"
    )
    _task_and_json(parser)


def _send(arguments: Namespace, context: Context) -> int:
    from siding.chat.held_runs import HeldRuns
    from siding.comments.comments import send_to_agent

    project, screen = _project(context), context.screen
    sent = send_to_agent(
        project,
        arguments.task,
        arguments.ids,
        run=arguments.to,
        only_show=arguments.dry_run,
        held=HeldRuns(project),
    )
    what = counted(len(sent.comments), "comment")
    if arguments.json:
        record = {
            "run": None if sent.run is None else sent.run.id,
            "way": sent.way.value,
            "prompt": sent.prompt,
            "comments": [each.as_record() for each in sent.comments],
        }
        print_json(screen, record)
    elif sent.run is not None:
        name = inert(sent.run.name or sent.run.id)
        if arguments.dry_run:
            screen.note(f"{what} would reach {name} {sent.way.words}")
        elif sent.way.value == "queued":
            screen.note(f"{what} sent to {name}: it gets them {sent.way.words}", "green")
        elif sent.way.value == "typed":
            screen.note(f"{what} sent to {name} · siding attach {name}", "green")
        else:
            waits = "waits" if len(sent.comments) == 1 else "wait"
            screen.note(f"{what} {waits} for {name}: it gets them {sent.way.words}", "green")
    elif arguments.dry_run:
        screen.note(f"no agent here can be given {what}: the prompt would be printed, and copied")
    else:
        screen.print(sent.prompt)
        copied = (
            " It is on the clipboard, if your terminal allows that." if _copied(sent.prompt) else ""
        )
        screen.note(
            f"no agent runs here that could be given it, so this is the prompt for one.{copied}"
        )
    return 0


SEND = Verb(
    """\
Give comments to the agent of the task as its next prompt: those that are named, else all drafts.

It is typed into the run of the agent, or put into the queue of its conversation. One without a
terminal is given it by its hooks: Claude Code and Codex go on with it when their turn ends, Gemini
CLI gets it with its next prompt. Until the agent's transcript shows it, they wait. If none of these
lives, the prompt is printed, and copied to the clipboard by terminals that allow it (OSC 52):

  siding run -- claude -p "$(siding comments send)"
""",
    _send_options,
    _send,
)


def _copied(prompt: str) -> bool:
    """Have the terminal copy the prompt (xterm, OSC 52); tell whether it was asked to."""
    from base64 import b64encode

    raw = prompt.encode("utf-8", "replace")
    if not sys.stdout.isatty() or len(raw) > _MOST_COPIED:
        return False
    sys.stdout.write(f"\x1b]52;c;{b64encode(raw).decode('ascii')}\x07")
    sys.stdout.flush()
    return True


def _record(placed: Placed) -> dict[str, object]:
    record = placed.comment.as_record()
    record.pop("text_sha256")
    return {**record, "state": placed.shown_state, "stale": placed.is_stale}
