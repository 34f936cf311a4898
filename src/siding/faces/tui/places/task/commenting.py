"""Write a comment on lines as they stand on the screen. Called in a thread."""

from collections.abc import Sequence

from siding.chat.held_runs import HeldRuns
from siding.comments.comment import Placed, Side, State
from siding.comments.comments import (
    Sent,
    Taker,
    Wanted,
    add,
    delete,
    listed,
    reword,
    send_to_agent,
    takers,
)
from siding.faces.tui.places.task.reading import Opened
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple

_COMPARED = 500  # characters of a line


class Lines(NamedTuple):
    """The lines of a comment as they are shown: numbers and texts on one side of the change."""

    path: str
    is_old: bool
    first: int
    last: int
    texts: Sequence[str]


class Refused(NamedTuple):
    """A comment that was not written: why, and what was typed."""

    error: SidingError
    said: str


class ToSend(NamedTuple):
    """All drafts, and the agents that can be given them, those at a terminal first."""

    drafts: Sequence[Placed]
    takers: Sequence[Taker]


def comment_on(opened: Opened, lines: Lines, said: str) -> Placed | Refused:
    """Write a comment, unless its lines do not stand there any more as they were shown."""
    side = Side.OLD if lines.is_old else Side.NEW
    wanted = Wanted(lines.path, lines.first, lines.last, side)
    project, task = opened
    try:
        _task, placed = add(project, task.id, wanted, said)
    except SidingError as error:
        return Refused(error, said)
    if _are_same(placed.comment.snippet.split("\n"), lines.texts):
        return placed
    delete(project, task.id, [placed.comment.id])
    changed = SidingError(
        f"{lines.path}:{lines.first} is not as it is shown any more",
        hint="r reads the patch again; what you typed is kept",
    )
    return Refused(changed, said)


def _are_same(there: Sequence[str], shown: Sequence[str]) -> bool:
    return len(there) == len(shown) and all(
        _plain(a) == _plain(b) for a, b in zip(there, shown, strict=True)
    )


def _plain(text: str) -> str:
    """Return the beginning of a line, however its bytes that are no UTF-8 were decoded."""
    raw = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return raw.rstrip("\r")[:_COMPARED]


def write_anew(opened: Opened, comment: str, said: str) -> None:
    """Let a draft say something else."""
    reword(opened.project, opened.task.id, comment, said)


def take_away(opened: Opened, comment: str) -> None:
    """Take a comment away."""
    delete(opened.project, opened.task.id, [comment])


def to_send_of(opened: Opened) -> ToSend:
    """Return what there is to send now, whatever the screen has read, and who can be given it."""
    project, task = opened
    _task, placed = listed(project, task.id)
    drafts = [each for each in placed if each.comment.state is State.DRAFT]
    return ToSend(drafts, takers(project, task.id, HeldRuns(project)) if drafts else [])


def send_all(opened: Opened, run: str) -> Sent:
    """Send all drafts to the agent of a run; without one they are only put into a prompt."""
    held = HeldRuns(opened.project)
    return send_to_agent(opened.project, opened.task.id, (), run=run or None, held=held)
