"""The verbs `siding guard` and `siding policy …`: what commands may do."""

from __future__ import annotations

import os
from argparse import REMAINDER, ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from pathlib import Path

    from siding.broker.inside import Inside
    from siding.guard.views import CheckedCommand

_GUARD_WORDS = {"on": "on", "off": "off", "ask": "unasked"}
REFUSED = 5
HIDDEN = (
    "this step runs in a sandbox that hides Siding's home: whether a policy is in force outside, "
    "and what yours says, cannot be seen here"
)
_COLOURS = {"allow": "green", "log": "green", "warn": "yellow", "ask": "yellow", "block": "red"}
HEADER = ("RULE", "SET", "ACTION", "FROM", "WHAT IT MATCHES")
_RUNS = {
    True: "judged by it",
    False: "not judged: no policy is switched on",
    None: "not known: this step runs in a sandbox that hides Siding's home",
}


def _guard_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "word", nargs="?", choices=tuple(_GUARD_WORDS), help="default: show what is set"
    )


def _guard(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.questions import say_guard
    from siding.guard.guard import Guard, answer_guard, guard
    from siding.record.recording.calling_step import refuse_inside_any_step

    if arguments.word is not None:
        refuse_inside_any_step(
            context.app,
            "how agents run is for a person to say",
            hint="ask the person to type it in a terminal of their own",
        )
        answer_guard(context.app, Guard(_GUARD_WORDS[arguments.word]))
    say_guard(context.screen, guard(context.app))
    return 0


GUARD = Verb(
    """\
Say whether agents run guarded: in a sandbox, and judged by the policy. For all projects.

on: every agent that `siding run` or a workflow starts is sandboxed as with `sandbox.mode: on`, and
what it does is judged by the built-in rules and your policy files. off: as the settings and options
say. ask: the next agent at a terminal asks. Settings (`sandbox.mode`, `policy.enabled`) and options
(--no-sandbox, --judge off) go before it. Without a word it shows what is set.
""",
    _guard_options,
    _guard,
)


def _check_options(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.add_argument("-c", dest="line", metavar="LINE", help="a line of shell instead")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument(
        "command", nargs=REMAINDER, metavar="COMMAND", help="the command and its arguments"
    )


def _check(arguments: Namespace, context: Context) -> int:
    from siding.broker.inside import broker_of_sandbox
    from siding.guard.views import as_record, check

    command = _command(arguments, context.app.cwd)
    inside = broker_of_sandbox(context.app)
    if inside is None:
        checked = check(context.app, command)
    else:
        checked = _check_inside(inside, command, context.app.cwd)
    if arguments.json:
        print_json(context.screen, as_record(checked))
    else:
        _explain(context, checked)
        if arguments.line is None and isinstance(command, str):
            context.screen.note(
                "taken as a line of shell, as with -c; `siding run` takes one word as the name "
                "of a program"
            )
    return 0 if checked.verdict.runs else REFUSED


CHECK = Verb(
    """\
Show the policy's verdict on a command, part by part. Nothing is run.

Every simple command that is found is listed with what it was found in, and the rules it matches.
The exit status is 0 for what would run, 5 for what is blocked or would be asked about.

  siding policy check -- rm -rf build
  siding policy check -c 'git push --force; make'
""",
    _check_options,
    _check,
)


def _command(arguments: Namespace, cwd: Path) -> tuple[str, ...] | str:
    """Return the words of a command, or a line of shell: one word with blanks in it is a line too,
    unless it is the path of a program."""
    words = tuple(arguments.command)
    if words[:1] == ("--",):
        words = words[1:]
    line: str | None = arguments.line
    if (line is None) == (not words):
        raise UsageError(
            "give one command to check",
            hint="siding policy check -- COMMAND, or siding policy check -c 'LINE OF SHELL'",
        )
    if line is None and len(words) == 1 and " " in words[0].strip():
        return words if os.path.isfile(cwd / words[0]) else words[0]
    return words if line is None else line


def _explain(context: Context, checked: CheckedCommand) -> None:
    from siding.guard.guard import Guard, guard
    from siding.guard.in_force import how_to_only_warn

    screen = context.screen
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
    elif not checked.on and guard(context.app) is Guard.ON:
        screen.note(
            "no policy is switched on here: `siding run` judges what agents do, as `siding "
            "guard` is on, and no other command"
        )
    elif not checked.on:
        screen.note("no policy is switched on here: `siding run` asks nothing and blocks nothing")


def _check_inside(inside: Inside, command: tuple[str, ...] | str, cwd: Path) -> CheckedCommand:
    """Return the verdict of the policy outside of the sandbox."""
    from siding.guard.views import from_record

    if isinstance(command, str):
        return from_record(inside.ask("policy.check", command=command, cwd=str(cwd)))
    return from_record(inside.ask("policy.check", argv=list(command), cwd=str(cwd)))


def _test_options(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print every example as JSON")


def _test(arguments: Namespace, context: Context) -> int:
    from siding.guard.views import examples

    screen = context.screen
    tried = list(examples(context.app))
    failed = [each for each in tried if not each.holds]
    if arguments.json:
        print_json(
            screen,
            [
                {
                    "line": each.line,
                    "wanted": each.wanted.value,
                    "action": each.verdict.action.value,
                    "rules": sorted({finding.rule for finding in each.verdict.findings}),
                    "holds": each.holds,
                }
                for each in tried
            ],
        )
        return 1 if failed else 0
    for each in failed:
        rules = ", ".join(dict.fromkeys(finding.rule for finding in each.verdict.findings))
        found = each.verdict.action.value + (f" ({rules})" if rules else "")
        screen.print(f"{each.line!r} should be {each.wanted.value}, and is {inert(found)}")
    if not tried:
        screen.note("this project has no examples; see `examples` in docs/policy.md")
    elif failed:
        screen.note(f"{len(failed)} of {counted(len(tried), 'example')} differ", "red")
    else:
        screen.note(f"{counted(len(tried), 'example')} as they should be", "green")
    return 1 if failed else 0


TEST = Verb(
    """\
Run the project's own examples: `examples` in its policy, and `.siding/policy-tests.yaml`.

Each is a line of shell under the action it should have; `allow` stands for whatever runs without
a question. They are judged by the project's file alone. The exit status is 1 when one differs.
""",
    _test_options,
    _test,
)


def _list_options(parser: ArgumentParser) -> None:
    add_format(parser, "table", "json")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.guard.views import rules

    screen = context.screen
    in_force, listed = rules(context.app)
    rows = [(each.name, each.group, each.action, each.source, each.reason) for each in listed]
    if arguments.format == "json":
        keys = ("rule", "set", "action", "from", "reason")
        print_json(screen, [dict(zip(keys, row, strict=True)) for row in rows])
        return 0
    with paged(screen):
        print_table(screen, HEADER, rows)
    if in_force.policy.broken:
        screen.warn(f"everything is blocked: {in_force.policy.broken}")
    return 0


LIST = Verb(
    """\
List the rules: what each does, and which file made it so. Those that are off are listed too.""",
    _list_options,
    _list,
)


def _show_options(parser: ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="RULE", help="default: the policy's files")
    add_format(parser, "text", "json")


def _show(arguments: Namespace, context: Context) -> int:
    screen = context.screen
    lines = _files(context) if arguments.rule is None else _rule(context, arguments.rule)
    if arguments.format == "json":
        print_json(screen, _as_record(lines))
        return 0
    _print_policy(screen, lines)
    return 0


SHOW = Verb(
    """Show where the policy of this place comes from, or one of its rules.""",
    _show_options,
    _show,
)


def _rule(context: Context, name: str) -> list[tuple[str, str]]:
    from siding.guard.views import rule_named

    found = rule_named(context.app, name)
    return [
        ("rule", found.name),
        ("set", found.group),
        ("action", found.action),
        ("from", found.source),
        ("built-in", found.built_in),
        ("reason", found.reason),
        ("pattern", found.pattern),
    ]


def _files(context: Context) -> list[tuple[str, str]]:
    from siding.guard.views import is_on, rules

    in_force, _listed = rules(context.app)
    lines = [("runs", _RUNS[is_on(context.app, in_force)])]
    lines += [("broken", in_force.policy.broken)]
    for source in in_force.sources:
        lines.append((source.name, str(source.path)))
        trust = "trusted" if source.trusted else "not trusted"
        for each in source.policy.loosens:
            counts = f" ({trust})" if source.from_repository else ""
            lines.append(("permits", f"{each}{counts}"))
    return lines


def _print_policy(screen: Screen, lines: list[tuple[str, str]]) -> None:
    for label, text in lines:
        if text:
            screen.print(f"{screen.style(f'{label:<9}', 'dim')} {inert(text)}")


def _as_record(lines: list[tuple[str, str]]) -> dict[str, object]:
    record: dict[str, object] = {}
    for label, text in lines:
        if label == "permits":
            permits = record.setdefault("permits", [])
            assert isinstance(permits, list)
            permits.append(text)
        elif text:
            record[label] = text
    return record
