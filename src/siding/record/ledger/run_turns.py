"""What the turns of a run changed: its own line has only what changed after the last of them."""

from siding.record.ledger.figures import RunTurns
from siding.record.ledger.kinds import BASE
from siding.record.ledger.present_line import present_line
from siding.record.ledger.store import Ledger

_NAMED = 50


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
