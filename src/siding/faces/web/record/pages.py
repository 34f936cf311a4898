"""The pages of what was recorded: a step, what it printed, changes, events."""

import re
from collections import deque
from typing import Any, assert_never

from siding.faces.web.ansi import Converter
from siding.faces.web.record.patches import _base, parts_of_step, patch_of
from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask, newest, one_step
from siding.faces.web.text import inert, tone_of
from siding.feed.board import show
from siding.ground.errors import NotFound, SidingError, counted
from siding.ground.ids import TaskId, run_or_step
from siding.record.place.project import Project
from siding.record.recording.freed import freed_at, freed_note, marked, patch_note
from siding.record.recording.last_screen import last_screen
from siding.record.recording.step_details import Output, Span, quote_path
from siding.record.recording.step_details import output as output_of
from siding.record.recording.steps import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
    running_step,
)
from siding.record.recording.steps import step as find_step

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")  # of a conversation
EVENTS_SHOWN = 100
MOST_STEPS = 500
READ_AT_ONCE = 64 * 1024
TOO_FAR_BEHIND = 1 << 20  # bytes; then the newest are shown and the rest is skipped
KEPT_ROWS = 400  # for those who come later
WINDOW = 64 * 1024  # bytes of output in one window
_LOOK_BACK = 8 * 1024  # bytes in which the beginning of a line is looked for
MOST_BYTES = 256 * 1024
_DEFAULT_BYTES = 64 * 1024


def step(ask: Ask) -> Page:
    """Show a step, recorded or running."""
    found = one_step(ask)
    task = show(ask.project, ask.task_id)[0]
    kept = output_of(ask.project, task, found)
    is_running = running_step(ask.project, task.id, ask.words["step"]) is not None
    values = {
        "task": task,
        "step": found,
        "kind": found.kind_shown,
        **_of_kind(found),
        "tone": tone_of(found.status),
        "is_running": is_running,
        "screen": None if kept is None else _screen(found, kept),
        "streams": _streams(kept, is_running=is_running),
        "lacks": _lacks(found),
        "freed": freed_note(ask.project, task.id, found),
        "is_gone": freed_at(ask.project, found.snapshot) is not None,
        "patch_freed": patch_note(ask.project, task.id, found),
        "patch": None if is_running else parts_of_step(ask, found),
        "window": WINDOW,
    }
    name = found.run if is_running and found.run else found.id
    title = f"{run_or_step(name).capitalize()} · {task.name}"
    return Page("step.html", title, values, watch=task.id if is_running else "")


def _of_kind(found: Step) -> dict[str, Any]:
    """Return what the page shows of a step of this kind only."""
    match found:
        case RunStep(detail=run):
            session = "" if run.reported is None else run.reported.session
            more = {"where": run.cwd, "notes": run.notes, "env": run.env}
            return {**more, "session": _harmless(session)}
        case TurnStep(detail=turn) | CheckpointStep(detail=turn):
            return {"session": _harmless(turn.session), "session_step": found.number}
        case ApplyStep(detail=moved) | ApplyUndoStep(detail=moved) | ApplyRedoStep(detail=moved):
            return {"onto": moved.target_branch}
        case RollbackStep() | UndoStep() | RedoStep() | MergeStep():
            return {}
        case PhaseStep() | ForeignStep():
            return {}
        case _:
            assert_never(found)


def _harmless(session: str) -> str:
    """Return the id of a conversation, "" if it is not harmless in an address.

    An agent may have reported any text.
    """
    return session if _ID.fullmatch(session) else ""


def _screen(found: Step, kept: Output) -> str | None:
    """Return the last screen of a program that draws on its terminal; None for lines."""
    drawn = last_screen(found, kept)
    return None if drawn is None else inert("\n".join(drawn.lines))


def _lacks(found: Step) -> list[tuple[str, str]]:
    """Return what the step's snapshot lacks, as (path or count, reason) pairs."""
    coverage = found.coverage
    if coverage is None or coverage.complete:
        return []
    lacks = [(quote_path(each.path), each.reason) for each in coverage.skipped]
    for paths, why in (
        (coverage.nested, "a nested repository: its files are recorded, its history is not"),
        (coverage.unstable, "it changed while it was read; a mixed state may be recorded"),
        (coverage.foreign, "another user owns it, and only that user may set its permissions"),
        (coverage.special, "a pipe, socket or device"),
    ):
        lacks += [(quote_path(path), why) for path in paths]
    if coverage.sparse:
        lacks.append((counted(coverage.sparse, "path"), "kept off the disk by a sparse checkout"))
    return lacks or [("something", "its record does not say what")]


