"""What an integrated agent reports from where a person has started it, without a run.

In a task's workspace a turn is a step. In a checkout it is kept beside the branch, where nothing is
moved. Words of agents are untrusted, as those of a run are: they name a turn, and allow nothing.
Where a turn begins and ends is found as in a run (`broker.reports`); what is known of the
conversation between two reports is in a small file of its own.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from siding.agents.hooks import Adapter, Answer, Moment, Report, adapter_of
from siding.ground.errors import NotFound, NotInitialised, UsageError
from siding.ground.files.durable import make_dirs
from siding.ground.git.errors import NotARepository
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Checkout, Project, require_project
from siding.record.place.selection import standing_in
from siding.record.place.wiring import App
from siding.record.recording.beside import Beside, BesideTurn, Figures
from siding.record.recording.snapshots import tidy_store
from siding.record.runs.reported import Reported, read_reported_in, write_reported_in
from siding.record.runs.run import LONGEST_PROMPT
from siding.record.tasks.task import Task
from siding.running.agent_turn import TypedInTurn
from siding.running.checkpoint import record_turn_alone, settle_before_turn, words_of_turn
from siding.running.news import News, news
from siding.usage.of_run import (
    UsedInTurn,
    is_transcript,
    size_of,
    wait_until_written,
    with_used_since,
)

_LONGEST_ID = 400
_KNOWN = (Moment.SESSION, Moment.PROMPT, Moment.STOPPED, Moment.FAILED)
_EVER = "1970-01-02T00:00:00Z"
_SUFFIX = ".agent"
_KEPT_S = 30 * 24 * 3600  # a conversation that said nothing for so long is begun anew


def reported(app: App, name: str, payload: Mapping[str, Any]) -> Answer:
    """Record what an agent has reported, and return what it is told.

    Nothing is recorded where there is no project. Raises NotFound and UsageError.
    """
    adapter = adapter_of(name)
    if adapter is None:
        raise NotFound(f"{name!r} is no agent that reports")
    said = adapter.read(payload)
    if said is None or said.moment not in _KNOWN:
        return Answer()
    if not said.session:
        raise UsageError(f"{name} does not say which conversation it is")
    try:
        project = require_project(app)
    except (NotInitialised, NotARepository):
        return Answer()
    known = _known(project, said)
    task_id = standing_in(project)
    if task_id is not None:
        return workspace_turn(project, project.tasks.load(task_id), name, adapter, known)
    checkout = project.checkout
    if checkout is not None:
        checkout_turn(project, checkout, name, adapter, known)
    return Answer()


def _known(project: Project, said: Report) -> Report:
    """Return a report without secrets, and no longer than what is kept."""
    clean = project.redaction.text
    return said._replace(
        session=clean(said.session)[:_LONGEST_ID],
        turn=clean(said.turn)[:_LONGEST_ID],
        transcript=clean(said.transcript)[:LONGEST_PROMPT],
        text=clean(said.text)[:LONGEST_PROMPT],
    )


def workspace_turn(
    project: Project, task: Task, name: str, adapter: Adapter, said: Report
) -> Answer:
    """Record what an agent reports, and return what it is told with its prompt."""
    path = file_of(project.task_layout(task.id).agents_dir, said.session)
    before = read_reported_in(path) or Reported()
    turns = WorkspaceTurns(project, task, name, adapter)
    now, answer = heard(project.app, turns, adapter, before, said)
    keep(project.app, path, now)
    return answer


class WorkspaceTurns(NamedTuple):
    """The turns of one conversation as steps of a task."""

    project: Project
    task: Task
    name: str
    adapter: Adapter

    def settle(self) -> None:
        settle_before_turn(self.project, self.task.id, self.name)

    def news(self, before: Reported) -> News:
        return news(self.project.ledger(self.task.id), before)

    def begin(self, now: Reported, said: Report) -> Reported:
        # What the conversation has used until now is not of this turn; of one that was woken it is.
        return now if now.woken_by else with_used_since(self.project.app, _EVER, now)

    def end(self, before: Reported, said: Report) -> tuple[str, ...]:
        """Record the turn as a step."""
        app = self.project.app
        used = UsedInTurn(app, _EVER, before, unwritten=said.unwritten, last_words=said.last_words)
        typed = TypedInTurn(app, self.adapter, before, self.project.redaction.text)
        words = words_of_turn(before, used, said.moment.value, typed)
        record_turn_alone(
            self.project,
            self.task,
            self.name,
            said.moment.value,
            words,
            only_if_changed=bool(before.woken_by),
        )
        return typed.next_ones


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
