"""Have the model sum a conversation up; print the summary, and keep it.

It is the newest conversation of this workspace, or SESSION. The summary is kept beside the
transcript, in the place of the one before; the conversation goes on as it was. To go on with the
summary in its place: `siding session compact SESSION --summary FILE`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert

if TYPE_CHECKING:
    from siding.assistant.looking.summary import Summary


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="")
    parser.add_argument("--model", metavar="MODEL", help="who is asked; else as of `siding agent`")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.summary import summary_of
    from siding.assistant.settings_files import AgentFlags
    from siding.faces.cli.assistant.usage_words import models_used
    from siding.record.place.project import require_project
    from siding.sessions.masking import mask_text

    project = require_project(context.app)
    found = summary_of(project, arguments.session, AgentFlags(model=arguments.model))
    found = found._replace(text=mask_text(project, found.text))
    if arguments.json:
        shown = {**found._asdict(), "by_model": models_used(found.by_model)}
        print_json(context.screen, shown)
        return 0
    screen = context.screen
    screen.note(inert(f"{found.session[:8]}  {found.title}"))
    screen.print(inert(found.text, lines=True))
    screen.note(f"{_used(found)}{'' if found.not_kept else f', kept in {inert(found.path)}'}")
    if found.not_kept:
        screen.warn(f"the summary could not be kept in {inert(found.path)}: {found.not_kept}")
    return 0


def _used(found: Summary) -> str:
    from siding.faces.cli.assistant.usage_words import dollars_of

    tokens = sum(use.usage.prompt + use.usage.output for use in found.by_model.values())
    dollars = dollars_of(found.by_model)
    price = "" if dollars is None else f", ${dollars:.2f}"
    return f"{', '.join(map(inert, found.by_model))}: {tokens:,} tokens{price}"
