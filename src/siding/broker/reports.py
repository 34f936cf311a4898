"""What the agent of a run reports: turns become steps, commands are judged before they run.

An agent's words are those of the run: they may be wrong, or come from another of its processes.
They name a turn or ask for a verdict; nothing is answered, allowed or taken back by them.
"""

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from siding.agents.hooks import Adapter, Answer, Moment, Report, Takes, adapter_of
from siding.asking.notices import notify
from siding.asking.told import Told
from siding.asking.views import agent_entry, identity
from siding.broker.desk import REPORTING, Desk
from siding.broker.judge import Judged, judged
from siding.broker.messages import ReportRequest, cannot_report
from siding.broker.over_limit import held, is_limited, noticed
from siding.comments.handing import hand
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.record.runs.reported import Reported, first_line, read_reported, write_reported
from siding.record.runs.run import LONGEST_PROMPT
from siding.running.agent_turn import TypedInTurn
from siding.running.checkpoint import TurnWords, record_turn, settle_before_turn, words_of_turn
from siding.running.news import News
from siding.running.news import news as news_of
from siding.usage.of_run import UsedInTurn, size_of, with_used_since

_LONGEST_SHOWN = 400
_Take = Callable[[Desk, Adapter, Reported, Report], Reported]

GREETING = (
    "Your workspace is recorded by Siding: each of your turns is a step that can be taken back. A "
    "choice that belongs to a person (what to delete, publish or pay for, which of several ways to "
    "go) you put to a person with `siding decide` (`siding decide --help` shows the question as "
    "JSON). It prints the answer, however long that takes; if a time limit cuts it off, run it "
    "again with the same JSON. `siding checkpoint -m TEXT` records a state to come back to, "
    "`siding note TEXT` keeps a note."
)


class Noted(NamedTuple):
    """The answer to the agent's program, and what the run's record has of it."""

    answer: Answer = Answer()
    brief: Mapping[str, Any] = {}


def report(desk: Desk, request: ReportRequest) -> Noted:
    """Take note of what the run's agent reports, and say what it is told. Raises BadRequest."""
    adapter = adapter_of(request.agent)
    if adapter is None:
        raise cannot_report()
    said = adapter.read(request.payload)
    if said is None:
        return Noted()
    match said.moment:
        case Moment.TOOL:
            return _tool(desk, adapter, said)
        case Moment.SESSION:
            return _noted(desk, adapter, said, _session)
        case Moment.PROMPT:
            return _noted(desk, adapter, said, _prompt)
        case Moment.STOPPED | Moment.FAILED:
            return _noted(desk, adapter, said, _over)
        case Moment.WAITS:
            return _noted(desk, adapter, said, _waits)
        case Moment.GOES_ON:
            return _noted(desk, adapter, said, _goes_on)
        case Moment.CALLED:
            return _noted(desk, adapter, said, _called)
        case _:
            assert_never(said.moment)


def _noted(desk: Desk, adapter: Adapter, said: Report, take: _Take) -> Noted:
    """Keep what a report says of the run; `take` returns what is known of the run after it."""
    if said.moment is Moment.PROMPT and not said.followed:
        held(desk, is_prompt=True)
    with REPORTING:
        before = read_reported(desk.layout, desk.run.id) or Reported()
        now = take(desk, adapter, before, _known(desk, said))
        told = News("", now.seen)
        if said.moment is Moment.PROMPT:
            known = _of_session(desk, before, said)
            told = news_of(desk.project.ledger(desk.task.id), known)
            now = _named(desk, before, now, said)._replace(seen=told.seen)
        prompt = _commented(desk, adapter, said, now)
        if prompt and said.moment is Moment.STOPPED:
            now = _goes_on_with(desk, now, prompt)
        write_reported(desk.layout, desk.run.id, _of_session(desk, now, said))
    if said.moment in (Moment.STOPPED, Moment.FAILED):
        noticed(desk)
    if now.waits != before.waits:
        task = desk.task
        if before.waits:
            over = agent_entry(desk.project, task.id, task.name, desk.run, before)
            Told(desk.app.home, desk.app.env).clear(identity(over))
        if now.waits:
            notify(desk.project, agent_entry(desk.project, task.id, task.name, desk.run, now))
    if prompt and said.moment is Moment.STOPPED:
        answer = adapter.goes_on_with(prompt)
    else:
        text = "\n\n".join(each for each in (told.text, prompt) if each)
        answer = _told(desk, adapter, said, text, is_first=now.prompts == 1)
    return Noted(answer, {"moment": said.moment.value, "prompts": now.prompts})


