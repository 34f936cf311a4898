"""The verbs over all projects: what waits, the day on one screen, the projects; and making one."""

from __future__ import annotations

import os
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen, columns_of, inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, changes
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError, counted

if TYPE_CHECKING:
    from siding.asking.views import InboxEntry
    from siding.effect.effect import Effect
    from siding.feed.inbox import Inbox, InboxReader
    from siding.feed.model import Ask
    from siding.feed.projects import ProjectRow
    from siding.feed.today import Line, Today
    from siding.record.place.wiring import App

LOOK_EVERY_S = 1.0
_TITLES = {  # by `Section`
    "waits": ("waits for you", "siding inbox"),
    "runs": ("running", "siding runs --all"),
    "broke": ("broke", "siding inbox"),
    "ready": ("ready to apply", "siding task list"),
}
_NARROWEST = 24  # columns for what an entry says; with less, its command gets a line of its own
_SINCE = 8  # columns of `just now`, `59m ago`
_GAP = "  "
_EFFECT_FILES, _EFFECT_LINES = 3, 8  # that are shown of an effect, and of its patch
_LONGEST_PATCH = 16 << 10  # characters that JSON has of it
STATES = {"there": "", "gone": "gone", "another": "another repository is there now"}


def _inbox_options(parser: ArgumentParser) -> None:
    parser.add_argument("--here", action="store_true", help="of this project only")
    parser.add_argument("--watch", action="store_true", help="go on, and say what starts to wait")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _inbox(arguments: Namespace, context: Context) -> int:
    if arguments.watch and arguments.json:
        raise UsageError("--watch prints lines for a person; leave out --json")
    reader = _reader(arguments, context)
    inbox = reader.look()
    for sentence in inbox.problems:
        context.screen.warn(inert(sentence))
    if arguments.json:
        print_json(context.screen, [_ask_record(context.app, each) for each in inbox.asks])
        return 0
    if inbox.entries:
        _print_inbox(context, inbox.entries)
    else:
        context.screen.note("nothing waits for you")
    if arguments.watch:
        _watch_inbox(reader, context, inbox)
    return 0


INBOX = Verb(
    """\
Show what waits for a person, in every project: questions, blocked and failed work, hooks.

Each line says what to type, in that repository. The setting `hooks.notify` names commands that are
run when something starts to wait.
""",
    _inbox_options,
    _inbox,
)


def _reader(arguments: Namespace, context: Context) -> InboxReader:
    from siding.feed.inbox import InboxReader
    from siding.record.place.project import require_project

    return InboxReader(context.app, require_project(context.app) if arguments.here else None)


def _ask_record(app: App, ask: Ask) -> dict[str, Any]:
    """Return what waits as JSON, with what would be changed by what it asks about."""
    effect = _effect_of(app, ask.entry)
    if effect is None:
        return {**ask.as_record(), "effect": None}
    from siding.effect.store import patch_of

    patch = patch_of(effect) if effect.is_edit else ""
    text = patch if len(patch) <= _LONGEST_PATCH else ""  # its file has it
    return {**ask.as_record(), "effect": {**effect.as_record(), "text": text}}


def _effect_of(app: App, entry: InboxEntry) -> Effect | None:
    if not entry.session_id:
        return None
    from siding.effect.store import effect_of_entry

    return effect_of_entry(app, entry)


def _print_inbox(context: Context, entries: tuple[InboxEntry, ...]) -> None:
    print_table(
        context.screen,
        ("WAITS", "SINCE", "PROJECT", "TASK", "WHAT", "TO DO"),
        [
            (
                each.kind,
                ago(each.since) if each.since else "-",
                each.project,
                shorten(each.task_name or each.task_id or "-", 24),
                shorten(each.title, 50),
                each.command,
            )
            for each in entries
        ],
    )
    _print_effects(context, entries)


def _print_effects(context: Context, entries: tuple[InboxEntry, ...]) -> None:
    """Print what would be changed by what is asked about; of a tool that edits, with its patch."""
    for each in entries:
        effect = _effect_of(context.app, each)
        if effect is not None:
            old = " (stale)" if effect.state == "stale" else ""
            said = f"effect of {each.session_id}{old}: {effect.summary}"
            context.screen.print(f"  {inert(said)}")
            if effect.is_edit:
                from siding.effect.store import shown_lines

                _first, *lines = shown_lines(effect, files=_EFFECT_FILES, patch=_EFFECT_LINES)
                for line in lines:
                    context.screen.print(f"  {inert(line)}")


def _watch_inbox(reader: InboxReader, context: Context, inbox: Inbox) -> None:
    """Print each entry that is new, until Ctrl-C."""
    known = {each.id for each in inbox.asks}
    while True:
        context.screen.out.flush()
        time.sleep(LOOK_EVERY_S)
        asks = reader.look().asks
        for ask in asks:
            each = ask.entry
            if ask.id not in known:
                task = f" · {inert(each.task_name)}" if each.task_name else ""
                context.screen.print(
                    f"{each.kind} · {inert(each.project)}{task} · {inert(each.title)}"
                    f"\n  {inert(each.command)}"
                )
        known = {ask.id for ask in asks}


def _today_options(parser: ArgumentParser) -> None:
    add_format(parser, "text", "json")


