"""Tells a person, after a while, what has ended, if it waits still and nobody sees it."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.asking.views import InboxEntry
    from siding.record.place.project import Project
    from siding.record.place.wiring import App

_MOST = 1 << 20  # bytes of what is to be told


def _options(parser: ArgumentParser) -> None:
    del parser


def _notice(arguments: Namespace, context: Context) -> int:
    from siding.asking.notices import parsed, tell_now
    from siding.asking.notifications import ways_of

    del arguments
    try:
        entry, call, after_s = parsed(sys.stdin.buffer.read(_MOST))
    except ValueError:
        raise UsageError("what is to be told is not a JSON object") from None
    time.sleep(after_s)
    project = _project(context.app, entry)
    if project is None or not _waits_still(project, entry):
        return 0
    return 1 if tell_now(project, entry, call, ways_of(project)) else 0


def _project(app: App, entry: InboxEntry) -> Project | None:
    from siding.record.place.projects import known_projects

    for each in known_projects(app):
        if each.project is not None and str(each.project.layout.root) == entry.project_dir:
            return each.project
    return None


def _waits_still(project: Project, entry: InboxEntry) -> bool:
    from siding.asking.views import Waits, identity
    from siding.feed.inbox import waiting_in

    if entry.kind == Waits.DONE:
        return True  # it waits for nobody, and nobody can take it back
    wanted = identity(entry)
    return any(identity(each) == wanted for each in waiting_in(project).entries)


NOTICE = Verb(
    """Tell a person what has ended: read from standard input, after the time that it says.""",
    _options,
    _notice,
)