def changes(ask: Ask) -> Page:
    """Show the whole change of a task since its base, as one patch."""
    task = show(ask.project, ask.task_id)[0]
    values = {"task": task, "patch": patch_of(ask), "base": _base(ask)}
    return Page("changes.html", f"Changes of {task.name}", values, watch="")


def events(ask: Ask) -> Page:
    """Show the newest events of the project, newest first."""
    limit = ask.number("shown", EVENTS_SHOWN, most=10_000)
    events = ask.project.events.newest(limit + 1)[::-1]
    names: dict[str, str] = {task.id: task.name for task in ask.project.tasks.readable()}
    rows = [
        {
            "event": str(each.get("event", "")),
            "at": str(each.get("at", "")),
            "error": str(each.get("error", "")),
            "task": _id(each.get("task")),
            "name": names.get(_id(each.get("task")), ""),
            "rest": {
                key: value
                for key, value in each.items()
                if key not in ("v", "event", "ts", "at", "task", "error") and value
            },
        }
        for each in events[:limit]
    ]
    values = {"rows": rows, "more": len(events) > limit, "next": limit * 3}
    return Page("events.html", "Events", values)


def _id(task: object) -> str:
    return str(task.get("id", "")) if isinstance(task, dict) else ""


def steps_json(ask: Ask) -> dict[str, Any]:
    """Return a task's steps, newest first, at most MOST_STEPS."""
    before = ask.number("before", 0)
    limit = min(MOST_STEPS, ask.number("limit", 50))
    return {"steps": marked(ask.project, ask.task_id, newest(ask, before=before, limit=limit))}


def step_json(ask: Ask) -> dict[str, Any]:
    """Return one step as its ledger line."""
    return marked(ask.project, ask.task_id, [one_step(ask)])[0]


def events_json(ask: Ask) -> dict[str, Any]:
    """Return the newest events, newest first, at most 1000."""
    limit = min(1000, ask.number("limit", 100))
    return {"events": [dict(each) for each in ask.project.events.newest(limit)[::-1]]}


class OutputFollower:
    """Makes rows of what a running step prints."""

    def __init__(self, project: Project, task: str, step: str, stream: str) -> None:
        self._project = project
        known = task in project.tasks.ids() or task in project.tasks.fork_ids()
        if not known or stream not in ("stdout", "stderr"):
            raise NotFound("there is no such output")
        self._task, self._step, self._stream = TaskId(task), step, stream
        self._converter = Converter()
        self._position = 0
        self._rows: deque[str] = deque(maxlen=KEPT_ROWS)
        self._open = ""
        self._began = False
        self._ended = False

    def look(self) -> list[dict[str, Any]]:
        if self._ended:
            return []
        # Asked first: what a step printed is all there by the time it is seen to have ended.
        running = self._running()
        span = self._span()
        messages = [] if span is None else self._read(span)
        if not running and (span is None or self._position >= span.size):
            self._ended = True
            messages.append({"ended": True})
        return messages

    def whole(self) -> list[dict[str, Any]]:
        if not self._began:
            self.look()
        first = self._position if len(self._rows) == KEPT_ROWS else 0
        found: list[dict[str, Any]] = [
            {"reset": True, "rows": list(self._rows), "open": self._open, "before": first}
        ]
        return [*found, {"ended": True}] if self._ended else found

    def _read(self, span: Span) -> list[dict[str, Any]]:
        skipped = 0
        behind = span.size - self._position
        if not self._began or behind > TOO_FAR_BEHIND:
            self._began = True
            skipped = max(0, behind - READ_AT_ONCE)
            if skipped:
                self._converter = Converter()
                self._rows.clear()
        start = self._position + skipped
        data = span.read(start, READ_AT_ONCE if skipped else 4 * READ_AT_ONCE)
        if skipped:  # begin with a whole line, if there is one
            cut = data.find(b"\n") + 1
            skipped, data = skipped + cut, data[cut:]
        if not data:
            return []
        rows = self._converter.feed(data)
        self._position += skipped + len(data)
        self._rows.extend(rows.closed)
        self._open = rows.open
        message = {"rows": rows.closed[-KEPT_ROWS:], "open": rows.open, "size": span.size}
        dropped = len(rows.closed) > KEPT_ROWS
        return [{**message, "skipped": True} if skipped or dropped else message]

    def _running(self) -> bool:
        try:
            return running_step(self._project, self._task, self._step) is not None
        except SidingError:
            return False

    def _span(self) -> Span | None:
        try:
            task = self._project.tasks.load(self._task)
            found = running_step(self._project, self._task, self._step)
            one = found[1] if found else find_step(self._project, self._task, self._step)[1]
            streams = output_of(self._project, task, one)
        except (SidingError, OSError):
            return None
        if streams is None:
            return None
        return streams.stdout if self._stream == "stdout" else streams.stderr


