"""Say whether agents run guarded: in a sandbox, and judged by the policy. For all projects.

on: every agent that `siding run` or a workflow starts is sandboxed as with `sandbox.mode: on`, and
what it does is judged by the built-in rules and your policy files. off: as the settings and options
say. ask: the next agent at a terminal asks. Settings (`sandbox.mode`, `policy.enabled`) and options
(--no-sandbox, --judge off) go before it. Without a word it shows what is set.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context

_WORDS = {"on": "on", "off": "off", "ask": "unasked"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("word", nargs="?", choices=tuple(_WORDS), help="default: show what is set")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.guards import say_guard
    from siding.guard.guard import Guard, answer_guard, guard
    from siding.record.recording.calling_step import refuse_inside_any_step

    if arguments.word is not None:
        refuse_inside_any_step(
            context.app,
            "how agents run is for a person to say",
            hint="ask the person to type it in a terminal of their own",
        )
        answer_guard(context.app, Guard(_WORDS[arguments.word]))
    say_guard(context.screen, guard(context.app))
    return 0
