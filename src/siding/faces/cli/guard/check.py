"""Show the policy's verdict on a command, part by part. Nothing is run.

Every simple command that is found is listed with what it was found in, and the rules it matches.
The exit status is 0 for what would run, 5 for what is blocked or would be asked about.

  siding policy check -- rm -rf build
  siding policy check -c 'git push --force; make'
"""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.broker.inside import Inside
    from siding.guard.views import CheckedCommand


REFUSED = 5
HIDDEN = (
    "this step runs in a sandbox that hides Siding's home: whether a policy is in force outside, "
    "and what yours says, cannot be seen here"
)
_COLOURS = {"allow": "green", "log": "green", "warn": "yellow", "ask": "yellow", "block": "red"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.add_argument("-c", dest="line", metavar="LINE", help="a line of shell instead")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument("command", nargs=REMAINDER, help="the command and its arguments")


def run(arguments: Namespace, context: Context) -> int:
    from siding.broker.inside import broker_of_sandbox
    from siding.guard.advice import how_to_run_a_line
    from siding.guard.views import as_record, check

    command = _command(arguments)
    inside = broker_of_sandbox(context.app)
    if inside is None:
        checked = check(context.app, command)
    else:
        checked = _check_inside(inside, command, context.app.cwd)
    if arguments.json:
        print_json(context.screen, as_record(checked))
    else:
        _explain(context.screen, checked)
        words = () if isinstance(command, str) else command
        if not checked.verdict.runs and (advice := how_to_run_a_line(words)):
            context.screen.note(inert(advice))
    return 0 if checked.verdict.runs else REFUSED


def _command(arguments: Namespace) -> tuple[str, ...] | str:
    words = tuple(arguments.command)
    if words[:1] == ("--",):
        words = words[1:]
    line: str | None = arguments.line
    if (line is None) == (not words):
        raise UsageError(
            "give one command to check",
            hint="siding policy check -- COMMAND, or siding policy check -c 'LINE OF SHELL'",
        )
    return words if line is None else line


def _explain(screen: Screen, checked: CheckedCommand) -> None:
    from siding.guard.advice import how_to_only_warn

    for part in checked.verdict.parts:
        inside = "".join(f"{each} > " for each in part.via)
        action = screen.style(f"{part.action.value:<6}", _COLOURS[part.action.value])
        screen.print(f"{action} {inert(inside + part.text)}")
        for each in part.findings:
            matched = f": {each.matched}" if each.matched else ""
            said = f"{each.action.value}, {each.rule}: {each.reason}{matched}"
            screen.print(f"       {inert(said)}")
    action = checked.verdict.action.value
    screen.print(f"verdict: {screen.style(action, _COLOURS[action])}")
    if advice := how_to_only_warn(checked.verdict):
        screen.note(inert(advice))
    if checked.on is None:
        screen.note(HIDDEN)
    elif not checked.on:
        screen.note("no policy is switched on here: `siding run` asks nothing and blocks nothing")


def _check_inside(inside: Inside, command: tuple[str, ...] | str, cwd: Path) -> CheckedCommand:
    """Return the verdict of the policy outside of the sandbox."""
    from siding.guard.views import from_record

    if isinstance(command, str):
        return from_record(inside.ask("policy.check", command=command, cwd=str(cwd)))
    return from_record(inside.ask("policy.check", argv=list(command), cwd=str(cwd)))
