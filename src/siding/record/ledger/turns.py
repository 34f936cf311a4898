"""Find the turns that agents reported, which of them stand, and which a conversation has.

A copy of a conversation leaves out what was taken back. The line of a run has only what changed
after the last of its turns; `turns_of_run` returns what the turns changed.
"""

from collections.abc import Collection, Iterable, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.figures import RunTurns
from siding.record.ledger.kinds import BASE
from siding.record.ledger.present_line import present_line
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.ledger.step import Step
from siding.record.ledger.store import Ledger

_NAMED = 50


class ReportedTurn(NamedTuple):
    """A turn whose prompt is known.

    `on` is the number of the step whose state it began with, 0 for the base. `stands` is false if
    the task has gone back to before it. Steps of tool calls within the turn are no turns; `last` is
    the newest step of the turn: later than `step` if something came of it in the background.
    """

    step: Step
    detail: CheckpointDetail
    on: int
    stands: bool
    last: Step


def reported_turns(steps: Iterable[Step]) -> list[ReportedTurn]:
    """Return the turns with a prompt, oldest first. `steps` are all of a task's."""
    given = list(steps)
    line = present_line(given)
    behind = line.left_behind
    found: list[ReportedTurn] = []
    of, on = ("", ""), 0
    for step in given:
        if not step.turn or (step.turn_of, step.turn) != of:
            of, on = (step.turn_of, step.turn), line.on(step.number)  # the first one of a turn
        turn = step.as_checkpoint
        if turn is not None and turn.prompt.strip():
            stands = step.number not in behind
            found.append(ReportedTurn(step, turn, on, stands, last=step))
        elif step.turn and found and (found[-1].step.turn_of, found[-1].step.turn) == of:
            found[-1] = found[-1]._replace(last=step)
    return found


class Copied(NamedTuple):
    """The conversation that another one is a copy of, and the first turn that the copy leaves out.

    Both are the agent's own ids; "" for a conversation that is no copy.
    """

    session: str = ""
    without: str = ""


class Conversation(NamedTuple):
    """The turns of a conversation, oldest first.

    `own` were made in it, `inside` are all that the model sees, and `left_out` those that the copy
    leaves out.
    """

    own: Sequence[ReportedTurn]
    inside: Sequence[ReportedTurn]
    left_out: Sequence[ReportedTurn] = ()


def conversation_of(
    turns: Sequence[ReportedTurn],
    session: str,
    copied: Copied,
    passed: Collection[str] = frozenset(),
) -> Conversation:
    """Return the turns of a conversation. `turns` are all of a task's, oldest first.

    `copied` counts where no turn says of what it is a copy. `passed`: its own copies.
    """
    own = [turn for turn in turns if turn.detail.session == session]
    told = (Copied(turn.detail.copy_of, turn.detail.without) for turn in own)
    of = next((each for each in told if each.session), copied)
    if not of.session or of.session == session or of.session in passed:
        return Conversation(own, own)
    until = own[0].step.number if own else None
    earlier = [turn for turn in turns if until is None or turn.step.number < until]
    before = conversation_of(earlier, of.session, Copied(), {*passed, session})
    ids = [turn.detail.turn for turn in before.inside]
    at = ids.index(of.without) if of.without in ids else len(ids)
    left_out = [*before.left_out, *before.inside[at:]]
    return Conversation(own, [*before.inside[:at], *own], left_out)


def turns_of_run(ledger: Ledger, run: str, since: str) -> RunTurns | None:
    """Return what the turns of a run changed that began after the step `since`; None without any.

    Turns that were undone since do not count. The cost follows the steps that were recorded while
    the run lived.
    """
    newest = ledger.last()
    began = 0 if since == BASE else int(since) if since.isdecimal() else None
    if newest is None or began is None or newest.number <= began:
        return None
    steps = ledger.tail(newest.number - began)
    line = present_line(steps).line
    made = [step for step in steps if step.number in line and step.run_of_turn == run]
    if not made:
        return None
    prompts = {(step.turn or step.id) for step in made}
    files = {name for step in made for name in step.diff_stat.file_list}
    ids = tuple(step.id for step in made[-_NAMED:])
    return RunTurns(len(prompts), max(len(files), *(step.files for step in made)), ids)
