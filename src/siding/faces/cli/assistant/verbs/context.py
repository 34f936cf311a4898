"""What a conversation's context consists of, in tokens, and how much of the window that is.

It is what the next request would have: the system prompt, instruction files, definitions of tools,
and the messages that were not compacted away. The figures are estimated from the length of the
text; what the model itself counted of the last request is shown beside them. It is the newest
conversation of this workspace, or SESSION; where there is none, what a new one would begin with.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert

if TYPE_CHECKING:
    from siding.assistant.looking.context_use import ContextPart, ContextUse


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="")
    parser.add_argument("-a", "--all", action="store_true", help="each tool on its own line")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.context_use import context_use
    from siding.record.place.project import require_project

    found = context_use(require_project(context.app), arguments.session)
    if arguments.json:
        print_json(context.screen, _record(found))
        return 0
    screen = context.screen
    screen.print(inert(f"{found.session[:8]}  {found.title}" if found.session else "a new one"))
    model = inert(found.model) or "a model that is not known"
    share = _share(found.tokens, found.window)
    told = f"about {found.tokens:,} tokens of {found.window:,} ({share}), the window of {model}"
    screen.print(told)
    if found.counted is not None:
        share = _share(found.counted, found.window)
        screen.print(f"the model counted {found.counted:,} with the last request ({share})")
    screen.print()
    tools = found.tools if arguments.all else (_summed(found.tools),)
    rows = [
        (inert(part.name), part.origin, f"~{part.tokens:,}", part.note)
        for part in (*found.parts, *tools, *found.messages)
    ]
    screen.table(("PART", "OF", "TOKENS", ""), rows)
    return 0


def _summed(tools: tuple[ContextPart, ...]) -> ContextPart:
    from siding.assistant.looking.context_use import ContextPart

    name = f"definitions of {len(tools)} tools"
    sizes = (sum(each.characters for each in tools), sum(each.tokens for each in tools))
    return ContextPart(name, "Siding", characters=sizes[0], tokens=sizes[1])


def _share(tokens: int, window: int) -> str:
    return f"{100 * tokens / window:.1f} %"


def _record(found: ContextUse) -> dict[str, Any]:
    lists = ("parts", "tools", "messages")
    shown = {name: [each._asdict() for each in getattr(found, name)] for name in lists}
    return {**found._asdict(), **shown, "tokens": found.tokens, "is_estimated": True}
