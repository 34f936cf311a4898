"""The verbs undo and redo: take acts of a task back, and do them again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_beside_arguments
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name, task_step
from siding.faces.cli.verb import Verb

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.running.named_run import Task
    from siding.undo.undo import Undone, UndoRequest


def _add_arguments(parser: ArgumentParser, *, task: str, force: str) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help=task)
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("-f", "--force", action="store_true", help=force)
    add_beside_arguments(parser)
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the step as JSON")


def _undo(arguments: Namespace, context: Context) -> int:
    from siding.undo.undo import undo

    return _run(arguments, context, "undo", undo)


def _redo(arguments: Namespace, context: Context) -> int:
    from siding.undo.undo import redo

    return _run(arguments, context, "redo", redo)


def _run(
    arguments: Namespace,
    context: Context,
    word: str,
    act: Callable[[Project, UndoRequest], Undone],
) -> int:
    from siding.faces.cli.telling.restorations import beside_of, with_consent
    from siding.faces.cli.telling.step_words import kept_words
    from siding.record.place.project import require_project
    from siding.undo.undo import UndoRequest, choose

    project = require_project(context.app)
    if arguments.dry_run:
        return _preview(arguments, context, project, word)
    request = UndoRequest(task=arguments.task, wait=arguments.wait, beside=beside_of(arguments))
    if arguments.stop:
        from siding.faces.cli.telling.beside import stop_first

        stop_first(context.screen, project, choose(project, arguments.task, "undo")[0])
    if arguments.wait:
        from siding.faces.cli.telling.beside import await_turns_in

        task_id = choose(project, arguments.task, word)[0]
        request = request._replace(runs_rest=await_turns_in(project, task_id))
    done = with_consent(
        context.screen,
        lambda force: act(project, request._replace(force=force)),
        force=arguments.force,
    )
    _tell(context, done, as_json=arguments.json)
    if word == "undo" and done.reopened is not None:
        _tell_what_stays(context, project, done.reopened.task)
    for sentence in kept_words(project.layout.root, done.applied):
        context.screen.warn(sentence)
    return 0


def _tell_what_stays(context: Context, project: Project, task: Task) -> None:
    """Say that a branch keeps what was applied, if the task was closed by an apply."""
    last = project.ledger(task.id).last()
    applied = None if last is None or last.reversal.undoes else last.as_apply
    if applied is not None and applied.target_branch:
        branch = inert(applied.target_branch)
        context.screen.note(f"  {branch} keeps what was applied; `siding undo` takes that back")


def _preview(arguments: Namespace, context: Context, project: Project, word: str) -> int:
    """Say what the next undo or redo would do."""
    from siding.faces.cli.telling.survey import print_survey, survey_record
    from siding.undo.preview import coming

    with coming(project, arguments.task, word) as found:
        if arguments.json:
            from siding.faces.cli.formats import print_json

            survey = None if found.survey is None else survey_record(found.survey)
            record = {"what": found.what, "step": found.step, "survey": survey}
            print_json(context.screen, record)
            return 0
        context.screen.note(found.what)
        if found.survey is not None:
            print_survey(context.screen, found.survey)
    return 0


def _tell(context: Context, done: Undone, *, as_json: bool) -> None:
    """Say what an undo or redo did."""
    from siding.faces.cli.telling.restorations import tell_paused, tell_restored

    screen = context.screen
    for first in done.settled:
        screen.note(f"{task_step(done.task.name, first.id)} · {first.title} (recorded first)")
    for each in done.passed:
        since = "" if each.turns is None else f" after its last turn, {each.turns.steps[-1]}"
        screen.note(f"passed over step {each.id} ({each.title}): it changed nothing{since}")
    if done.restored is not None:
        tell_restored(screen, done.task.name, done.restored, done.what)
    elif done.reopened is not None:
        from siding.faces.cli.telling.started import tell_reopened

        tell_reopened(screen, done.reopened)
    else:
        made = done.applied
        begin = task_name(done.task.name) if made is None else task_step(done.task.name, made.id)
        screen.note(f"{begin} · {done.what}", "green")
    tell_paused(screen, done.task.name, done.paused)
    if as_json:
        from siding.faces.cli.formats import print_json

        step = done.restored.step if done.restored is not None else done.applied
        print_json(screen, None if step is None else step.line)


UNDO = Verb(
    """Take the newest act back: a run, rollback, apply, phase move, closing or removal.

Repeat to go further back. Files, HEAD, the task's branch, the index and the phases go together.
Nothing is lost by it: `siding redo` does it again, and every state in between is a step in the log.
What was changed by hand since asks first. Runs that changed nothing are passed over.

  siding undo -n                    what would be taken back
  siding undo
""",
    partial(
        _add_arguments,
        task="the task (default: this terminal's, else the one that was closed last)",
        force="even if later changes go with it",
    ),
    _undo,
)
REDO = Verb(
    "Do again what the newest undo took back. A run that changes something, or a change by hand, "
    "ends the line.",
    partial(
        _add_arguments,
        task="the task (default: this terminal's)",
        force="move what is in the way aside",
    ),
    _redo,
)
