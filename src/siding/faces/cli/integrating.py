"""The verbs about agents that a person starts without a run: have them report, and their turns."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.agents.table import agents_with
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.colours import coloured_patch
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.questions import agreed, can_ask
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, changes
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError

if TYPE_CHECKING:
    from siding.integrating.settings import Change, Integration
    from siding.integrating.turns import BesideTurn, Turns

AGENTS = agents_with("settings")
_INTEGRATE_HEADER = ("AGENT", "INTEGRATED", "SETTINGS")
_AROUND = 1  # lines that are shown around a change: the file may have keys in it
_WORDS = {  # by `Integrated`
    "no": "no",
    "yes": "yes",
    "otherwise": "not as it should be: integrate it again",
    "unreadable": "unknown",
}
_TURNS_HEADER = ("TURN", "WHEN", "AGENT", "BRANCH", "CHANGED", "PROMPT")


def _integrate_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agents", nargs="*", metavar="AGENT", help=f"which agents: {', '.join(AGENTS)}"
    )
    parser.add_argument("--remove", action="store_true", help="take the hooks out again")
    parser.add_argument("--list", action="store_true", help="say which agents are integrated")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="with --list: print it as JSON")


def _integrate(arguments: Namespace, context: Context) -> int:
    from siding.integrating.settings import carry_out, integrations, putting_in, taking_out

    screen = context.screen
    if arguments.list or not arguments.agents:
        if arguments.remove:
            raise UsageError("--remove needs the name of an agent", hint=", ".join(AGENTS))
        _print_integrations(screen, integrations(context.app), as_json=arguments.json)
        return 0
    make = taking_out if arguments.remove else putting_in
    changes = [make(context.app, name) for name in dict.fromkeys(arguments.agents)]
    status = 0
    for change in changes:
        if not change.is_needed:
            screen.note(f"{change.agent} · {'not ' if arguments.remove else ''}integrated already")
            continue
        _show_change(screen, change)
        if not arguments.yes and not _agreed(change):
            screen.note(f"{change.agent} · nothing was changed")
            status = 1
            continue
        carry_out(change)
        _tell_change(screen, change, is_removed=arguments.remove)
    return status


INTEGRATE = Verb(
    """\
Have an agent report its turns wherever you start it, not only in `siding run`.

It puts hooks into your own settings of the agent, after it has shown them to you. From then on, in
a task's workspace each turn is a step; in a checkout of a project each turn is kept beside your
branch (`siding turns`), where nothing of yours is moved. Elsewhere the hooks do nothing, and in
`siding run` they leave it to the run. Commands are not judged that way, and no question is put.

  siding integrate claude
  siding integrate codex --remove
  siding integrate --list
""",
    _integrate_options,
    _integrate,
)


def _print_integrations(screen: Screen, found: list[Integration], *, as_json: bool) -> None:
    from siding.integrating.settings import Integrated

    if as_json:
        print_json(
            screen,
            [
                {
                    "agent": each.agent,
                    "integrated": each.state.value,
                    "settings": str(each.file),
                    "why": each.why,
                }
                for each in found
            ],
        )
        return
    rows = [(each.agent, _integrate_words(each), inert(str(each.file))) for each in found]
    print_table(
        screen, _INTEGRATE_HEADER, rows, dim=[each.state is Integrated.NO for each in found]
    )


def _integrate_words(found: Integration) -> str:
    words = _WORDS[found.state.value]
    return f"{words}: {inert(found.why)}" if found.why else words


def _show_change(screen: Screen, change: Change) -> None:
    from difflib import unified_diff

    screen.note(f"{change.agent} · {inert(str(change.file))}")
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    lines = list(unified_diff(list(before), list(after), lineterm="", n=_AROUND))
    for line in lines[2:]:
        colour = {"+": "green", "-": "red"}.get(line[:1], "dim")
        screen.print(screen.style(inert(line), colour))
    if change.after is None:
        screen.note("  the file goes: it was made for this, and holds nothing else")


def _agreed(change: Change) -> bool:
    if not can_ask():
        raise UsageError(
            f"nobody can be asked whether {change.file} may be changed", hint="--yes agrees"
        )
    return agreed(f"change the settings of {change.agent}?")


def _tell_change(screen: Screen, change: Change, *, is_removed: bool) -> None:
    if is_removed:
        screen.note(f"{change.agent} · its turns are no longer recorded outside of `siding run`")
        return
    screen.note(f"{change.agent} · integrated: what it does in a project is recorded", "green")
    screen.note("  in a workspace each turn is a step, in a checkout see `siding turns`")
    screen.note("  an agent that runs now has to be started again")


def _report_options(parser: ArgumentParser) -> None:
    parser.add_argument("agent")


def _report(arguments: Namespace, context: Context) -> int:
    from siding.integrating.reports import reported

    said = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        answer = reported(context.app, arguments.agent, _report_parsed(said))
    except (SidingError, OSError) as error:
        what = error.message if isinstance(error, SidingError) else str(error)
        context.screen.warn(f"this turn is not recorded: {inert(what)}")
        return 1
    context.screen.out.write(answer.output)
    return answer.status


REPORT = Verb(
    """\
