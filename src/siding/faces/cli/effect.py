"""The verbs about the effect of a command that a person is asked about."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.telling.effects import print_effect
from siding.faces.cli.verb import Verb
from siding.ground.errors import NotFound, SidingError

if TYPE_CHECKING:
    from siding.asking.views import DecisionView
    from siding.effect.effect import Effect
    from siding.record.place.project import Project

_LONGEST = 4 << 20  # bytes of what is handed over
_NICE = 10


def _effect_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", metavar="DECISION", help="which one (default: the newest)"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON, with the patch")


def _effect(arguments: Namespace, context: Context) -> int:
    from siding.asking.lookup import find
    from siding.effect.effect import lines_of
    from siding.effect.store import patch_of
    from siding.record.place.project import require_project

    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    decision = find(project, arguments.session)
    effect = _present(context, project, decision)
    if effect is None:
        raise NotFound(
            f"decision {decision.session_id} has no effect: it asks about no command and no file",
            hint="`siding inbox` shows what waits",
        )
    patch = patch_of(effect)
    if arguments.json:
        print_json(context.screen, {**effect.as_record(), "text": patch})
        return 0
    print_effect(context.screen, lines_of(effect, most=200))
    if patch:
        context.screen.print()
        context.screen.print(inert(patch, lines=True).rstrip("\n"))
    return 0


EFFECT = Verb(
    """\
Show what the command or tool that a decision is about would change, with the patch.

A command ran in a copy of the workspace, in a sandbox without network. If the workspace has
changed since, it is tried again. What a tool
that edits files would change is worked out from what it was given. The workspace itself is not
touched.
""",
    _effect_options,
    _effect,
)


def _present(context: Context, project: Project, decision: DecisionView) -> Effect | None:
    """Return the effect as it is now: tried again where it is stale, or was cut off."""
    from pathlib import Path

    from siding.effect.ask import pending_of
    from siding.effect.count import Asked, count, workspace_of
    from siding.effect.effect import EffectState
    from siding.effect.store import CUT_OFF, effect_of
    from siding.record.recording.calling_step import refuse_inside_step

    found = effect_of(project, decision.session_id)
    if found is None or decision.state != "open" or not project.settings.agents_effect:
        return found
    is_pending = found.state is EffectState.PENDING
    is_old = found.state is EffectState.STALE or found.why == CUT_OFF
    is_old = is_old or found.state is EffectState.NOT_KNOWN  # its files may have changed
    workspace = workspace_of(project, decision.task_id)
    if not (is_pending or is_old) or not found.again or workspace is None:
        return found
    refuse_inside_step(
        project, "what a command would do is shown to a person", hint="look in another terminal"
    )
    asked = Asked(decision.session_id, found.command, Path(found.cwd), found.edits, found.is_edit)
    pending = pending_of(project, asked)
    context.app.tell("trying the command in a copy of the workspace")
    try:
        return count(project, asked, workspace, pending)
    finally:
        context.app.tell("")


def _count_options(parser: ArgumentParser) -> None:
    parser.add_argument("--task", required=True)
    parser.add_argument("session")


def _count(arguments: Namespace, context: Context) -> int:
    """Try a command, or follow edits, that come on standard input, until that ends."""
    import json
    import select

    from siding.effect.ask import pending_of
    from siding.effect.count import Asked, count, workspace_of
    from siding.record.place.project import require_project

    said = sys.stdin.buffer.readline(_LONGEST)
    if not said.endswith(b"\n"):
        return 1  # whoever began this has died before it said what to try
    told = json.loads(said)
    project = require_project(context.app)
    workspace = workspace_of(project, arguments.task)
    if workspace is None:
        return 1
    os.nice(_NICE)
    asked = Asked.from_record(arguments.session, told)
    poller = select.poll()
    poller.register(0, select.POLLIN)
    try:
        count(project, asked, workspace, pending_of(project, asked), lambda: bool(poller.poll(0)))
    except (SidingError, OSError) as error:
        context.screen.warn(inert(str(error)))
        return 1
    return 0


COUNT = Verb("""Find out what a person is asked about would change.""", _count_options, _count)