def _commented(desk: Desk, adapter: Adapter, said: Report, now: Reported) -> str:
    """Return the prompt with comments that wait for this agent; "" for none, or not now.

    It is on the disk that they were handed. A limit that holds prompts holds this one, too: then
    they come with the next one that a person types.
    """
    if said.moment is Moment.STOPPED:
        ends = not (now.in_turn or said.interrupted)
        if adapter.takes is not Takes.AT_END or not ends or is_limited(desk):
            return ""
    elif said.moment is not Moment.PROMPT or adapter.takes is Takes.NEVER or not said.by_person:
        return ""
    try:
        return hand(desk.project, desk.task, desk.run.id, said.transcript or now.transcript)
    except (SidingError, OSError):
        return ""  # a turn is not held up by them; `siding comments` names what is wrong


def _goes_on_with(desk: Desk, now: Reported, prompt: str) -> Reported:
    """Return what is known as an agent goes on with a prompt of ours, which it does not report."""
    begun = _begun(desk, now, (desk.project.redaction.text(prompt)[:LONGEST_PROMPT],))
    turn = f"{desk.run.id}.{now.prompts + 1}"  # its own id is that of the prompt before
    return begun._replace(prompts=now.prompts + 1, turn=turn, answers="")


def _told(desk: Desk, adapter: Adapter, said: Report, news: str, *, is_first: bool) -> Answer:
    """Return what the model is told: the greeting, what was taken back, both or nothing."""
    greets = said.moment is adapter.greets and desk.project.settings.agents_text
    if said.moment is Moment.SESSION:
        return adapter.greeted(GREETING) if greets else Answer()
    texts = [GREETING] if greets and is_first and said.by_person else []
    text = "\n\n".join([*texts, *([news] if news else [])])
    return adapter.informed(text) if text else Answer()


def _known(desk: Desk, said: Report) -> Report:
    """Return the report without secrets, and no longer than what is kept."""
    return said._replace(text=desk.project.redaction.text(said.text)[:LONGEST_PROMPT])


def _of_session(desk: Desk, now: Reported, said: Report) -> Reported:
    clean = desk.project.redaction.text
    session = clean(said.session)[:_LONGEST_SHOWN] or now.session
    transcript = clean(said.transcript)[:LONGEST_PROMPT] or now.transcript
    copy = now.copy or (session if now.copy_of else "")  # it begins with that conversation
    return now._replace(session=session, transcript=transcript, copy=copy)


def _named(desk: Desk, before: Reported, now: Reported, said: Report) -> Reported:
    """Return what is known of the turn of a prompt with the agent's own ids of both.

    An agent that has no name for it gets one: the steps of a turn are one act.
    """
    answers = said.turn[:_LONGEST_SHOWN]
    if not said.by_person and before.prompts:
        return now._replace(answers=answers)  # of the newest prompt
    if now.later:
        return now  # it was typed while that turn runs
    if answers and answers == before.answers:
        # Typed as that turn ended: it begins one of its own, whose id nobody has told yet.
        return now._replace(turn="", answers="")
    return now._replace(turn=answers or f"{desk.run.id}.{now.prompts}", answers=answers)


def _session(_desk: Desk, _adapter: Adapter, before: Reported, said: Report) -> Reported:
    return before._replace(waits="", is_new=said.is_new and not before.prompts)


def _prompt(desk: Desk, adapter: Adapter, before: Reported, said: Report) -> Reported:
    if before.in_turn and not said.by_person:
        return before._replace(waits="")  # such as the end of a helper: it is of the turn under way
    if not said.by_person:
        if not before.prompts:
            _settle(desk)
        return before.woken(said.text[:_LONGEST_SHOWN], desk.app.now())
    if before.is_of_turn(said.turn[:_LONGEST_SHOWN]):
        later = (*before.later, said.text)  # typed while that turn runs
        return before._replace(later=later, prompts=before.prompts + 1, waits="")
    if before.in_turn:
        # Its end was not reported: the person has interrupted it.
        before, _next = _record(desk, adapter, before, said._replace(unwritten=False))
    else:
        _settle(desk)
    before = _of_session(desk, before, said)
    if not said.followed:
        # What was used between two turns is of none. One that did not wait may have used some of
        # what is counted for this turn.
        before = with_used_since(desk.app, desk.run.started_at, before)
    return _begun(desk, before, (said.text,))._replace(prompts=before.prompts + 1)


def _begun(desk: Desk, before: Reported, prompts: tuple[str, ...]) -> Reported:
    """Return what is known as a turn begins, with one prompt or several."""
    return before.begun(prompts, desk.app.now(), size_of(before.transcript))


