"""Turns of an agent in a person's own checkout: kept beside the branch, where nothing is moved."""

from siding.agents.hooks import Adapter, Moment, Report
from siding.broker.news import News
from siding.ground.namedtuples import NamedTuple
from siding.integrating.conversation import file_of, heard, keep
from siding.record.place.project import Checkout, Project
from siding.record.recording.beside import Beside, BesideTurn, Figures
from siding.record.recording.snapshots import tidy_store
from siding.record.runs.reported import Reported, read_reported_in
from siding.running.agent_turn import TypedInTurn
from siding.usage.of_run import is_transcript, size_of, wait_until_written


def checkout_turn(
    project: Project, checkout: Checkout, agent: str, adapter: Adapter, said: Report
) -> None:
    """Record that a turn begins or ends. On a branch without a commit nothing is recorded."""
    if said.moment is Moment.SESSION:
        return
    beside = Beside.of(project, checkout)
    head = beside.head()
    if head is None:
        return
    with beside.held(f"recording a turn of {agent}"):
        beside.begin(head)
        turns = CheckoutTurns(beside, agent, adapter)
        path = file_of(beside.journal.path.parent, said.session)
        before = turns.agreed(read_reported_in(path) or Reported(), said.session)
        now, _nothing = heard(project.app, turns, adapter, before, said)
        keep(project.app, path, now)


class CheckoutTurns(NamedTuple):
    """The turns of conversations in one checkout."""

    beside: Beside
    agent: str
    adapter: Adapter

    def agreed(self, before: Reported, session: str) -> Reported:
        """Return what is known of a conversation, if need be from its newest turn alone.

        The journal says whether a turn is under way. What was known may be lost, or of a report
        that was cut off.
        """
        newest = self._newest(session)
        if newest is None or newest.after:
            return before._replace(in_turn=False)
        if before.in_turn:
            return before
        known = Reported(session=session, transcript=newest.transcript, prompts=1)
        known = known.begun((newest.prompt,), newest.at, size_of(newest.transcript))
        return known._replace(turn=newest.turn, answers=newest.turn)

    def settle(self) -> None:
        """Do nothing: a turn has a snapshot of its own before it."""

    def news(self, _before: Reported) -> News:
        return News("", 0)  # nothing is taken back in a checkout

    def begin(self, now: Reported, said: Report) -> Reported:
        """Take the snapshot before the turn, and note that it has begun."""
        turns = self.beside.turns()
        number = turns[-1].number + 1 if turns else 1
        taken = self.beside.snapshots().capture(step=f"{number} begins", kind="turn")
        turn = BesideTurn(
            number=number,
            at=self.beside.project.app.now(),
            agent=self.agent,
            session=now.session,
            turn=now.turn if not now.woken_by else said.turn,
            transcript=now.transcript,
            # What nobody has typed, such as the news that a shell in the background has ended, goes
            # on with what was asked before.
            prompt=now.prompt or said.text,
            later_prompts=now.besides,
            branch=self.beside.branch(),
            before=taken.snapshot,
            root=str(self.beside.checkout.root),
        )
        self.beside.journal.append(turn.begins())
        return now

    def end(self, before: Reported, said: Report) -> tuple[str, ...]:
        """Take the snapshot after the turn, and note that it has ended."""
        turn = self._newest(before.session)
        if turn is None or turn.after:
            return ()
        project, snapshots = self.beside.project, self.beside.snapshots()
        size = size_of(before.transcript)
        taken = snapshots.capture(step=str(turn.number), kind="turn")
        stat = snapshots.diff_stat(turn.before, taken.snapshot)
        if said.unwritten and is_transcript(project.app, before.transcript):
            wait_until_written(before.transcript, said.last_words, size)
        typed = TypedInTurn(project.app, self.adapter, before, project.redaction.text)
        later = turn.later_prompts if before.woken_by else typed()
        ended = turn._replace(
            later_prompts=later,
            after=taken.snapshot,
            ended_at=project.app.now(),
            moment=said.moment.value,
            figures=Figures(stat.files, stat.additions, stat.deletions),
        )
        self.beside.journal.append(ended.ends())
        tidy_store(project)
        return typed.next_ones

    def _newest(self, session: str) -> BesideTurn | None:
        """Return the newest turn of a conversation: no other one of it can be open."""
        own = (self.agent, session)
        turns = [each for each in self.beside.turns() if (each.agent, each.session) == own]
        return turns[-1] if turns else None
