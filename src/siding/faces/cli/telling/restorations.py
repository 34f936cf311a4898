"""Tell what an act did that moved files, beside runs that live; ask for consent it needs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Collection
from typing import TypeVar

from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import TITLE_COLUMNS, changes_of, task_name, task_step
from siding.ground.errors import counted
from siding.record.acts.pause import BesideRuns, Paused
from siding.record.restoring.act import Restored, written_meanwhile
from siding.record.restoring.refusal import Refusal
from siding.record.restoring.survey import quote_path

Result = TypeVar("Result")


def tell_restored(
    screen: Screen, task_name: str, done: Restored, what: str, *, without: Collection[str] = ()
) -> None:
    """Print what a restoration did, `without` these parts of the state."""
    step = done.step
    change = changes_of(step)
    screen.note(f"{task_step(task_name, step.id)} · {what} · {change}", "green")
    for part, text in done.survey.git_lines:
        if part in without:
            continue
        screen.note(f"  {part:<7} {text}")
    for note in done.survey.git.notes if done.survey.git else ():
        screen.warn(note)
    if done.trash is not None:
        taken = len(done.survey.aside) + len(done.survey.blocked)
        screen.note(f"  {counted(taken, 'path')} that no snapshot holds moved to {done.trash}")
    if done.came_back:
        screen.note(f"  {counted(len(done.came_back), 'path')} came back from the trash")
    for concern in done.survey.concerns:
        screen.warn(concern)
    for left in done.survey.plan.left:
        screen.note(f"  left alone: {quote_path(left.path)} ({left.why.value})")
    for path in done.stays:
        screen.warn(f"{quote_path(path)} stays in the trash: something else is in its place")
    if done.kept:
        screen.warn(f"{written_meanwhile(len(done.kept))} {done.kept_in}")
    for each in done.kept:
        screen.note(f"  {quote_path(each.path)} ({each.why.value})")
    for path in done.missed:
        screen.warn(f"{quote_path(path)} is not as planned: somebody wrote it meanwhile")


def with_consent(screen: Screen, act: Callable[[bool], Result], *, force: bool) -> Result:
    """Call `act`. If it needs consent and a person is there, ask; on yes, call it again."""
    try:
        return act(force)
    except Refusal as refused:
        if not refused.reason.asks:
            raise
        from siding.faces.cli.screen.questions import agreed, can_ask

        if not can_ask():
            raise
        screen.warn(refused.message)
        if not agreed("go on all the same?"):
            raise
        return act(True)


def beside_of(arguments: Namespace) -> BesideRuns:
    return BesideRuns(now=arguments.now)


def tell_paused(screen: Screen, name: str, paused: Paused) -> None:
    """Say which runs were paused, and what they were in the middle of if that did not count."""
    runs = [
        f"{'what ' * run.has_ended}{run.id} `{shorten(inert(run.title), TITLE_COLUMNS)}`"
        f"{' left running' * run.has_ended}"
        for run in paused.runs
    ]
    if runs:
        what = "was paused and goes on" if len(runs) == 1 else "were paused and go on"
        screen.note(f"{task_name(name)} · {', '.join(runs)} {what}")
    for sentence in paused.unquiet:
        screen.warn(f"in the middle of something: {inert(sentence)}")
