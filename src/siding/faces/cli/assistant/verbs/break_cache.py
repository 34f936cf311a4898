"""Where the provider's prompt cache was missed in a conversation, and what is the likely cause.

A request that reads less from the cache than the one before it had kept has missed. It is the
newest conversation of this workspace, or SESSION. Nothing is changed: DISABLE_PROMPT_CACHING=1
turns the cache off.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import counted, local_time


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="")
    parser.add_argument("--json", action="store_true", help="say it as JSON, with all requests")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.caching import cache_use
    from siding.assistant.looking.chosen import looked_at
    from siding.assistant.looking.turns import requests_of
    from siding.record.place.project import require_project

    screen = context.screen
    looked = looked_at(require_project(context.app), arguments.session)
    found = cache_use(requests_of(looked.history))
    if arguments.json:
        misses = {miss.number: miss for miss in found.misses}
        rows = [
            {
                "number": number,
                **request._asdict(),
                "lost": misses[number].lost if number in misses else 0,
                "cause": misses[number].cause if number in misses else "",
            }
            for number, request in enumerate(found.requests, start=1)
        ]
        print_json(screen, {"session": looked.id, "requests": rows})
        return 0
    read = sum(each.cache_read for each in found.requests)
    sent = sum(each.prompt for each in found.requests)
    screen.print(inert(f"{looked.id[:8]}  {looked.title}"))
    share = f"{100 * read // sent} %" if sent else "nothing"
    asked = counted(len(found.requests), "request")
    screen.print(f"{asked}, {sent:,} tokens sent, {share} of them from the cache")
    if not found.is_cached:
        screen.note("the provider told of no cache in this conversation")
    elif not found.misses:
        screen.note("no request has missed it")
    for miss in found.misses:
        when = f"request {miss.number}, turn {miss.request.turn}, {local_time(miss.request.at)}"
        screen.print(f"  {when}: {miss.lost:,} tokens read anew: {miss.cause}")
    return 0
