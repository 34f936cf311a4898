"""What waits, runs, broke and is ready, in lines."""

import os
import sys

from siding.faces.cli.screen.screen import Screen, columns_of, inert, shorten
from siding.faces.cli.screen.words import ago, changes, counted
from siding.feed.today import Line, Section, Today
from siding.ground.errors import SidingError
from siding.record.place.project import find_project
from siding.record.place.wiring import App

TITLES = {
    Section.WAITS: ("waits for you", "siding inbox"),
    Section.RUNS: ("running", "siding runs --all"),
    Section.BROKE: ("broke", "siding inbox"),
    Section.READY: ("ready to apply", "siding task list"),
}


NARROWEST = 24  # columns for what an entry says; with less, its command gets a line of its own


SINCE = 8  # columns of `just now`, `59m ago`


GAP = "  "


def print_today(screen: Screen, app: App, found: Today) -> None:
    """Print the entries; where there are none, that the day is quiet, or how to begin."""
    if found.lines:
        _print(screen, found)
    elif found.projects or _is_project(app):
        screen.note("all quiet: nothing waits, runs, broke or is ready to apply")
        screen.note("  siding run -- COMMAND begins something; siding task list shows the tasks")
    else:
        _welcome(screen, app)
    _problems(screen, found.problems)


def _is_project(app: App) -> bool:
    try:
        return find_project(app) is not None
    except (SidingError, OSError):
        return False


def _welcome(screen: Screen, app: App) -> None:
    screen.print("Siding runs any coding agent on its own git worktree and records every step.\n")
    screen.print("begin in any git repository:")
    screen.print("  siding run -- claude -p 'fix the parser'    in a workspace of its own")
    screen.print("  siding                                      what waits, runs, can be applied")
    screen.print("\n`siding --help` lists all commands.")
    other = _other_tool(app)
    if other:
        screen.note(other)


def _other_tool(app: App) -> str:
    """Return what another task tool left of the repository here, "" for nothing."""
    from siding.record.place.other_tools import left_here

    try:
        return left_here(app)
    except (SidingError, OSError):
        return ""


def _problems(screen: Screen, problems: tuple[str, ...]) -> None:
    """Say what cannot be read: one line, so that old projects do not fill the screen."""
    if len(problems) == 1:
        room = None if screen.columns is None else screen.columns - len("siding: ")
        told = inert(problems[0])
        screen.note(told if room is None else shorten(told, room), "dim")
    elif problems:
        what = f"{counted(len(problems), 'project')} cannot be read, or their repository is gone"
        screen.note(f"{what}: siding projects", "dim")


def _print(screen: Screen, found: Today) -> None:
    sections = {each: lines for each in Section if (lines := found.section(each))}
    layout = _Layout(screen, list(found.lines))
    needs = [len(lines) for lines in sections.values()]
    room = _room(screen, len(sections), layout.height, bool(found.problems))
    for (section, lines), most in zip(sections.items(), shares(needs, room), strict=True):
        title, all_of_it = TITLES[section]
        screen.print(screen.style(title, "bold"))
        for line in lines[:most]:
            layout.print(line)
        if len(lines) > most:
            screen.print(screen.style(f"  and {len(lines) - most} more: {all_of_it}", "dim"))


def _room(screen: Screen, sections: int, height: int, has_problems: bool) -> int | None:
    """Return how many entries fit on the terminal below their titles; None if there is none."""
    if screen.columns is None:
        return None
    try:
        rows = os.get_terminal_size(sys.stdout.fileno()).lines
    except (OSError, ValueError):
        return None
    # A title and a line `and 5 more` for each section; one line stays free for the prompt.
    return max(0, rows - 1 - 2 * sections - has_problems) // height


def shares(needs: list[int], room: int | None) -> list[int]:
    """Return how many entries of each section are shown: the same of all, more where others end.

    Every section shows one entry, also where there is no room for it.
    """
    if room is None or sum(needs) <= room:
        return list(needs)
    given = [1] * len(needs)
    while sum(given) < room:
        least = min(each for each, need in zip(given, needs, strict=True) if each < need)
        index = next(i for i, need in enumerate(needs) if given[i] == least and least < need)
        given[index] += 1
    return given


class _Layout:
    """Prints entries in columns. Commands are never cut: they are there to be copied."""

    def __init__(self, screen: Screen, lines: list[Line]) -> None:
        self._screen = screen
        self._mark = max(len(line.mark) for line in lines)
        self._place = min(28, max(columns_of(_place(line)) for line in lines))
        command = max(len(inert(line.command)) for line in lines)
        used = 2 + self._mark + self._place + SINCE + 3 * len(GAP)
        columns = screen.columns
        self._what = 48 if columns is None else columns - used - command - len(GAP)
        self._apart = self._what < NARROWEST
        if columns is not None and self._apart:
            self._what = max(0, columns - used)
        self.height = 2 if self._apart else 1  # lines of an entry

    def print(self, line: Line) -> None:
        """Print an entry on one line, or its command on a second one."""
        screen = self._screen
        what = shorten(inert(_what(line)), self._what)
        cells = (
            f"  {line.mark:<{self._mark}}",
            _padded(shorten(_place(line), self._place), self._place),
            f"{ago(line.since) if line.since else '-':<{SINCE}}",
            what if self._apart else _padded(what, self._what),
        )
        command = screen.style(inert(line.command), "cyan")
        text = GAP.join(cells)
        if self._apart:
            screen.print(text.rstrip())
            screen.print(f"  {' ' * self._mark}{GAP}{command}")
        else:
            screen.print(f"{text}{GAP}{command}")


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - columns_of(text))


def _place(line: Line) -> str:
    task = inert(line.task)
    return f"{inert(line.project)} · {task}" if task else inert(line.project)


def _what(line: Line) -> str:
    if line.files:
        return changes(line.files, line.additions, line.deletions)
    return line.what
