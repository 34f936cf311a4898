"""Tell an agent what was taken back of its work while it waited for a prompt.

Its conversation still has those turns. Without a word it would believe that what it did is there.
"""

from collections.abc import Iterable, Sequence

from siding.ledger.step import Step, StepStatus
from siding.ledger.store import Ledger
from siding.ledger.turns import ReportedTurn, reported_turns
from siding.namedtuples import NamedTuple
from siding.runs.reported import Reported, first_line

_NAMED = 5  # prompts that are named

_MOVED = "While you waited, a person moved your workspace to another recorded state."
_GONE = (
    "Taken back: your work on {}. Its changes are no longer in the files, and its commits are no "
    "longer on the branch. Treat it as not done, and do not do it again unless you are asked."
)
_BACK = "Done again, as you left it: your work on {}."
_READ = "Read files again before you change them."


class News(NamedTuple):
    """What the agent is told, "" for nothing; and the newest step that this takes into account."""

    text: str
    seen: int


def news(ledger: Ledger, before: Reported, session: str) -> News:
    """Return what an agent has to know as a prompt begins.

    The whole ledger is read (10,000 steps: 0.4 s) only if the task went back somewhere since the
    agent's last prompt, or if this is the run's first one and its conversation may be older.
    """
    newest = ledger.last()
    if newest is None:
        return News("", 0)
    is_first = before.prompts == 0
    is_known = before.is_new if is_first else not went_back(ledger.newest_first(), before.seen)
    if is_known:
        return News("", newest.number)
    steps = list(ledger.steps())
    now = [turn for turn in reported_turns(steps) if turn.detail.session == session]
    if is_first:
        text = _text(_newest_gone(now), [], moved=False)
        return News(text, newest.number)
    until = [step for step in steps if step.number <= before.seen]
    stood = {turn.step.number: turn.stands for turn in reported_turns(until)}
    # A turn that was recorded since then is not in `stood`: the agent believes that it stands.
    gone = [turn for turn in now if stood.get(turn.step.number, True) and not turn.stands]
    back = [turn for turn in now if turn.stands and not stood.get(turn.step.number, True)]
    return News(_text(gone, back, moved=True), newest.number)


def went_back(newest_first: Iterable[Step], seen: int) -> bool:
    """Tell whether the task went back, or forward again, since the step with the number `seen`."""
    for step in newest_first:
        if step.number <= seen:
            return False
        if step.goes_back and step.status == StepStatus.COMPLETED:
            return True
    return False


def _newest_gone(turns: Sequence[ReportedTurn]) -> list[ReportedTurn]:
    """Return the turns after the newest one that stands: of those before it the agent knows."""
    found: list[ReportedTurn] = []
    for turn in reversed(turns):
        if turn.stands:
            break
        found.insert(0, turn)
    return found


def _text(gone: Sequence[ReportedTurn], back: Sequence[ReportedTurn], *, moved: bool) -> str:
    if not (gone or back or moved):
        return ""
    said = [_MOVED]
    if gone:
        said.append(_GONE.format(_named(gone)))
    if back:
        said.append(_BACK.format(_named(back)))
    return " ".join([*said, _READ])


def _named(turns: Sequence[ReportedTurn]) -> str:
    prompts = [each for turn in turns for each in turn.detail.prompts]
    shown = [f"“{first_line(each)}”" for each in prompts[-_NAMED:]]
    left = len(prompts) - len(shown)
    return ", ".join([*([f"{left} earlier prompts"] if left else []), *shown])
