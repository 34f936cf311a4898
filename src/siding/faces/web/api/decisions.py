"""Operations of the API on decisions, the inbox and phases."""

from typing import Any

from siding.asking.answer import NOBODY, Answered, Signer, answered, open_decision
from siding.asking.answer import answer as answer_decision
from siding.asking.answer import cancel as cancel_decision
from siding.asking.calling import is_quiet
from siding.asking.decisions.record import Via
from siding.asking.lookup import get, list_decisions
from siding.asking.views import DecisionView, as_record
from siding.faces.web.api.reading import Fields
from siding.faces.web.ask import Ask
from siding.faces.web.quoting import quoted
from siding.faces.web.waiting import everything_waiting
from siding.phases.phases import as_record as phase_record
from siding.phases.phases import list_phases

_LONGEST_REASON = 1000


def listed(ask: Ask) -> dict[str, Any]:
    """Return the decisions: the open ones, or all of them with ``all=1``."""
    found, problems = list_decisions(ask.project, closed=ask.number("all", 0, most=1) == 1)
    return {"decisions": [as_record(each) for each in found], "problems": problems}


def one(ask: Ask) -> dict[str, Any]:
    """Return one decision."""
    return as_record(get(ask.project, ask.words["decision"]))


def code(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Show the code of an answer or of a cancellation in the terminal."""
    act = fields.choice("act", "answer", "cancel")
    answers = fields.any("decisions") if act == "answer" else None
    reason = fields.text("reason", "", longest=_LONGEST_REASON) if act == "cancel" else ""
    fields.done()
    session = ask.words["decision"]
    if act == "answer":
        wanted = answered(ask.project, session, answers)
        ask.site.nonces.ask(act, _meaning(wanted), told=_told_answer(ask, wanted))
    else:
        found = open_decision(ask.project, session)
        meaning = {"decision": found.session_id, "reason": reason}
        ask.site.nonces.ask(act, meaning, told=_told_cancel(ask, found))
    return {"shown": True}


def answer(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Answer a decision; one that opens a gate needs a code, or a device's signature."""
    answers = fields.any("decisions")
    typed = fields.text("code", "", longest=20)
    fields.done()
    wanted = answered(ask.project, ask.words["decision"], answers)
    if typed and ask.device is None:
        ask.site.nonces.spend("answer", _meaning(wanted), typed)
    session, (via, signer) = wanted.decision.session_id, _by(ask, typed)
    done = answer_decision(ask.project, session, answers, via=via, signer=signer)
    _say(ask, _told_answer(ask, wanted))
    return as_record(done)


def cancel(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Cancel a decision; this needs a code, or a device's signature."""
    reason = fields.text("reason", "", longest=_LONGEST_REASON)
    typed = fields.text("code", "", longest=20)
    fields.done()
    found = open_decision(ask.project, ask.words["decision"])
    if typed and ask.device is None:
        meaning = {"decision": found.session_id, "reason": reason}
        ask.site.nonces.spend("cancel", meaning, typed)
    via, signer = _by(ask, typed)
    done = cancel_decision(ask.project, found.session_id, reason=reason, via=via, signer=signer)
    _say(ask, _told_cancel(ask, found))
    return as_record(done)


def inbox(ask: Ask) -> dict[str, Any]:
    """Return what waits for a person, in every project."""
    entries, problems = everything_waiting(ask.project)
    return {
        "entries": [each._asdict() for each in entries],
        "problems": list(problems),
        "quiet": is_quiet(ask.project),
    }


def phases(ask: Ask) -> dict[str, Any]:
    """Return the phases of tasks: their current passes and the earlier ones."""
    found = list_phases(ask.project)
    return {
        "phases": [phase_record(each) for each in found.passes],
        "problems": list(found.problems),
    }


def _by(ask: Ask, typed: str) -> tuple[Via, Signer]:
    """Return how the request says that a person made it."""
    if ask.device is not None:
        return Via.DEVICE, Signer(device=ask.device.name, device_id=ask.device.id)
    return (Via.PAGE_WITH_CODE if typed else Via.PAGE), NOBODY


def _say(ask: Ask, told: str) -> None:
    """Tell the terminal what a device has signed."""
    if ask.device is not None:
        ask.site.say(f"{ask.device.name}, a paired device, has signed: {told}")


def _told_cancel(ask: Ask, decision: DecisionView) -> str:
    return f"cancel the question {quoted(decision.title)}{_place(ask, decision)}"


def _meaning(wanted: Answered) -> dict[str, Any]:
    """Return the parameters of a code for these answers; other answers need another code."""
    return {"decision": wanted.decision.session_id, "answers": wanted.answers}


def _told_answer(ask: Ask, wanted: Answered) -> str:
    decision = wanted.decision
    chosen = [", ".join(each.values) or "none of them" for each in wanted.answers]
    if len(chosen) > 1:
        chosen = [f"{each.id}: {text}" for each, text in zip(wanted.answers, chosen, strict=True)]
    gate = f", which opens the gate of phase {quoted(decision.gate)}" if decision.gate else ""
    said = quoted("; ".join(chosen))
    return f"answer {quoted(decision.title)}{_place(ask, decision)} with {said}{gate}"


def _place(ask: Ask, decision: DecisionView) -> str:
    if not decision.task_id:
        return " (asked outside of tasks)"
    names: dict[str, str] = {task.id: task.name for task in ask.project.tasks.readable()}
    name = names.get(decision.task_id, "")
    return f" of task {decision.task_id}{f' ({name})' if name else ''}"
