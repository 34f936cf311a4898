"""Decisions: their pages, and answering and cancelling them."""

from typing import Any

from siding.asking.answer import NOBODY, Answered, Signer, answered, open_decision
from siding.asking.answer import answer as answer_decision
from siding.asking.answer import cancel as cancel_decision
from siding.asking.decisions.record import Via
from siding.asking.lookup import get, list_decisions, source_of
from siding.asking.origin import LONGEST_LINE, QuotedSource
from siding.asking.views import DecisionView, ItemView, as_record
from siding.effect.effect import lines_of
from siding.effect.store import effect_of, patch_of
from siding.faces.web.rendering import Page, escaped
from siding.faces.web.request import Ask, Fields
from siding.faces.web.syntax import coloured, markdown
from siding.faces.web.text import quoted

SHOWN = 50
_LONGEST_REASON = 1000


def listed(ask: Ask) -> Page:
    """Show open decisions, oldest first, then closed ones, newest first."""
    limit = ask.number("shown", SHOWN, most=10_000)
    found, problems = list_decisions(ask.project, closed=True)
    closed = [each for each in found if each.state != "open"][::-1]
    values = {
        "open": [each for each in found if each.state == "open"],
        "closed": closed[:limit],
        "more": max(0, len(closed) - limit),
        "next": limit * 3,
        "problems": problems,
    }
    return Page("decisions.html", "Decisions", values)


def one(ask: Ask) -> Page:
    """Show one decision: a form to answer it, or what was recorded."""
    found = get(ask.project, ask.words["decision"])
    values = {
        "decision": found,
        "items": [_item(ask, found, each) for each in found.items],
        "is_open": found.state == "open",
        **_effect(ask, found),
    }
    return Page("decision.html", found.title, values, watch=found.task_id or "*")


def _effect(ask: Ask, decision: DecisionView) -> dict[str, Any]:
    """Return what would be changed by what a decision is about, and the patch."""
    effect = effect_of(ask.project, decision.session_id)
    if effect is None:
        return {"effect": None, "is_edit": False}
    first, *lines = lines_of(effect)
    shown = {"effect": first, "effect_lines": lines, "is_edit": effect.is_edit}
    return {**shown, "patch": patch_of(effect)}


def _coloured(source: QuotedSource) -> list[str]:
    """Return the lines as HTML, with the colours that they have in the whole file."""
    lines = [line.text for line in source.lines]
    whole = None
    if all(len(line) < LONGEST_LINE for line in lines):  # a line that was cut may lack a quote
        whole = coloured(source.file, [*source.above, *lines])
    return [escaped(line) for line in lines] if whole is None else whole[len(source.above) :]


def _item(ask: Ask, decision: DecisionView, item: ItemView) -> dict[str, Any]:
    source = source_of(ask.project, decision, item)
    lines: list[dict[str, Any]] = []
    if source is not None and source.lines:
        html = _coloured(source)
        lines = [
            {"number": line.number, "asked": line.asked, "html": html[at]}
            for at, line in enumerate(source.lines)
        ]
    return {
        "item": item,
        "context": markdown(item.context) if item.context else "",
        "source": source,
        "lines": lines,
        "labels": {option.value: option.label for option in item.options},
    }


def listed_json(ask: Ask) -> dict[str, Any]:
    """Return the decisions: the open ones, or all of them with ``all=1``."""
    found, problems = list_decisions(ask.project, closed=ask.number("all", 0, most=1) == 1)
    return {"decisions": [as_record(each) for each in found], "problems": problems}


def one_json(ask: Ask) -> dict[str, Any]:
    """Return one decision, with what the command that it is about would change."""
    found = get(ask.project, ask.words["decision"])
    effect = effect_of(ask.project, found.session_id)
    return {**as_record(found), "effect": None if effect is None else effect.as_record()}


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
