"""Show what a restoration would do."""

from typing import Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.screen.screen import Screen
from siding.record.place.project import Project
from siding.record.restoring.rollback import RollbackRequest, preview
from siding.record.restoring.survey import Survey, quote_path


def say_preview(
    screen: Screen, project: Project, request: RollbackRequest, *, as_json: bool
) -> None:
    """Say what a rollback would do; nothing is changed."""
    with preview(project, request) as survey:
        if as_json:
            print_json(screen, survey_record(survey))
        else:
            print_survey(screen, survey)


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
