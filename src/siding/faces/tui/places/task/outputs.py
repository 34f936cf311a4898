"""Read the output of a step, or of a run that lives. Called in a thread."""

import re
from collections.abc import Sequence

from siding.faces.tui.places.task.reading import Opened
from siding.faces.tui.rows.output import FileLines
from siding.faces.tui.rows.searching import Leg, Wanted, pattern
from siding.faces.tui.rows.transcript import Transcript
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.record.place.busy import live_in
from siding.record.recording.step_details import Output, Span, find_run, output
from siding.record.recording.steps import log
from siding.running.attach import screen_lines

ERRORS = re.compile(
    r"\b(?i:errors?|fail(?:s|ed|ure|ures)?|fatal|panic(?:ked)?|exception|traceback)\b"
    r"|\b\w+(?:Error|Exception)\b|✗"
)
_ERROR_WORDS = ("error", "exception", "fail", "fatal", "panic", "traceback", "✗")  # any of them
_AT_ONCE = 1 << 23  # bytes of a stream that are divided into lines in one slice
_NEWEST = 400  # steps among which the newest output is looked for


class Growing:
    """Reads a stream by windows. `span` is how much of it there is; it may grow."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def __call__(self, offset: int, size: int) -> bytes:
        try:
            return self.span.read(offset, size)
        except OSError:  # its file was given the name of its step a moment ago, or was freed
            return b""


class Stream(NamedTuple):
    """What a program wrote: to standard output or its terminal, or to standard error."""

    name: str
    source: Growing
    lines: FileLines

    @property
    def unread(self) -> int:
        """How many bytes are not divided into lines yet."""
        return max(0, self.source.span.size - self.lines.size)


class Shown(NamedTuple):
    """The output of a step.

    `screen` is the last screen of a program that draws on its terminal; then there are no streams.
    `lives` says that more may come, `run` is its run.
    """

    step: str
    title: str
    streams: tuple[Stream, ...]
    screen: tuple[str, ...]
    lives: bool
    run: str
    number: int

    @property
    def unread(self) -> int:
        """How many bytes are not divided into lines yet."""
        return sum(each.unread for each in self.streams)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return sum(each.source.span.size for each in self.streams)


def newest(opened: Opened) -> str:
    """Return the run that lives and began last, else the newest step with output; "" for none."""
    project, task = opened
    live = live_in(project, task.id)
    if live:
        return live[-1].id
    _task, steps = log(project, task.id, limit=_NEWEST)
    return next((str(each.number) for each in reversed(steps) if each.as_run is not None), "")


def beside(opened: Opened, number: int, step: int) -> str:
    """Return the run after (1) or before (-1) a step; "" if there is none. 0 stands for now."""
    project, task = opened
    _task, steps = log(project, task.id, limit=None)
    runs = [each.number for each in steps if each.as_run is not None]
    if step < 0:
        older = [each for each in runs if each < number or not number]
        return str(older[-1]) if older else ""
    newer = [each for each in runs if number and each > number]
    if newer:
        return str(newer[0])
    live = live_in(project, task.id)
    return live[-1].id if live and number else ""


def read(opened: Opened, wanted: str) -> Shown:
    """Return the output of a step, a large one without its end. Raises NotFound if it has none."""
    project, task = opened
    _task, step = find_run(project, task.id, wanted)
    kept = output(project, task, step)
    if kept is None:
        raise NotFound(
            f"step {step.id} has no output", hint="only runs have one; s lists the steps"
        )
    lives = bool(step.run) and not step.ended_at
    screen = screen_lines(project, task, step, kept) or ()
    streams = () if screen else tuple(_streams(kept))
    read_on(streams)
    return Shown(
        step=wanted,
        title=f"{step.run or step.id}  {step.title}",
        streams=streams,
        screen=screen,
        lives=lives,
        run=step.run,
        number=0 if lives else step.number,
    )


def _streams(kept: Output) -> list[Stream]:
    name = "terminal" if kept.streams.value == "pty" else "stdout"
    spans = [(name, kept.stdout), ("stderr", kept.stderr)]
    sources = [(name, Growing(span)) for name, span in spans if name != "stderr" or span.size]
    return [Stream(name, source, FileLines(source)) for name, source in sources]


def read_on(streams: Sequence[Stream]) -> bool:
    """Divide a slice more of each stream into lines; tell whether there was any."""
    before = sum(each.lines.size for each in streams)
    for each in streams:
        each.lines.look(_AT_ONCE)
    return sum(each.lines.size for each in streams) > before


class Grown(NamedTuple):
    """How much there is now of the output of a run, and whether it goes on."""

    spans: tuple[Span, ...]  # of standard output, or the terminal, and of standard error
    lives: bool


def grown(opened: Opened, wanted: str) -> Grown:
    """Return how much of an output there is now."""
    project, task = opened
    _task, step = find_run(project, task.id, wanted)
    kept = output(project, task, step)
    lives = bool(step.run) and not step.ended_at
    return Grown((kept.stdout, kept.stderr) if kept is not None else (), lives)


def error() -> Wanted:
    """Return what finds lines that speak of an error."""
    return pattern(ERRORS, _ERROR_WORDS)


def legs(view: Transcript, streams: Sequence[Stream], *stretches: range) -> list[Leg]:
    """Return the lines of the streams at these stretches of items, in the order of a search."""
    found = []
    for items in stretches:
        for each in streams if items.step > 0 else reversed(streams):
            first = view.item_of(each.name)
            own = range(first, first + view.lines_of(each.name))
            if items and own:
                low, high = sorted((items[0], items[-1]))
                low, high = max(own[0], low), min(own[-1], high)
                numbers = range(low - first, high - first + 1)[:: items.step]
                found.append(Leg(each.lines, numbers, first))
    return [each for each in found if each.numbers]
