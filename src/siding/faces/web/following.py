"""What the live stream's topics look at."""

import os
from collections import deque
from pathlib import Path
from typing import Any

from siding.faces.web.ansi import Converter
from siding.ground.errors import NotFound, SidingError
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.recording.outputs import Span, output
from siding.record.recording.steps import running_step, step

READ_AT_ONCE = 64 * 1024
TOO_FAR_BEHIND = 1 << 20  # bytes; then the newest are shown and the rest is skipped
KEPT_ROWS = 400  # for those who come later
_MOST_EVENTS = 500
Stamps = tuple[tuple[int, int], ...]


class ProjectFollower:
    """Tells which tasks something happened to."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stamps = stamps_of(project)
        self._read_to = self._stamps[0][1]

    def look(self) -> list[dict[str, Any]]:
        stamps = stamps_of(self._project)
        if stamps == self._stamps:
            return []
        before, self._stamps = self._stamps, stamps
        events: list[str] = []
        tasks: set[str] = set()
        if stamps[0] != before[0]:
            for record in self._project.events.since(self._read_to, limit=_MOST_EVENTS):
                self._read_to = record.end
                events.append(str(record.fields.get("event", "")))
                task = record.fields.get("task")
                if isinstance(task, dict) and task.get("id"):
                    tasks.add(str(task["id"]))
        return [{"changed": {"tasks": sorted(tasks), "events": events[-50:]}}]

    def whole(self) -> list[dict[str, Any]]:
        return []


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
            one = found[1] if found else step(self._project, self._task, self._step)[1]
            streams = output(self._project, task, one)
        except (SidingError, OSError):
            return None
        if streams is None:
            return None
        return streams.stdout if self._stream == "stdout" else streams.stderr


def stamps_of(project: Project) -> Stamps:
    """Return when the files changed of which at least one changes with everything that happens."""
    names = (
        "events.jsonl",
        "state.json",
        "worktrees.json",
        "decisions",
        "trust.json",
        "freed.jsonl",
    )
    return tuple(_stamp(project.layout.root / name) for name in names)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
