"""What was done in a conversation of the agent, turn by turn, from its record. No model is asked.

Of each turn: the prompt, its steps with what they changed, the commands that were run, the calls
that failed, and the beginning of the answer. It is the newest conversation of this workspace, or
SESSION. `away` and `catchup` are the same.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import counted, duration, local_time

if TYPE_CHECKING:
    from siding.assistant.looking.recap import Recap, RecapTurn


_WIDE = 100  # columns of a text that is shown with its beginning
_MOST = 8  # commands and failures that are shown of a turn


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="")
    parser.add_argument("-n", "--last", type=int, metavar="N", help="only the last N turns")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.recap import recap_of
    from siding.record.place.project import require_project

    found = recap_of(require_project(context.app), arguments.session)
    if arguments.last is not None:
        found = found._replace(turns=found.turns[-arguments.last :] if arguments.last > 0 else ())
    if arguments.json:
        print_json(context.screen, _record(found))
        return 0
    context.screen.print(inert(f"{found.session[:8]}  {found.title}"))
    if not found.turns:
        context.screen.note("nothing was said in it yet")
    for turn in found.turns:
        _print(context, turn)
    return 0


def _print(context: Context, found: RecapTurn) -> None:
    screen, turn = context.screen, found.turn
    when = f"{local_time(turn.at)}, {duration(turn.took_ms)}"
    screen.print(f"\n{turn.number}. {_line(turn.prompt)}  ({when})")
    for step in found.steps:
        names = ", ".join(step.diff_stat.file_list[:_MOST])
        what = f"{counted(step.files, 'file')} +{step.additions} -{step.deletions}"
        screen.print(inert(f"   step {step.id}: {what if step.files else 'no change'}  {names}"))
    _print_some(context, [f"ran: {_line(command)}" for command in found.commands])
    failed = [
        f"failed: {call.name}: {_line(call.result or 'it was cut off')}" for call in found.failed
    ]
    _print_some(context, failed)
    if turn.failure:
        screen.print(f"   the model failed: {_line(turn.failure)}")
    if turn.answer:
        screen.print(f"   said: {_line(turn.answer)}")


def _print_some(context: Context, lines: list[str]) -> None:
    for line in lines[:_MOST]:
        context.screen.print(f"   {line}")
    if len(lines) > _MOST:
        context.screen.print(f"   and {len(lines) - _MOST} more")


def _line(text: str) -> str:
    return shorten(inert(" ".join(text.split())), _WIDE)


def _record(found: Recap) -> dict[str, Any]:
    return {
        "session": found.session,
        "title": found.title,
        "turns": [
            {
                **each.turn._asdict(),
                "took_ms": each.turn.took_ms,
                "calls": each.calls,
                "steps": [
                    {
                        "step": step.id,
                        "files": list(step.diff_stat.file_list),
                        "additions": step.additions,
                        "deletions": step.deletions,
                    }
                    for step in each.steps
                ],
                "commands": list(each.commands),
                "failed": [
                    {"id": call.id, "tool": call.name, "result": call.result}
                    for call in each.failed
                ],
            }
            for each in found.turns
        ],
    }
