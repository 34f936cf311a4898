"""A conversation of an agent that a person has started by themselves: where turns begin and end.

The same for a workspace, where a turn is a step, and for a checkout, where it is kept beside the
branch; and as in a run (`broker.reports`). What is known of the conversation between two reports is
in a small file of its own.
"""

from contextlib import suppress
from pathlib import Path
from typing import Protocol

from siding.agents.hooks import Adapter, Answer, Moment, Report
from siding.broker.news import News
from siding.ground.files.durable import make_dirs
from siding.ground.hashing import sha256_hex
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported, write_reported_in
from siding.usage.of_run import size_of

_SUFFIX = ".agent"
_KEPT_S = 30 * 24 * 3600  # a conversation that said nothing for so long is begun anew


class Turns(Protocol):
    """Where the turns of a conversation are kept."""

    def settle(self) -> None:
        """Record what was changed before the prompt that comes now."""
        ...

    def news(self, before: Reported) -> News:
        """Return what the agent is told with its prompt."""
        ...

    def begin(self, now: Reported, said: Report) -> Reported:
        """Begin a turn; return what is known of it then."""
        ...

    def end(self, before: Reported, said: Report) -> tuple[str, ...]:
        """End the turn; return the prompts with which the agent begins its next one."""
        ...


def heard(
    app: App, turns: Turns, adapter: Adapter, before: Reported, said: Report
) -> tuple[Reported, Answer]:
    """Take note of a report; return what is known of the conversation then, and the answer."""
    now = before._replace(session=said.session, transcript=said.transcript or before.transcript)
    if said.moment is Moment.SESSION:
        return now._replace(is_new=said.is_new and not before.prompts), Answer()
    if said.moment is Moment.PROMPT:
        return _prompt(app, turns, adapter, (before, now), said)
    before = before.gone_on(said.turn)
    if before.is_late(said.turn):
        return before, Answer()
    return _over(app, turns, before, said), Answer()


def _prompt(
    app: App, turns: Turns, adapter: Adapter, states: tuple[Reported, Reported], said: Report
) -> tuple[Reported, Answer]:
    before, now = states
    if before.in_turn and not said.by_person:
        # Such as the end of a helper: it is of the turn under way.
        return now._replace(answers=said.turn), Answer()
    if not said.by_person and before.prompts:
        woken = now.woken(said.text, app.now())._replace(answers=said.turn)
        return turns.begin(woken, said), Answer()
    if before.is_of_turn(said.turn):
        # Typed while that turn runs.
        later = (*before.later, said.text)
        return now._replace(later=later, prompts=before.prompts + 1), Answer()
    if before.in_turn:
        # Its end was not reported: the person has interrupted it.
        turns.end(before, said._replace(unwritten=False))
    else:
        turns.settle()
    told = turns.news(before._replace(session=said.session))
    # Typed as a turn ended, it has the id of that, and begins one whose id nobody has told yet.
    turn = said.turn if said.turn != before.answers else ""
    now = now._replace(in_turn=True, turn=turn, answers=turn, seen=told.seen)
    if said.by_person:
        now = now.begun((said.text,), app.now(), size_of(now.transcript))
        now = now._replace(prompts=before.prompts + 1)
    answer = adapter.informed(told.text) if told.text else Answer()
    return turns.begin(now, said), answer


def _over(app: App, turns: Turns, before: Reported, said: Report) -> Reported:
    """End the turn that is over; return what is known then."""
    now = before._replace(session=said.session, transcript=said.transcript or before.transcript)
    next_ones = turns.end(before, said) if before.in_turn else ()
    if not next_ones:
        return now._replace(in_turn=False, later=(), woken_by="")
    # The agent begins with them by itself, and reports no prompt.
    begun = now.begun(next_ones, app.now(), size_of(now.transcript))
    return turns.begin(begun._replace(turn="", answers=""), said)


def file_of(directory: Path, session: str) -> Path:
    """Return the file of what is known of a conversation."""
    return directory / f"{sha256_hex(session.encode())[:16]}{_SUFFIX}"


def keep(app: App, path: Path, now: Reported) -> None:
    """Keep what is known of a conversation, and delete what those of long ago have left."""
    make_dirs(path.parent)
    oldest = app.clock.now().timestamp() - _KEPT_S
    for other in path.parent.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if other.stat().st_mtime < oldest:
                other.unlink()
    write_reported_in(path, now)
