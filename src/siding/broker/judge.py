"""Judge what the agent of a run is about to do, and ask a person where the policy says so.

Under `--judge require` what is not understood is refused, and a tool that nobody knows is a
question. Otherwise both go the agent's own way, as a call does whose verdict cannot be had.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.agents.hooks import Report
from siding.agents.places import notes_of
from siding.agents.table import ANY
from siding.asking.kinds import end_question, key_of_call
from siding.asking.lookup import decision_store
from siding.asking.question import Cancelled, NotAnswered
from siding.broker.desk import Desk, PeerGone, RunOver
from siding.broker.messages import AskRequest
from siding.broker.questions import ask_person, collect
from siding.effect.ask import Counting, begin
from siding.effect.count import Asked
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.guard.in_force import is_judged, is_kept, keep_answers
from siding.guard.views import check_in
from siding.shellguard.face import Action, Effect, Verdict

_YES, _ALWAYS, _NO = "run", "always", "refuse"
_LONGEST_LINE = 256 << 10  # characters; the limit of `policy.check`
_SHOWN = 2000  # characters of a command in a question
_IN_TITLE = 60  # and in its title
_UNKNOWN = "unknown-tool"
_CHANGES = frozenset((Effect.WRITES, Effect.DELETES))  # what a tool does to files


class Judged(NamedTuple):
    """Whether a command or another tool may run, and why not.

    `asked`: a person was asked. `note` is said of it when the run is over.
    """

    runs: bool
    action: str
    reason: str = ""
    asked: bool = False
    note: str = ""


def judged(desk: Desk, said: Report) -> Judged:
    """Judge a command or the use of a tool by the policy of the project, as `siding run` would.

    Where the policy asks, wait for the person's answer. A question is found again by the call that
    it is about. Raises PeerGone.
    """
    if not is_judged(desk.project, desk.run.agent or ANY):
        return Judged(runs=True, action=Action.ALLOW.value)
    if said.unread:
        return _not_understood(desk, said.unread)
    if len(said.command) > _LONGEST_LINE:
        return Judged(runs=False, action="block", reason="the command is too long to be judged")
    if said.unknown is not None:
        if desk.run.judge != "require":
            return Judged(runs=True, action=Action.ALLOW.value)
        if is_kept(desk.project, desk.task.id, _UNKNOWN, said.unknown.name):
            return Judged(runs=True, action=Action.ASK.value)
        said = said._replace(uses=said.unknown)
    where = Path(said.cwd) if said.cwd else desk.workspace
    what = said.command if said.uses is None else said.uses
    notes = notes_of(desk.run.agent, str(desk.workspace))
    verdict = check_in(desk.project, desk.workspace, where, what, notes).verdict
    action = verdict.action.value
    if verdict.runs:
        return Judged(runs=True, action=action)
    why = _why(verdict)
    if verdict.action is not Action.ASK:
        return Judged(runs=False, action=action, reason=f"Siding's policy blocks this: {why}")
    return _asked(desk, said, why)


def _not_understood(desk: Desk, unread: str) -> Judged:
    """Refuse a call whose input is not as its tool is known to have it, or only note it."""
    what = desk.project.redaction.text(unread)[:_SHOWN]
    if desk.run.judge != "require":
        return Judged(runs=True, action=Action.ALLOW.value, note=f"not judged: {what}")
    reason = f"Siding does not understand this call, so it is not done: {what}"
    return Judged(runs=False, action=Action.BLOCK.value, reason=reason, note=f"refused: {what}")


def _why(verdict: Verdict) -> str:
    worst = [each for each in verdict.findings if each.action is verdict.action]
    return "; ".join(dict.fromkeys(f"{each.reason} ({each.rule})" for each in worst))


def _asked(desk: Desk, said: Report, why: str) -> Judged:
    """Put the question to a person; without an answer it is no."""
    action, ask_s = Action.ASK.value, desk.run.ask_s
    shown = " ".join(_shown(desk, said).split())[:_IN_TITLE]
    if ask_s == 0:
        reason = f"the policy asks a person about this, and nobody is asked in this run: {why}"
        note = f"not done, because nobody is asked (--ask deny): {shown} ({why})"
        return Judged(runs=False, action=action, reason=reason, note=note)
    try:
        verdict = _verdict_of(desk, said, why)
    except NotAnswered:
        late = f"nobody answered within {ask_s:g} s"
        reason = f"the policy asks a person about this, and {late}: {why}"
        note = f"not done, because {late}: {shown} ({why})"
        desk.say(f"siding: {note}")
        return Judged(runs=False, action=action, reason=reason, asked=True, note=note)
    except RunOver:
        reason = "the run has ended before anybody answered"
        note = f"not done, because {reason}: {shown} ({why})"
        return Judged(runs=False, action=action, reason=reason, asked=True, note=note)
    if verdict.is_yes:
        return Judged(runs=True, action=action, asked=True)
    reason = f"a person was asked and refused: {why}"
    if verdict.note:
        reason += f"; they say: {verdict.note}"
    return Judged(runs=False, action=action, reason=reason, asked=True)


class _Verdict(NamedTuple):
    """What a person said, and the note that goes with it."""

    is_yes: bool
    note: str = ""


def _verdict_of(desk: Desk, said: Report, why: str) -> _Verdict:
    """Ask a person. A question that nobody waits for any more is cancelled.

    Raises NotAnswered, RunOver and PeerGone.
    """
    call = said.call or desk.app.random_bytes(8).hex()
    question, key = _question(desk, said, why), key_of_call(desk.task.id, desk.run.id, call)
    put = ask_person(desk, AskRequest(question, key=key, wait=False))
    session = put["session"]
    counting = None
    if put["state"] == "open":
        _announce(desk, said, session)
        counting = _begin_effect(desk, said, session)
    try:
        answered = ask_person(desk, AskRequest(session=session, timeout_s=desk.run.ask_s))
    except Cancelled:
        return _Verdict(is_yes=False)
    except (NotAnswered, RunOver, PeerGone) as error:
        _end(desk, session, error)
        raise
    finally:
        if counting is not None:
            counting.end()
    collect(desk, session)
    output = answered["output"] or {}
    decisions = output.get("decisions", ())
    chosen = {each.get("chosen") for each in decisions}
    notes = "; ".join(filter(None, (each.get("note", "") for each in decisions)))
    if _ALWAYS in chosen and said.unknown is not None:
        keep_answers(desk.project, desk.task.id, [(_UNKNOWN, said.unknown.name)])
    return _Verdict(bool(chosen & {_YES, _ALWAYS}), desk.project.redaction.text(notes))


def _begin_effect(desk: Desk, said: Report, session: str) -> Counting | None:
    """Begin to find out what would be changed. The question waits for nothing of it."""
    if said.uses is not None and not _CHANGES.intersection(each for each, _ in said.uses.touches):
        return None
    is_edit = said.uses is not None
    cwd = Path(said.cwd) if said.cwd else desk.workspace
    with suppress(SidingError, OSError, ValueError):
        line = said.command if said.uses is None else said.uses.text
        asked = Asked(session, line, cwd, said.edits, is_edit)
        return begin(desk.project, desk.task.id, asked)
    return None


def _end(desk: Desk, session: str, error: Exception) -> None:
    """Cancel a question, with the reason why nobody waits for its answer any more."""
    reason = f"the agent of run {desk.run.id} no longer waits for it"
    if isinstance(error, NotAnswered):
        reason = f"nobody answered within {desk.run.ask_s:g} s, which is a no"
    elif isinstance(error, RunOver):
        reason = f"its run {desk.run.id} has ended"
    with suppress(SidingError, OSError):
        end_question(desk.project, decision_store(desk.project).load(session), reason)


def _announce(desk: Desk, said: Report, session: str) -> None:
    """Say on the run's output that a person is waited for, and how they answer."""
    limit = f"; after {desk.run.ask_s:g} s the answer is no" if desk.run.ask_s else ""
    desk.say(f"siding: {_title(desk, said)}")
    desk.say(f"siding:   siding decide answer {session}{limit}")


