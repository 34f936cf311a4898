"""What changed outside a workspace while a command ran, on the screen."""

from siding.app.steps import (
    ALARM,
    NOTE,
    Detail,
    IsolationReport,
    OutsideChange,
    RunDetail,
)
from siding.cli.screen import Screen, inert


def say_isolation(screen: Screen, found: IsolationReport) -> None:
    """Say at once what a run left changed outside its workspace."""
    alarms = found.of_weight(ALARM)
    if alarms:
        screen.warn("outside the workspace, while this ran (by it or by somebody else):")
        for each in alarms:
            screen.warn(f"  {_words(each)}")
    for each in found.of_weight(NOTE):
        screen.note(f"outside the workspace: {_words(each)}", "dim")


def isolation_lines(detail: Detail) -> list[tuple[str, str]]:
    """Return the lines of `siding show` about it."""
    return [("outside", _words(each)) for each in isolation_of(detail).changes]


def strayed(detail: Detail) -> str:
    """Return what `siding log` adds to a step that something happened outside of."""
    return " (outside!)" if isolation_of(detail).of_weight(ALARM) else ""


def isolation_of(detail: Detail) -> IsolationReport:
    """Return what changed outside while a step ran; nothing where nobody looked."""
    found = detail.isolation if isinstance(detail, RunDetail) else None
    return found or IsolationReport()


def _words(change: OutsideChange) -> str:
    from siding.app.isolation import say

    return inert(say(change))
