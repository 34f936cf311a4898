"""The options that several verbs about sessions have: filters, and whether secrets are masked.

Secrets are masked in all output of a conversation but text on a terminal.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from siding.agents.table import agents_with
from siding.faces.cli.screen.screen import Screen
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.record.place.wiring import App
    from siding.sessions.lookup import SessionFilter

CLIENTS = (*agents_with("home"), "siding")
SESSION = "an id, its beginning, or a title (default: the newest)"
READ_AT_A_TERMINAL = ("text", "table")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def add_filters(parser: ArgumentParser) -> None:
    """Declare the flags. `--project` is one that every verb takes."""
    parser.add_argument(
        "-a", "--all", action="store_true", help="those of every project and directory"
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="only those of this task")
    parser.add_argument("--client", choices=CLIENTS, default="", help="only those of this client")
    parser.add_argument(
        "--since",
        metavar="WHEN",
        help="with a message since: 2026-11-20, today, yesterday, 3d, 12h, 2w",
    )


def filter_of(arguments: Namespace, app: App) -> SessionFilter:
    """Return what the flags say; raises UsageError for a time that cannot be understood."""
    from siding.sessions.lookup import SessionFilter

    since = None
    if arguments.since is not None:
        since = moment_named(arguments.since, datetime.fromisoformat(app.now()))
    return SessionFilter(client=arguments.client, task=arguments.task, since=since)


def moment_named(text: str, now: datetime) -> float:
    """Return a date, a time or an age in seconds since 1970."""
    if text in ("today", "yesterday"):
        midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=text == "yesterday")).timestamp()
    age = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if age:
        return now.timestamp() - int(age[1]) * _UNITS[age[2]]
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a time", hint="such as 2026-11-20, 2026-11-20T14:00, today or 3d"
        ) from None
    # A date of a person is one of their own time zone.
    return (found if found.tzinfo else found.astimezone()).astimezone(UTC).timestamp()


def add_no_redact(parser: ArgumentParser) -> None:
    """Declare ``--no-redact``."""
    parser.add_argument(
        "--no-redact", action="store_true", help="leave secrets as they are, for yourself"
    )


def is_redacted(arguments: Namespace, screen: Screen) -> bool:
    """Return whether secrets are masked in what the command prints or writes.

    A file, a pipe and a document for programs are usually handed on; text on a terminal is read by
    the person whose session it is.
    """
    if arguments.no_redact:
        return False
    stays = arguments.format in READ_AT_A_TERMINAL and getattr(arguments, "output", None) is None
    return not (stays and screen.out.isatty())


def redaction_note(arguments: Namespace) -> str:
    """Return what a line that confirms a write says about the secrets in it."""
    return "secrets as they are" if arguments.no_redact else "secrets masked"