def _today(arguments: Namespace, context: Context) -> int:
    from siding.feed.today import Section, today

    found = today(context.app)
    if arguments.format == "json":
        sections = {
            each.value: [line._asdict() for line in found.section(each)] for each in Section
        }
        print_json(context.screen, {**sections, "problems": list(found.problems)})
    else:
        _print_today(context.screen, context.app, found)
    return 0


TODAY = Verb(
    """Show the day over all projects on one screen: what waits, runs, broke, can be applied.

`siding` alone does the same. Each entry has the command to type next. On a terminal no more is
shown than fits; in a pipe, and with --format json, everything is. `siding --help` lists all
commands.
""",
    _today_options,
    _today,
)


def _print_today(screen: Screen, app: App, found: Today) -> None:
    """Print the entries; where there are none, that the day is quiet, or how to begin."""
    if found.lines:
        _print_sections(screen, found)
    elif found.projects or _is_project(app):
        screen.note("all quiet: nothing waits, runs, broke or is ready to apply")
        screen.note("  siding run -- COMMAND begins something; siding task list shows the tasks")
    else:
        _welcome(screen, app)
    _problems(screen, found.problems)


def _is_project(app: App) -> bool:
    from siding.record.place.project import find_project

    try:
        return find_project(app) is not None
    except (SidingError, OSError):
        return False


def _welcome(screen: Screen, app: App) -> None:
    screen.print("Siding runs any coding agent on its own git worktree and records every step.\n")
    screen.print("begin in any git repository:")
    screen.print("  siding run -- claude -p 'fix the parser'    in a workspace of its own")
    screen.print("  siding                                      what waits, runs, can be applied")
    screen.print("\n`siding --help` shows the commands.")
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


def _print_sections(screen: Screen, found: Today) -> None:
    from siding.feed.today import Section

    sections = {each: lines for each in Section if (lines := found.section(each))}
    layout = _Layout(screen, list(found.lines))
    needs = [len(lines) for lines in sections.values()]
    room = _room(screen, len(sections), layout.height, bool(found.problems))
    for (section, lines), most in zip(sections.items(), shares(needs, room), strict=True):
        title, all_of_it = _TITLES[section]
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
        used = 2 + self._mark + self._place + _SINCE + 3 * len(_GAP)
        columns = screen.columns
        self._what = 48 if columns is None else columns - used - command - len(_GAP)
        self._apart = self._what < _NARROWEST
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
            f"{ago(line.since) if line.since else '-':<{_SINCE}}",
            what if self._apart else _padded(what, self._what),
        )
        command = screen.style(inert(line.command), "cyan")
        text = _GAP.join(cells)
        if self._apart:
            screen.print(text.rstrip())
            screen.print(f"  {' ' * self._mark}{_GAP}{command}")
        else:
            screen.print(f"{text}{_GAP}{command}")


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - columns_of(text))


def _place(line: Line) -> str:
    task = inert(line.task)
    return f"{inert(line.project)} · {task}" if task else inert(line.project)


def _what(line: Line) -> str:
    if line.files:
        return changes(line.files, line.additions, line.deletions)
    return line.what


def _projects_options(parser: ArgumentParser) -> None:
    add_format(parser, "table", "json")


def _projects(arguments: Namespace, context: Context) -> int:
    from siding.feed.projects import project_rows

    rows = project_rows(context.app)
    if arguments.format == "json":
        print_json(context.screen, [row._asdict() for row in rows])
        return 0
    if not rows:
        context.screen.note("no project yet; `siding run -- COMMAND` in a repository makes one")
        return 0
    header = ("", "NAME", "REPOSITORY", "TASKS", "UPDATED", "")
    print_table(context.screen, header, [_projects_cells(row) for row in rows])
    return 0


PROJECTS = Verb(
    """\
Show the projects, and where their repositories are. `*` marks the one you stand in.

`--project NAME`, before or after any verb, works in one of them, wherever you stand. One whose
repository is gone, or whose path another one took, can still be read: its tasks, log and steps.
""",
    _projects_options,
    _projects,
)


def _projects_cells(row: ProjectRow) -> tuple[str, ...]:
    return (
        "*" if row.here else "",
        row.name,
        row.repository or "-",
        f"{row.open_tasks} open of {row.tasks}" if row.tasks else "-",
        ago(row.updated_at) if row.updated_at else "-",
        STATES.get(row.state, row.state),
    )


def _init_options(parser: ArgumentParser) -> None:
    # Other tools begin a project anew with it. Here it is the same again: nothing is lost.
    parser.add_argument("--force", action="store_true", help=SUPPRESS)


def _init(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project

    del arguments
    project, made = ensure_project(context.app)
    word = "made a project of" if made else "is a project already:"
    context.screen.note(f"{word} {project.paths.root}")
    context.screen.note(f"  its records are in {project.layout.root}")
    return 0


INIT = Verb(
    """\
Make this repository a project. Other commands do it on first use.

Running it again changes nothing.
""",
    _init_options,
    _init,
)


def _hub_options(parser: ArgumentParser) -> None:
    del parser


def _hub(arguments: Namespace, context: Context) -> int:
    from siding.feed.hub_process import be_hub

    del arguments
    return be_hub(context.app)


HUB = Verb(
    """Fold the feed for the screens that are open. The first of them calls this, nobody else.""",
    _hub_options,
    _hub,
)