Record what an integrated agent reports: its words are JSON on standard input.

Whatever goes wrong, the exit status is not 2: by that a hook keeps agents from a prompt, or from
stopping.
""",
    _report_options,
    _report,
)


def _report_parsed(said: str) -> dict[str, Any]:
    import json

    try:
        payload = json.loads(said)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise UsageError("the agent's words are not a JSON object")
    return payload


def _turns_options(parser: ArgumentParser) -> None:
    parser.add_argument("turn", nargs="?", metavar="N", help="show this one, or the `last`")
    parser.add_argument("--json", action="store_true", help="print the turn (or all) as JSON")


def _turns(arguments: Namespace, context: Context) -> int:
    from siding.integrating.turns import turns
    from siding.record.place.project import require_project

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    found = turns(project)
    if arguments.turn is None:
        _turns_list(screen, found, as_json=arguments.json)
        return 0
    turn = found.find(arguments.turn)
    if arguments.json:
        print_json(screen, _turn_record(turn))
    elif not turn.after:
        raise UsageError(
            f"turn {turn.number} has not ended", hint="its end is recorded when the agent stops"
        )
    else:
        found.require(turn)
        _turns_show(screen, found, turn)
    return 0


TURNS = Verb(
    """\
List what agents did in this checkout, turn by turn, beside your branch; or show one.

An agent that you have integrated (`siding integrate`) and start by yourself leaves a snapshot
before and after each turn. Your files, branch, index and commits are not touched, and there is
nothing to go back to by itself: `siding turns N | git apply -R` takes what a turn has changed out
of your files, and git says what is in its way.
""",
    _turns_options,
    _turns,
)


def _turns_list(screen: Screen, found: Turns, *, as_json: bool) -> None:
    if as_json:
        print_json(screen, [_turn_record(each) for each in found.all])
        return
    if not found.all:
        screen.note("no turn of an agent was recorded in this checkout")
        screen.note("  `siding integrate AGENT` has an agent report them")
        return
    dim = [bool(found.freed_at(each)) for each in found.all]
    rows = [_turns_cells(each, is_freed=freed) for each, freed in zip(found.all, dim, strict=True)]
    print_table(screen, _TURNS_HEADER, rows, dim=dim)


def _turns_cells(turn: BesideTurn, *, is_freed: bool) -> tuple[str, ...]:
    from siding.integrating.turns import title_of

    changed = changes(*turn.figures) if turn.after else "(not ended)"
    changed += " (freed)" if is_freed else ""
    branch = inert(turn.branch) or "-"
    return str(turn.number), ago(turn.at), turn.agent, branch, changed, inert(title_of(turn))


def _turns_show(screen: Screen, found: Turns, turn: BesideTurn) -> None:
    if not sys.stdout.isatty() and not screen.colour:
        sys.stdout.flush()
        found.write_patch(turn, sys.stdout.fileno())  # to a program, byte for byte
        return
    with paged(screen):
        branch = f" on {inert(turn.branch)}" if turn.branch else ""
        screen.print(screen.style(f"turn {turn.number}{branch}, {ago(turn.at)}", "bold"))
        screen.print(f"  {turn.agent}, session {inert(turn.session)}")
        for prompt in turn.prompts:
            for at, line in enumerate(prompt.splitlines()):
                screen.print(f"  {' ' if at else '>'} {inert(line)}")
        screen.print(f"  {changes(*turn.figures)}")
        for line in found.patch_lines(turn):
            screen.print(coloured_patch(screen, line))


def _turn_record(turn: BesideTurn) -> dict[str, object]:
    figures = turn.figures._asdict()
    record = {**turn._asdict(), **figures}
    del record["figures"]
    return record
