"""Show what a restoration would do and did, and ask for consent where it needs one."""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from siding.faces.cli.screen.asking import agreed, can_ask
from siding.faces.cli.screen.screen import Screen
from siding.faces.cli.screen.words import changes_of, counted, task_step
from siding.record.restoring.act import Restored, written_meanwhile
from siding.record.restoring.refusal import Refusal
from siding.record.restoring.survey import Survey, quote_path

Result = TypeVar("Result")


def survey_record(survey: Survey) -> dict[str, Any]:
    """Return a survey for programs; names are quoted where they are not plain text."""
    return {
        "to": survey.destination.name,
        "snapshot": survey.destination.snapshot,
        "write": [quote_path(change.path) for change in survey.plan.writes],
        "delete": [quote_path(change.path) for change in survey.plan.deletes],
        "mode": [
            {
                "path": quote_path(each.path),
                "before": f"{each.before:04o}",
                "after": f"{each.after:04o}",
            }
            for each in survey.plan.chmods
        ],
        "make_directory": [quote_path(path) for path in survey.plan.made],
        "remove_directory": [quote_path(path) for path in survey.plan.removed],
        "trash": [quote_path(path) for path in survey.aside],
        "left": [
            {"path": quote_path(left.path), "why": left.why.value} for left in survey.plan.left
        ],
        "in_the_way": [quote_path(path) for path in survey.blocked],
        "cannot_be_moved": [
            {"path": quote_path(each.path), "why": each.why, "way_out": each.way_out}
            for each in survey.stuck
        ],
        "git": [{"part": part, "change": text} for part, text in survey.git_lines],
        "concerns": [*survey.concerns, *(survey.git.notes if survey.git else ())],
    }


def print_survey(screen: Screen, survey: Survey) -> None:
    """Print exactly what would be written and deleted, a line each."""
    for change in survey.plan.writes:
        screen.print(f"write   {quote_path(change.path)}")
    for change in survey.plan.deletes:
        screen.print(f"delete  {quote_path(change.path)}")
    for each in survey.plan.chmods:
        screen.print(f"mode    {quote_path(each.path)} ({each.before:04o} to {each.after:04o})")
    _print_directories(screen, survey)
    for path in survey.aside:
        screen.print(f"trash   {quote_path(path)}")
    for left in survey.plan.left:
        screen.print(f"leave   {quote_path(left.path)} ({left.why.value})")
    for part, text in survey.git_lines:
        screen.print(f"{part:<7} {text}")
    for note in survey.git.notes if survey.git else ():
        screen.warn(note)
    for path in survey.blocked:
        screen.print(f"blocked {quote_path(path)} (in no snapshot; --force moves it to the trash)")
    for stuck in survey.stuck:
        screen.print(f"stuck   {stuck}: the rollback would be refused; {stuck.way_out}")
    for concern in survey.concerns:
        screen.warn(concern)
    if survey.nothing_to_do:
        screen.note(f"the workspace is as in {survey.destination.name} already")


def _print_directories(screen: Screen, survey: Survey) -> None:
    for path in survey.plan.made:
        screen.print(f"make    {quote_path(path)}/")
    for path in survey.plan.removed:
        screen.print(f"remove  {quote_path(path)}/ (it is empty)")


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
        if not refused.reason.asks or not can_ask():
            raise
        screen.warn(refused.message)
        if not agreed("go on all the same?"):
            raise
        return act(True)
