"""Tell an agent what was taken back of its work while it waited for a prompt.

Its conversation still has those turns. Without a word it would believe that what it did is there.
"""

from collections.abc import Iterable, Mapping, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.memories import Place, place_to_go
from siding.record.ledger.step import Step, StepStatus
from siding.record.ledger.store import Ledger
from siding.record.ledger.turns import Copied, ReportedTurn, conversation_of, reported_turns
from siding.record.runs.reported import Reported, first_line

_NAMED = 5  # prompts that are named

_MOVED = "While you waited, a person moved your workspace to another recorded state."
_GONE = (
    "Taken back: your work on {}. Its changes are no longer in the files, and its commits are no "
    "longer on the branch. Treat it as not done, and do not do it again unless you are asked."
)
_BACK = "Done again, as you left it: your work on {}."
_READ = "Read files again before you change them."


class News(NamedTuple):
    """What the agent is told, "" for nothing; and the newest step that this takes into account.

    `place`: where its conversation goes on in the place of being told, if it can and is to.
    """

    text: str
    seen: int
    place: Place | None = None


def news(ledger: Ledger, before: Reported, *, goes_back: bool = False) -> News:
    """Return what an agent has to know as a prompt begins. `goes_back`: it can, and is to.

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
    copied = Copied(before.copy_of, before.without) if before.is_in_copy else Copied()
    turns = reported_turns(steps)
    talk = conversation_of(turns, before.session, copied)
    # As it was prompted last; a copy knows what that knew of which it is a copy.
    last = talk.inside[-1].step.number - 1 if talk.inside else 0
    stood = _stood(steps, last if is_first else before.seen)
    # A turn that was recorded since then is not in `stood`: the agent believes that it stands.
    gone = [turn for turn in talk.inside if _stands_in(stood, turn) and not turn.stands]
    # Of what a copy leaves out the agent only knows what it was told.
    gone += [turn for turn in talk.left_out if stood.get(turn.step.number) and not turn.stands]
    missed = [turn for turn in talk.left_out if turn.step.number not in stood] if is_first else []
    back = [
        turn
        for turn in (*talk.left_out, *talk.inside)
        if turn.stands and (stood.get(turn.step.number) is False or turn in missed)
    ]
    gone.sort(key=lambda turn: turn.step.number)
    place = place_to_go(turns, before.session, copied) if goes_back else None
    return News(_text(gone, back, moved=not is_first), newest.number, place)


def _stood(steps: Sequence[Step], seen: int) -> dict[int, bool]:
    """Return of each turn that there was at the step with the number `seen` whether it stood."""
    until = [step for step in steps if step.number <= seen]
    return {turn.step.number: turn.stands for turn in reported_turns(until)}


def _stands_in(stood: Mapping[int, bool], turn: ReportedTurn) -> bool:
    return stood.get(turn.step.number, True)


def went_back(newest_first: Iterable[Step], seen: int) -> bool:
    """Tell whether the task went back, or forward again, since the step with the number `seen`."""
    for step in newest_first:
        if step.number <= seen:
            return False
        if step.goes_back and step.status == StepStatus.COMPLETED:
            return True
    return False


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
