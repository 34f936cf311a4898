"""Flags that every verb takes, before or after it, and the context that is made from them."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.record.place.wiring import App

COLOURS = ("auto", "always", "never")


class Context(NamedTuple):
    """The application and the screen, which a verb gets besides its arguments."""

    app: App
    screen: Screen


def split_globals(words: list[str]) -> tuple[dict[str, object], list[str]]:
    """Split off the flags that stand before the verb; return them and the other words."""
    flags: dict[str, object] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest[0]
        if word in ("-q", "--quiet"):
            flags["quiet"] = True
        elif word in ("-v", "--verbose"):
            flags["verbose"] = True
        elif word == "-C" and len(rest) > 1:
            flags["directory"] = rest.pop(1)
        elif word == "--project" and len(rest) > 1:
            flags["project"] = rest.pop(1)
        elif word.startswith("--project="):
            flags["project"] = word.partition("=")[2]
        elif word.startswith("--color="):
            flags["color"] = word.partition("=")[2]
        elif word == "--color" and len(rest) > 1:
            flags["color"] = rest.pop(1)
        else:
            break
        rest.pop(0)
    if flags.get("color", "auto") not in COLOURS:
        raise UsageError(f"--color {flags['color']!r} is no choice", hint=", ".join(COLOURS))
    return flags, rest


def add_globals(parser: ArgumentParser) -> None:
    """Declare the flags on a verb's own parser."""
    group = parser.add_argument_group("common options")
    # SUPPRESS: otherwise the default of an absent flag would replace one given before the verb.
    group.add_argument(
        "-q", "--quiet", action="store_true", default=SUPPRESS, help="print results only, no notes"
    )
    group.add_argument(
        "-v", "--verbose", action="store_true", default=SUPPRESS, help="say more about what happens"
    )
    group.add_argument(
        "-C", dest="directory", metavar="DIR", default=SUPPRESS, help="work as if started in DIR"
    )
    group.add_argument(
        "--project",
        metavar="NAME",
        default=SUPPRESS,
        help="work in this project, wherever you stand (`siding projects`)",
    )
    group.add_argument(
        "--color", choices=COLOURS, default=SUPPRESS, help="colours (default: auto; see NO_COLOR)"
    )


def context_from(arguments: Namespace) -> Context:
    """Return the application and the screen a command line asks for."""
    from pathlib import Path

    from siding.record.place.wiring import open_app

    directory = getattr(arguments, "directory", None)
    here = Path.cwd() if directory is None else Path.cwd() / directory
    screen = Screen(
        env=os.environ,
        out=sys.stdout,
        err=sys.stderr,
        colour=getattr(arguments, "color", "auto"),
        quiet=getattr(arguments, "quiet", False),
        verbose=getattr(arguments, "verbose", False),
    )
    app = open_app(env=dict(os.environ), cwd=here)._replace(
        tell=screen.progress,
        warn=_warner(screen),
        session=os.getsid(0),
        project=getattr(arguments, "project", ""),
    )
    if sys.stdin.isatty() and sys.stderr.isatty():
        from siding.faces.cli.screen.questions import chooser

        app = app._replace(choose=chooser(screen, getattr(arguments, "typed", ())))
    return Context(app=app, screen=screen)


def _warner(screen: Screen) -> Callable[[str], None]:
    """Return what shows a warning; a sentence that was said already is not said again."""
    said: set[str] = set()

    def warn(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            screen.warn(inert(sentence))

    return warn


def add_format(parser: ArgumentParser, *formats: str) -> None:
    """Declare ``--format`` and ``--json``; the first of `formats` is the default."""
    parser.add_argument(
        "--format", choices=formats, default=formats[0], help=f"default: {formats[0]}"
    )
    parser.add_argument(
        "--json",
        action="store_const",
        dest="format",
        const="json",
        default=SUPPRESS,
        help="the same as --format json",
    )
