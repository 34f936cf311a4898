"""The steps of a task as a list: what ran, how it ended, what it changed. No Textual."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.list import Column, Entry
from siding.faces.tui.rows.styles import TEXT, Look
from siding.faces.tui.text import inert
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.quantities import ago, duration
from siding.record.recording.logged import has_failed, logged_folded
from siding.record.recording.missing_steps import in_progress
from siding.record.recording.steps import Step, Task

COLUMNS = (
    Column(6),
    Column(10, drop=3),
    Column(12, takes_rest=True),
    Column(9, drop=2),
    Column(14, right=True),
    Column(7, right=True, drop=5),
    Column(9, right=True, drop=4),
)
WINDOW = 200  # steps that are read at first, and each time that more are wanted


class Line(NamedTuple):
    """A step of the list, or one that is not recorded yet.

    `key` is the step's number, or the name of what is in progress. `depth` is 1 for a turn below
    its run. `state` is runs, cut off, left (behind), back (it only went to another state), or "".
    """

    key: str
    name: str
    kind: str
    title: str
    status: str
    failed: bool
    files: int
    additions: int
    deletions: int
    duration_ms: int
    at: str
    depth: int = 0
    state: str = ""
    run: str = ""  # of the step or turn
    turns: int = 0  # that are folded below it
    number: int = 0  # 0 for what is not recorded
    is_turn: bool = False


class Story(NamedTuple):
    """The newest steps, newest first. `more` says that there are older ones."""

    lines: tuple[Line, ...]
    left: int
    more: bool


def read_story(project: Project, task: Task, limit: int) -> Story:
    """Return the newest `limit` steps with the turns of their runs. Takes no lock."""
    logged, turns = logged_folded(project, task.id, limit=limit + 1)
    more = len(logged.steps) > limit
    steps = logged.steps[-limit:] if more else logged.steps
    behind, back = logged.line.left_behind, logged.line.returns
    shown: list[Line] = []
    for progress in in_progress(project, task):
        intent = progress.intent
        shown.append(
            Line(
                key=progress.name,
                name=progress.name,
                kind=intent.kind,
                title=intent.title,
                status="runs" if progress.holder is not None else "cut off",
                failed=progress.holder is None,
                files=0,
                additions=0,
                deletions=0,
                duration_ms=0,
                at=intent.started_at,
                state="runs" if progress.holder is not None else "cut off",
                run=progress.name,
            )
        )
        shown += [_line(each, behind, back, 1) for each in reversed(turns.get(progress.name, []))]
    for step in reversed(steps):
        own = turns.get(step.run, [])
        shown.append(_with_turns(_line(step, behind, back, 0), own))
        shown += [_line(each, behind, back, 1) for each in reversed(own)]
    left = sum(each.state == "left" for each in shown)
    return Story(tuple(shown), left, more)


def _line(step: Step, behind: Collection[int], back: Collection[int], depth: int) -> Line:
    state = "left" if step.number in behind else "back" if step.number in back else ""
    turn = step.as_checkpoint
    prompt = turn.prompt.strip() if turn is not None else ""
    run = step.as_run
    title = prompt.partition("\n")[0] if prompt else step.heading
    return Line(
        key=str(step.number),
        name=step.id,
        kind=step.kind_shown,
        title=title,
        status=_status(step),
        failed=has_failed(step),
        files=step.files,
        additions=step.additions,
        deletions=step.deletions,
        duration_ms=step.duration_ms if run is not None else 0,
        at=step.started_at,
        depth=depth,
        state=state,
        run=step.run or step.run_of_turn,
        number=step.number,
        is_turn=bool(prompt),
    )


def _with_turns(line: Line, turns: Sequence[Step]) -> Line:
    """Return the line of a run that has these turns: what they changed is a change of it, too."""
    return line._replace(
        turns=len(turns),
        additions=line.additions + sum(each.additions for each in turns),
        deletions=line.deletions + sum(each.deletions for each in turns),
    )


def _status(step: Step) -> str:
    if step.exit_code:
        return f"exit {step.exit_code}"
    return "" if step.status == "completed" else str(step.status)


def entries(
    story: Story,
    *,
    shows_left: bool,
    opened: Collection[str],
    look: Look,
    now: datetime,
) -> list[Entry]:
    """Return the rows: turns only below an opened run, what was left behind only if wanted."""
    return [
        Entry(each.key, _cells(each, opened, look, now), "")
        for each in _shown(story.lines, shows_left=shows_left, opened=opened)
    ]


def _shown(lines: Sequence[Line], *, shows_left: bool, opened: Collection[str]) -> Iterator[Line]:
    for each in lines:
        is_open = not each.depth or each.run in opened
        if is_open and (shows_left or each.state != "left"):
            yield each


def _cells(line: Line, opened: Collection[str], look: Look, now: datetime) -> tuple[Pieces, ...]:
    base = "dim" if line.state in ("left", "back") else TEXT
    fold = ""
    if line.turns:
        fold = look.mark("open" if line.run in opened else "folded") + " "
    title = inert(line.title.partition("\n")[0])
    behind = "left behind: " if line.state == "left" else ""
    turns = f"  {counted(line.turns, 'turn')}" if line.turns else ""
    style = {"runs": "runs", "cut off": "broke"}.get(line.state, base)
    status = look.mark("runs") + " runs" if line.state == "runs" else line.status
    status_style = "bad" if line.failed else style
    files = counted(line.files, "file") if line.files else ""
    plus: Pieces = [(f"{line.files or ''} ", "dim")] if files else []
    if line.files or line.additions or line.deletions:
        plus += [(f"+{line.additions}", "good" if base == TEXT else base), (" ", TEXT)]
        plus += [(f"-{line.deletions}", "bad" if base == TEXT else base)]
    return (
        [("  " * line.depth + line.name, style)],
        [(inert(line.kind), base)],
        [(fold + behind + title, style), (turns, "dim")],
        [(status, status_style)],
        plus,
        [(duration(line.duration_ms) if line.duration_ms else "", "dim")],
        [(ago(line.at, now), "dim")],
    )


def turns_of(story: Story, line: Line) -> list[Line]:
    """Return the prompts of a run that were not left behind, the newest first."""
    if line.is_turn or not line.run:
        return []
    return [
        each
        for each in story.lines
        if each.run == line.run and each.is_turn and each.state != "left"
    ]


def found(story: Story, key: str | None) -> Line | None:
    """Return the line of a key."""
    return next((each for each in story.lines if each.key == key), None)
