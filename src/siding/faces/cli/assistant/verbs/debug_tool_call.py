"""Show calls of tools: the last 5 with the beginning of each value, the last N, or CALL whole.

CALL is the id of a call, or the beginning of it: its input, its result as the model got it, what
the tool told programs beside it, and its times. It is of the newest conversation of this workspace,
or of --session. Whether it was permitted stands in its result: a refused call has that for one.

  siding agent debug-tool-call
  siding agent debug-tool-call 20
  siding agent debug-tool-call toolu_01
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import json_text, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import duration, local_time
from siding.ground.errors import NotFound, UsageError

if TYPE_CHECKING:
    from siding.assistant.looking.turns import ToolCall


_USUAL = 5
_SHOWN = 200  # columns of a value in the list


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("which", nargs="?", metavar="N|CALL", default=str(_USUAL))
    parser.add_argument("--session", metavar="SESSION", default="", help="of this conversation")
    parser.add_argument("--failed", action="store_true", help="only those that failed")
    parser.add_argument("--json", action="store_true", help="say it as JSON, whole")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.chosen import looked_at
    from siding.assistant.looking.turns import calls_of
    from siding.record.place.project import require_project

    found = looked_at(require_project(context.app), arguments.session)
    calls = calls_of(found.history)
    if arguments.failed:
        calls = [call for call in calls if call.is_error or not call.has_result]
    shown, is_whole = _chosen(calls, arguments.which)
    if arguments.json:
        print_json(context.screen, [_record(call) for call in shown])
    elif not shown:
        context.screen.note("no tool was called")
    for call in [] if arguments.json else shown:
        _print(context, call, is_whole=is_whole)
    return 0


def _chosen(calls: list[ToolCall], which: str) -> tuple[list[ToolCall], bool]:
    named = [call for call in calls if which and call.id.startswith(which)]
    if which.isascii() and which.isdigit() and not any(call.id == which for call in named):
        return (calls[-int(which) :] if int(which) else []), False
    exact = [call for call in named if call.id == which] or named
    if len(exact) > 1:
        raise UsageError(f"{which!r} could be {len(exact)} calls", hint="give more of the id")
    if not exact:
        raise NotFound(
            f"there is no call {which!r} in this conversation",
            hint="`siding agent debug-tool-call 20` shows the last ones",
        )
    return exact, True


def _print(context: Context, call: ToolCall, *, is_whole: bool) -> None:
    screen = context.screen
    screen.print(inert(f"{call.id}  {call.name}  {_ending(call)}  {local_time(call.at)}"))
    if not is_whole:
        screen.print(f"  input:  {_short(call.given)}")
        screen.print(f"  result: {_short(call.result)}")
        return
    screen.print(f"turn {call.turn}, from {inert(call.at)} to {inert(call.ended_at) or '-'}")
    screen.print("\ninput:\n" + inert(json_text(call.given), lines=True))
    screen.print("\nresult:\n" + inert(call.result, lines=True))
    if call.details is not None:
        screen.print("\ntold to programs:\n" + inert(json_text(call.details), lines=True))


def _ending(call: ToolCall) -> str:
    if not call.has_result:
        return "without a result"
    took = "" if call.took_ms is None else f" in {duration(call.took_ms)}"
    return ("failed" if call.is_error else "done") + took


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return shorten(inert(" ".join(text.split())), _SHOWN)


def _record(call: ToolCall) -> dict[str, Any]:
    return {**call._asdict(), "took_ms": call.took_ms}
