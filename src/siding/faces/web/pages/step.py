"""The page of one step: its command, status, output and changes; and pieces of these."""

import re
from typing import Any, assert_never

from siding.faces.web.ansi import Converter
from siding.faces.web.ask import Ask
from siding.faces.web.inert import inert
from siding.faces.web.pages.task import tone_of
from siding.faces.web.patches import parts_of_step, patch_of, shown, side_by_side
from siding.faces.web.rendering import Page
from siding.faces.web.stepping import one_step
from siding.feed.tasks import show
from siding.ground.errors import NotFound
from siding.ground.ids import run_or_step
from siding.record.recording.freed import freed_at, freed_note, patch_note
from siding.record.recording.last_screen import last_screen
from siding.record.recording.outputs import Output, Span
from siding.record.recording.outputs import output as output_of
from siding.record.recording.patch_files import MARK_EVERY, rows_of
from siding.record.recording.step_details import quote_path
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

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")  # of a conversation
WINDOW = 64 * 1024  # bytes of output in one window
FILES = 200  # files listed at once
OPENED = 12  # files whose rows are fetched when they come into view; the others on a click
_LOOK_BACK = 8 * 1024  # bytes in which the beginning of a line is looked for


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
        lacks.append((f"{coverage.sparse} paths", "kept off the disk by a sparse checkout"))
    return lacks or [("something", "its record does not say what")]


def changes(ask: Ask) -> Page:
    """Show the whole change of a task since its base, as one patch."""
    task = show(ask.project, ask.task_id)[0]
    values = {"task": task, "patch": patch_of(ask), "base": _base(ask)}
    return Page("changes.html", f"Changes of {task.name}", values, watch="")


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


def files(ask: Ask) -> Page:
    """Show FILES files of a patch, from the number `from` on."""
    patch = patch_of(ask)
    first = ask.number("from", 0)
    parts = list(enumerate(patch.parts if patch else []))
    values = {
        "files": parts[first : first + FILES],
        "opened": OPENED if first == 0 else 0,
        "more": max(0, len(parts) - first - FILES),
        "next": first + FILES,
        "base": _base(ask),
        "is_first": first == 0,
        "mode": ask.choice("mode", "unified", "split"),
    }
    return Page("files.html", "", values)


def rows(ask: Ask) -> Page:
    """Show MARK_EVERY rows of one file of a patch, from the row `from` on."""
    patch = patch_of(ask)
    number = ask.number("file", 0)
    if patch is None or number >= len(patch.parts):
        raise NotFound("the patch has no such file")
    part = patch.parts[number]
    first = ask.number("from", 0)
    found = shown(ask, part, rows_of(patch.span, part, first, MARK_EVERY))
    mode = ask.choice("mode", "unified", "split")
    values: dict[str, Any] = {
        "rows": found if mode == "unified" else side_by_side(found),
        "next": first + MARK_EVERY if first + MARK_EVERY < part.rows else None,
        "left": max(0, part.rows - first - MARK_EVERY),
        "file": number,
        "mode": mode,
        "base": _base(ask),
    }
    return Page("rows.html", "", values)


def _base(ask: Ask) -> str:
    """Return the beginning of the addresses of a patch's pieces."""
    if "step" in ask.words:
        return f"/tasks/{ask.task_id}/steps/{one_step(ask).number}"
    return f"/tasks/{ask.task_id}/changes"


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
