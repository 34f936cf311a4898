"""What the agent of a run reports: turns become steps, commands are judged before they run.

An agent's words are those of the run: they may be wrong, or come from another of its processes.
They name a turn or ask for a verdict; nothing is answered, allowed or taken back by them.
"""

from collections.abc import Mapping
from typing import Any

from siding.adapters.agents.port import Adapter, Answer, Moment, Report
from siding.adapters.agents.table import adapter_of
from siding.app.broker.desk import REPORTING, Desk
from siding.app.broker.judging import Judged, judged
from siding.app.broker.over_limit import held, noticed
from siding.app.broker.request import BadRequest, Request
from siding.app.broker.taken_back import News
from siding.app.broker.taken_back import news as news_of
from siding.app.running.checkpoint import TurnWords, record_turn, settle_before_turn, words_of_turn
from siding.app.usage.of_run import UsedInTurn
from siding.app.waiting.inbox import agent_entry
from siding.app.waiting.notifications import notify
from siding.namedtuples import NamedTuple
from siding.runs.reported import LONGEST_PROMPT, Reported, first_line, read_reported, write_reported

_LONGEST_SHOWN = 400

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


def report(desk: Desk, request: Request) -> Noted:
    """Take note of what the run's agent reports, and say what it is told. Raises BadRequest."""
    adapter = adapter_of(request.text("agent", most=40, needed=True))
    payload = request.fields.get("payload")
    if adapter is None or not isinstance(payload, dict):
        raise BadRequest("report: 'agent' must be one that can report, and 'payload' an object")
    said = adapter.read(payload)
    if said is None:
        return Noted()
    if said.moment is Moment.TOOL:
        return _tool(desk, adapter, said)
    if said.moment is Moment.PROMPT and not said.followed:
        held(desk, is_prompt=True)
    with REPORTING:
        before = read_reported(desk.layout, desk.run.id) or Reported()
        now = _MOMENTS[said.moment](desk, before, _known(desk, said))
        told = News("", now.seen)
        if said.moment is Moment.PROMPT:
            told = news_of(desk.project.ledger(desk.task.id), before, said.session)
            # An agent that has no name for it gets one: the steps of a turn are one act.
            turn = said.turn[:_LONGEST_SHOWN] or f"{desk.run.id}.{now.prompts}"
            turn = now.turn if _is_of_turn(before, said) else turn
            answers = said.turn[:_LONGEST_SHOWN]
            now = now._replace(turn=turn, answers=answers, seen=told.seen)
        write_reported(desk.layout, desk.run.id, _of_session(desk, now, said))
    if said.moment in (Moment.STOPPED, Moment.FAILED):
        noticed(desk)
    if now.waits and now.waits != before.waits:
        task = desk.task
        notify(desk.project, agent_entry(desk.project, task.id, task.name, desk.run, now))
    answer = _told(desk, adapter, said, told.text, is_first=now.prompts == 1)
    return Noted(answer, {"moment": said.moment.value, "prompts": now.prompts})


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
    return now._replace(session=session, transcript=transcript)


def _session(_desk: Desk, before: Reported, said: Report) -> Reported:
    return before._replace(waits="", is_new=said.is_new and not before.prompts)


def _prompt(desk: Desk, before: Reported, said: Report) -> Reported:
    if _is_of_turn(before, said):
        return before._replace(waits="")
    if before.in_turn:
        # Its end was not reported: the person has interrupted it.
        before = _record(desk, before, Moment.PROMPT, unwritten=False)
    else:
        _settle(desk)
    if not said.by_person:
        return before._replace(in_turn=True, waits="")
    count = before.prompts + 1
    before = before._replace(prompt=said.text, prompts=count, prompted_at=desk.app.now())
    return before._replace(in_turn=True, is_kept=False, waits="")


def _is_of_turn(before: Reported, said: Report) -> bool:
    """Tell whether what nobody has typed, such as the end of a helper, is of the turn under way."""
    return before.in_turn and not said.by_person


def _over(desk: Desk, before: Reported, said: Report) -> Reported:
    if before.is_late(said.turn):
        return before  # its agent did not wait until the report of it had arrived
    if before.in_turn:
        known = _of_session(desk, before, said)
        before = _record(desk, known, said.moment, unwritten=said.unwritten)
    return before._replace(in_turn=False, waits="")


def _waits(desk: Desk, before: Reported, said: Report) -> Reported:
    waits = said.text[:_LONGEST_SHOWN] or "waits for you"
    return before._replace(waits=waits, waits_since=desk.app.now())


def _goes_on(_desk: Desk, before: Reported, said: Report) -> Reported:
    if said.followed and before.prompts and not before.in_turn:
        # It had asked for a confirmation, say, and that looked like the end of the turn.
        before = before._replace(in_turn=True, is_kept=True)
    return before._replace(waits="")


def _called(desk: Desk, before: Reported, said: Report) -> Reported:
    """Record what a tool has changed as a step within the turn, if that is set."""
    if before.in_turn and desk.run.is_recorded and desk.project.settings.agents_steps == "call":
        title = first_line(said.text) or "a tool"
        call = said.call[:_LONGEST_SHOWN]
        words = TurnWords(title, "", before.session, before.turn, before.transcript, call)
        record_turn(desk.project, desk.task.id, desk.run.id, said.moment.value, words)
    return before._replace(waits="")


_MOMENTS = {
    Moment.SESSION: _session,
    Moment.PROMPT: _prompt,
    Moment.STOPPED: _over,
    Moment.FAILED: _over,
    Moment.WAITS: _waits,
    Moment.GOES_ON: _goes_on,
    Moment.CALLED: _called,
}


def _record(desk: Desk, before: Reported, moment: Moment, *, unwritten: bool) -> Reported:
    """Record a turn as a step: each prompt has its own, whether or not a file changed.

    A run that makes no step (`--no-record`) has no turns. Returns what was reported, with what the
    agent has used until now.
    """
    if not desk.run.is_recorded:
        return before
    used = UsedInTurn(desk.app, desk.run.started_at, before, unwritten=unwritten)
    words = words_of_turn(before, used, moment.value)
    ids = desk.task.id, desk.run.id
    record_turn(desk.project, *ids, moment.value, words, only_if_changed=before.is_kept)
    return used.after


def _settle(desk: Desk) -> None:
    """Record what changed since the last step: it is not of the turn that begins."""
    if not desk.run.is_recorded:
        return
    settle_before_turn(desk.project, desk.task.id, desk.run.id)


def _tool(desk: Desk, adapter: Adapter, said: Report) -> Noted:
    over = held(desk)
    if over:
        return Noted(adapter.denied(over), {"action": "limit", "runs": False, "reason": over})
    verdict = judged(desk, said)
    with REPORTING:
        before = read_reported(desk.layout, desk.run.id) or Reported()
        now = before._replace(
            judged=before.judged + 1,
            blocked=before.blocked + (not verdict.runs),
            asked=before.asked + verdict.asked,
            waits="",
        )
        write_reported(desk.layout, desk.run.id, _of_session(desk, now, said))
    answer = Answer() if verdict.runs else adapter.denied(verdict.reason)
    return Noted(answer, _brief(verdict))


def _brief(verdict: Judged) -> dict[str, Any]:
    told = {"action": verdict.action, "runs": verdict.runs}
    return {**told, "reason": verdict.reason} if verdict.reason else told