def output(ask: Ask) -> Page:
    """Show a window of the output, cut at line ends.

    It begins at the byte `at` and ends at `until` at most. With `end=1` it is the last window.
    """
    span = _span(ask)
    if ask.number("end", 0, most=1):
        start, stop = max(0, span.size - WINDOW), span.size
    else:
        start = min(ask.number("at", 0), span.size)
        stop = min(span.size, start + WINDOW, ask.number("until", span.size))
    start = _line_start(span, start)
    data = span.read(start, stop - start)
    if stop < span.size:
        cut = data.rfind(b"\n") + 1
        data = data[:cut] if cut else data
    converter = Converter()
    rows = converter.feed(data, final=True)
    lines = [*rows.closed, *([rows.open] if rows.open else [])]
    values = {
        "lines": lines,
        "start": start,
        "end": start + len(data),
        "size": span.size,
        "window": WINDOW,
    }
    return Page("output.html", "", values)


def _streams(found: Output | None, *, is_running: bool) -> list[dict[str, Any]]:
    """Return the name, title and size of each stream; a run in a terminal has one."""
    if found is None and is_running:  # it has not printed its first byte yet
        return [{"name": "stdout", "title": "output", "size": 0}]
    if found is None:
        return []
    is_terminal = found.streams.value == "pty"
    named = [("stdout", "terminal" if is_terminal else "standard output", found.stdout)]
    if not is_terminal:
        named.append(("stderr", "standard error", found.stderr))
    return [{"name": name, "title": title, "size": span.size} for name, title, span in named]


def _span(ask: Ask) -> Span:
    found = output_of(ask.project, show(ask.project, ask.task_id)[0], one_step(ask))
    if found is None:
        raise NotFound("no output of the step was recorded")
    return found.stdout if ask.choice("stream", "stdout", "stderr") == "stdout" else found.stderr


def _line_start(span: Span, start: int) -> int:
    """Return the start of the line that holds `start`; `start` itself if that is far away."""
    if start == 0 or span.read(start - 1, 1) == b"\n":
        return start
    before = max(0, start - _LOOK_BACK)
    cut = span.read(before, start - before).rfind(b"\n")
    return before + cut + 1 if cut >= 0 else before if before == 0 else start


def output_json(ask: Ask) -> dict[str, Any]:
    """Return a window of a step's output as text, at most MOST_BYTES."""
    found = output_of(ask.project, show(ask.project, ask.task_id)[0], one_step(ask))
    if found is None:
        raise NotFound("no output of the step was recorded")
    span = found.stdout if ask.choice("stream", "stdout", "stderr") == "stdout" else found.stderr
    start = min(ask.number("at", 0), span.size)
    data = span.read(start, min(MOST_BYTES, ask.number("size", _DEFAULT_BYTES)))
    return {
        "start": start,
        "end": start + len(data),
        "size": span.size,
        "text": data.decode("utf-8", "backslashreplace"),
    }


def names_output(words: list[str]) -> bool:
    """Return whether these are a task, a step or run of it, and a stream."""
    return len(words) == 3 and len(words[1]) <= 10 and words[1].removeprefix("r").isdigit()
