"""Print what changed outside a workspace while a command ran."""

from typing import TYPE_CHECKING

from siding.faces.cli.screen.screen import Screen, inert

if TYPE_CHECKING:
    from siding.record.recording.step_details import IsolationReport, OutsideChange
    from siding.record.recording.steps import Step


_NOTES = 4  # that are printed when a run has ended


def say_isolation(screen: Screen, found: "IsolationReport | None") -> None:
    """Print what changed outside the workspace during a run."""
    if found is None:
        return
    if found.alarms:
        screen.warn("outside the workspace, while this ran (by it or by somebody else):")
        for each in found.alarms:
            screen.warn(f"  {_words(each)}")
    for each in found.notes[:_NOTES]:
        screen.note(f"changed meanwhile: {_words(each)}", "dim")
    if len(found.notes) > _NOTES:
        screen.note(f"changed meanwhile: {len(found.notes) - _NOTES} more (siding show)", "dim")


def isolation_lines(step: "Step") -> list[tuple[str, str]]:
    """Return the lines of `siding show` about changes outside the workspace."""
    found = step.isolation
    if found is None:
        return []
    lines = [("outside", _words(each)) for each in found.alarms]
    return [*lines, *(("meanwhile", _words(each)) for each in found.notes)]


def strayed(step: "Step") -> str:
    """Return the mark that `siding log` puts behind a step with alarming changes outside."""
    found = step.isolation
    return " (outside!)" if found and found.alarms else ""


def _words(change: "OutsideChange") -> str:
    from siding.running.outside_changes import say

    return inert(say(change))