def _over(desk: Desk, adapter: Adapter, before: Reported, said: Report) -> Reported:
    before = before.gone_on(said.turn[:_LONGEST_SHOWN])
    if before.is_late(said.turn):
        return before  # its agent did not wait until the report of it had arrived
    if not before.in_turn:
        return before._replace(waits="")
    before, next_ones = _record(desk, adapter, _of_session(desk, before, said), said)
    if next_ones:
        # The agent begins with them by itself, and reports no prompt.
        return _begun(desk, before, next_ones)._replace(turn="", answers="")
    return before._replace(in_turn=False, later=(), waits="")


def _waits(desk: Desk, _adapter: Adapter, before: Reported, said: Report) -> Reported:
    waits = said.text[:_LONGEST_SHOWN] or "waits for you"
    return before._replace(waits=waits, waits_since=desk.app.now())


def _goes_on(_desk: Desk, _adapter: Adapter, before: Reported, said: Report) -> Reported:
    if said.followed and before.prompts and not before.in_turn:
        # It had asked for a confirmation, say, and that looked like the end of the turn.
        before = before._replace(in_turn=True, is_kept=True)
    return before._replace(waits="")


def _called(desk: Desk, _adapter: Adapter, before: Reported, said: Report) -> Reported:
    """Record what a tool has changed as a step within the turn, if that is set."""
    before = before.gone_on(said.turn[:_LONGEST_SHOWN])
    if before.in_turn and desk.run.is_recorded and desk.project.settings.agents_steps == "call":
        title = first_line(said.text) or "a tool"
        call = said.call[:_LONGEST_SHOWN]
        words = TurnWords(title, "", before.session, before.turn, before.transcript, call)
        record_turn(desk.project, desk.task.id, desk.run.id, said.moment.value, words)
    return before._replace(waits="")


def _record(
    desk: Desk, adapter: Adapter, before: Reported, said: Report, *, has_gone_on: bool = False
) -> tuple[Reported, tuple[str, ...]]:
    """Record a turn as a step: each has its own, whether or not a file changed.

    A run that makes no step (`--no-record`) has no turns. Returns what was reported, with what the
    agent has used until now, and the prompts with which it begins its next turn.
    """
    before = before if before.turn else before._replace(turn=f"{desk.run.id}.{before.prompts}")
    if not desk.run.is_recorded:
        return before, ()
    used = UsedInTurn(
        desk.app,
        desk.run.started_at,
        before,
        unwritten=said.unwritten,
        last_words=said.last_words,
    )
    clean = desk.project.redaction.text
    typed = TypedInTurn(desk.app, adapter, before, clean, has_gone_on=has_gone_on)
    words = words_of_turn(before, used, said.moment.value, typed)
    ids = desk.task.id, desk.run.id
    record_turn(desk.project, *ids, said.moment.value, words, only_if_changed=before.is_kept)
    more = len(typed.taken) + len(typed.next_ones) - len(before.later)
    return used.after._replace(prompts=max(1, before.prompts + more)), typed.next_ones


def _settle(desk: Desk) -> None:
    """Record what changed since the last step: it is not of the turn that begins."""
    if not desk.run.is_recorded:
        return
    settle_before_turn(desk.project, desk.task.id, desk.run.id)


def _tool(desk: Desk, adapter: Adapter, said: Report) -> Noted:
    over = held(desk)
    if over:
        return Noted(adapter.denied(over), {"action": "limit", "runs": False, "reason": over})
    with REPORTING:
        _split(desk, adapter, said)
    verdict = judged(desk, said)
    if said.unknown is not None and desk.run.judge != "require":
        return Noted()
    with REPORTING:
        before = read_reported(desk.layout, desk.run.id) or Reported()
        now = before._replace(
            judged=before.judged + 1,
            blocked=before.blocked + (not verdict.runs),
            asked=before.asked + verdict.asked,
            waits="",
        ).noting(verdict.note)
        write_reported(desk.layout, desk.run.id, _of_session(desk, now, said))
    answer = Answer() if verdict.runs else adapter.denied(verdict.reason)
    return Noted(answer, _brief(verdict))


def _split(desk: Desk, adapter: Adapter, said: Report) -> None:
    """Record the turn that a person has interrupted, if the agent has gone on by itself since.

    That is known in time only where its tools are judged before they run.
    """
    before = read_reported(desk.layout, desk.run.id)
    turn = said.turn[:_LONGEST_SHOWN]
    if before is None or before.gone_on(turn) == before:
        return
    if before.answers:
        ended = Report(Moment.PROMPT)
        before, next_ones = _record(desk, adapter, before, ended, has_gone_on=True)
        before = _begun(desk, before, next_ones or before.later)._replace(turn="", answers="")
    write_reported(desk.layout, desk.run.id, before.gone_on(turn))


def _brief(verdict: Judged) -> dict[str, Any]:
    told = {"action": verdict.action, "runs": verdict.runs}
    return {**told, "reason": verdict.reason} if verdict.reason else told
