"""Have the agent of a run go on with its conversation without the turns that were taken back."""

from pathlib import Path

from siding.agents.hooks import NEWEST, Adapter, Past, PastTurn
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE, past_beside
from siding.ground.process.command import Command
from siding.record.acts.skeleton import Work
from siding.record.ledger.turns import ReportedTurn, reported_turns
from siding.record.runs.reported import title_of


class Resumed(NamedTuple):
    """The command line with which an agent goes on; `note` is empty if it is the one given."""

    argv: tuple[str, ...]
    note: str = ""
    copy_of: str = ""  # the conversation of which it is a copy
    without: str = ""  # the id of the first turn that the copy leaves out


def resumed(work: Work, adapter: Adapter, command: Command, *, is_sandboxed: bool) -> Resumed:
    """Return the command line that goes on with the conversation as far as its turns stand.

    Only a command line that goes on with a conversation costs anything. The command has a broker.
    """
    named = adapter.continues(command.argv)
    if named is None:
        return Resumed(command.argv)
    turns = [
        each
        for each in reported_turns(work.project.ledger(work.task.id).steps())
        if each.detail.turn and each.detail.transcript
    ]
    of_it = [each.detail for each in turns if named in (NEWEST, each.detail.session)]
    if not of_it or all(each.stands for each in turns):
        return Resumed(command.argv)
    past = Past(
        session=of_it[-1].session,
        transcript=Path(of_it[-1].transcript),
        turns=tuple(map(_past, turns)),
        copy=past_beside(command.env[SOCKET_VARIABLE]),
        env=command.env,
        cwd=command.cwd,
        is_sandboxed=is_sandboxed,
    )
    try:
        found = adapter.without(command.argv, past)
    except (SidingError, OSError) as error:
        return Resumed(command.argv, f"the conversation has turns that were taken back ({error})")
    if found is None:
        return Resumed(command.argv)
    prompt = title_of(next(e.detail.prompts for e in turns if e.detail.turn == found.first))
    note = f"its conversation went on from before {prompt!r}, taken back since"
    return Resumed(found.argv, note, past.session, found.first)


def _past(turn: ReportedTurn) -> PastTurn:
    detail = turn.detail
    later = detail.later_prompts
    return PastTurn(detail.turn, detail.prompt, Path(detail.transcript), turn.stands, later)