def _title(desk: Desk, said: Report) -> str:
    verb = "run this" if said.uses is None else "do this"
    shown = " ".join(_shown(desk, said).split())
    cut = shown if len(shown) <= _IN_TITLE else shown[: _IN_TITLE - 1].rstrip() + "…"
    return f"May {desk.run.agent or 'the agent'} {verb}? {cut}"


def _shown(desk: Desk, said: Report) -> str:
    """Return the command, or the tool and what it is used on, without secrets."""
    return desk.project.redaction.text(said.command if said.uses is None else said.uses.text)


def _question(desk: Desk, said: Report, why: str) -> dict[str, Any]:
    agent = desk.run.agent or "the agent"
    yes = "Run it" if said.uses is None else "Let it"
    options = [{"value": _YES, "label": yes}, {"value": _NO, "label": "Refuse it"}]
    if said.unknown is not None:
        options.insert(1, {"value": _ALWAYS, "label": "Let it use this tool always, in this task"})
    return {
        "task": desk.task.name,
        "source": f"{desk.run.id}, {agent}",
        "items": [
            {
                "id": 1,
                "title": _title(desk, said),
                "context": f"{_as_code(_shown(desk, said)[:_SHOWN])}\n\n{why}",
                "options": options,
            }
        ],
    }


def _as_code(command: str) -> str:
    """Return the command as Markdown that shows it as it is."""
    return "\n".join(f"    {line}" for line in command.splitlines())
