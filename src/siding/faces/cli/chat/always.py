"""What agents may always do: list it, and take it back."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.chat.wording import LASTS
from siding.faces.cli.chat.which import add_which, opened
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.verb import Verb
from siding.ground.errors import NoActiveTask, NotFound, UsageError, counted

if TYPE_CHECKING:
    from siding.chat.always_kept import AlwaysRule, AlwaysRules

_EVERY = "all"


def _options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--revoke",
        action="append",
        default=[],
        metavar="NUMBER",
        help="take one back: the next such ask is put to you; or all",
    )
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _always(arguments: Namespace, context: Context) -> int:
    rules = _rules(arguments, context)
    found = rules.all()
    if arguments.revoke:
        return _revoke(context, rules, found, arguments.revoke)
    if arguments.json:
        numbered = enumerate(found, start=1)
        print_json(context.screen, [{"number": at, **each._asdict()} for at, each in numbered])
        return 0
    if not found:
        context.screen.note("no agent may do anything here without asking, by what you have said")
        return 0
    _print(context, found)
    return 0


def _print(context: Context, found: list[AlwaysRule]) -> None:
    from siding.faces.cli.screen.table import print_table
    from siding.faces.cli.screen.words import ago

    rows = [
        (str(at), each.may, _how_long(each), ago(each.at), each.by)
        for at, each in enumerate(found, start=1)
    ]
    print_table(context.screen, ("NO", "IT MAY", "HOW LONG", "SINCE", "BY"), rows)
    context.screen.note("  take one back: siding chat always --revoke NUMBER", "dim")


def _how_long(rule: AlwaysRule) -> str:
    return f"{rule.agent}, in this project" if rule.scope == "agent" else LASTS[rule.scope]


def _revoke(
    context: Context, rules: AlwaysRules, found: list[AlwaysRule], numbers: list[str]
) -> int:
    from siding.record.recording.calling_step import refuse_inside_step

    project = opened(context)
    refuse_inside_step(
        project,
        "what an agent may always do is a person's to say",
        hint="`siding chat always --revoke NUMBER` in a terminal of your own",
    )
    gone = found if _EVERY in numbers else [_numbered(found, each) for each in numbers]
    rules.forget(gone)
    context.screen.note(f"took back {counted(len(gone), 'permission')}: it is asked again", "green")
    return 0


def _numbered(found: list[AlwaysRule], number: str) -> AlwaysRule:
    if not number.isdecimal():
        raise UsageError(f"{number!r} is no number", hint=f"--revoke NUMBER, or {_EVERY}")
    if not 1 <= int(number) <= len(found):
        raise NotFound(f"there is no {number} among them", hint="`siding chat always` lists them")
    return found[int(number) - 1]


def _rules(arguments: Namespace, context: Context) -> AlwaysRules:
    """Return those of the conversation that is meant; where there is none, the wider ones."""
    from siding.chat.always_kept import AlwaysRules
    from siding.chat.store import Chats
    from siding.record.place.selection import select

    project = opened(context)
    try:
        task = select(project, arguments.task)
    except NoActiveTask:
        return AlwaysRules(project, None, None)
    chats = Chats(project.task_layout(task.id))
    has_one = bool(arguments.chat or chats.all())
    return AlwaysRules(project, task.id, chats.find(arguments.chat) if has_one else None)


ALWAYS = Verb(
    """\
List what agents may do without asking, as you have said with `siding chat answer --always`.

What the policy blocks stays blocked, and what it asks about is asked.

  siding chat always --revoke 2
""",
    _options,
    _always,
)
