"""Turns of an agent in a person's own checkout: kept beside the branch, where nothing is moved."""

from siding.adapters.agents.port import Moment, Report
from siding.app.place.project import Checkout, Project
from siding.app.recording.beside import Beside, BesideTurn, Figures
from siding.app.recording.snapshots import tidy_store


def checkout_turn(project: Project, checkout: Checkout, agent: str, said: Report) -> None:
    """Record that a turn begins or ends. On a branch without a commit nothing is recorded."""
    if said.moment is Moment.SESSION:
        return
    beside = Beside.of(project, checkout)
    head = beside.head()
    if head is None:
        return
    with beside.held(f"recording a turn of {agent}"):
        beside.begin(head)
        turns = beside.turns()
        newest = _newest(turns, agent, said.session)
        open_turn = newest if newest is not None and not newest.after else None
        if open_turn is not None and said.moment is Moment.PROMPT and not said.by_person:
            return  # such as the end of a helper: it is of the turn under way
        if open_turn is not None:
            _end(beside, open_turn, said.moment)
        if said.moment is Moment.PROMPT:
            number = turns[-1].number + 1 if turns else 1
            _begin(beside, number, agent, said, newest)


def _newest(turns: list[BesideTurn], agent: str, session: str) -> BesideTurn | None:
    """Return the newest turn of a conversation: no other one of it can be open."""
    own = [each for each in turns if (each.agent, each.session) == (agent, session)]
    return own[-1] if own else None


def _begin(
    beside: Beside, number: int, agent: str, said: Report, goes_on: BesideTurn | None
) -> None:
    # What nobody has typed, such as the news that a shell in the background has ended, goes on
    # with what was asked before.
    prompt = said.text if said.by_person or goes_on is None else goes_on.prompt
    taken = beside.snapshots().capture(step=f"{number} begins", kind="turn")
    turn = BesideTurn(
        number=number,
        at=beside.project.app.now(),
        agent=agent,
        session=said.session,
        turn=said.turn,
        transcript=said.transcript,
        prompt=prompt,
        branch=beside.branch(),
        before=taken.snapshot,
        root=str(beside.checkout.root),
    )
    beside.journal.append(turn.begins())


def _end(beside: Beside, turn: BesideTurn, moment: Moment) -> None:
    snapshots = beside.snapshots()
    taken = snapshots.capture(step=str(turn.number), kind="turn")
    stat = snapshots.diff_stat(turn.before, taken.snapshot)
    ended = turn._replace(
        after=taken.snapshot,
        ended_at=beside.project.app.now(),
        moment=moment.value,
        figures=Figures(stat.files, stat.additions, stat.deletions),
    )
    beside.journal.append(ended.ends())
    tidy_store(beside.project)
