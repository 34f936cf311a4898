"""Print the feed of all projects: a table for people, lines of JSON for programs."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json, print_line
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.feed.client import Cursor
    from siding.feed.model import Change, Feed

_WIDEST = 60  # columns of what a row says


def print_feed(context: Context, arguments: Namespace) -> int:
    """Print the feed as the options say."""
    from siding.feed.client import feed_now

    as_json = arguments.format == "json"
    if arguments.task is not None or arguments.short:
        raise UsageError("--all is about every task; leave out --task and --short")
    if arguments.follow or arguments.after is not None:
        if not as_json:
            raise UsageError("--follow and --after print lines for programs; add --json")
        _print_lines(context, arguments.after, follow=arguments.follow)
        return 0
    found = feed_now(context.app)
    if as_json:
        print_json(context.screen, {"feed": found.as_record()})
        return 0
    for sentence in found.problems:
        context.screen.warn(inert(sentence))
    _print_rows(context, found)
    return 0


def _print_rows(context: Context, found: Feed) -> None:
    if not found.rows:
        context.screen.note("no task yet; `siding run -- COMMAND` begins one")
        return
    print_table(
        context.screen,
        ("STATE", "SINCE", "PROJECT", "NAME", "WHAT", "ADDRESS"),
        [
            (
                row.state.value,
                ago(row.since) if row.since else "-",
                row.project_name,
                shorten(row.name or row.id, 24),
                shorten(row.what, _WIDEST),
                row.address,
            )
            for row in found.rows
        ],
    )


def _print_lines(context: Context, since: str | None, *, follow: bool) -> None:
    """Print the feed or the changes, a line each; go on with `follow`, until Ctrl-C."""
    from siding.feed.client import Viewer
    from siding.feed.model import Feed

    cursor = None if since is None else _cursor(since)
    items = Viewer(context.app, since=cursor).items()
    try:
        for item in items:
            name = "feed" if isinstance(item, Feed) else "change"
            print_line(context.screen, {name: item.as_record()})
            context.screen.out.flush()
            if not follow and (isinstance(item, Feed) or _says_how_far(item)):
                return
    finally:
        items.close()


def _says_how_far(change: Change) -> bool:
    """Tell whether a change has nothing but the cursor: all that were missed have come."""
    return change == type(change)(change.epoch, change.seq)


def _cursor(text: str) -> Cursor:
    from siding.feed.client import Cursor

    epoch, colon, seq = text.partition(":")
    if not (colon and epoch.isascii() and epoch.isdigit() and seq.isascii() and seq.isdigit()):
        raise UsageError(
            f"{text!r} is no cursor",
            hint="EPOCH:SEQ are two numbers, as `epoch` and `seq` of the line printed last",
        )
    return Cursor(int(epoch), int(seq))
