"""What an agent asks, put to a person as a decision, and the person's answer as the agent's.

A permission is a question with two or three options; a question of the agent's own has its options.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.agents.talking.port import Answer, Asked, Choice
from siding.asking.views import DecisionView
from siding.chat.always_kept import AlwaysScope
from siding.ground.namedtuples import NamedTuple

YES, ALWAYS, NO = "run", "always", "refuse"  # what an option is called
# And one that counts for longer than this once.
OPTIONS: Mapping[AlwaysScope, str] = {
    AlwaysScope.CONVERSATION: ALWAYS,
    AlwaysScope.TASK: f"{ALWAYS}-task",
    AlwaysScope.AGENT: f"{ALWAYS}-agent",
}
_IN_TITLE = 60  # characters
_SHOWN = 2000
_LONGEST_OPTION = 200


class AlwaysOffer(NamedTuple):
    """As what a yes may be kept: rules, each in words, and all of them in words."""

    rules: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    may: str = ""
    is_own: bool = False  # in the conversation the agent keeps a rule of its own

    @property
    def scopes(self) -> tuple[AlwaysScope, ...]:
        """For how long a person may allow it, beside this once."""
        if self.rules:
            return tuple(AlwaysScope)
        return (AlwaysScope.CONVERSATION,) if self.is_own else ()


def question_of(
    asked: Asked, offer: AlwaysOffer, *, task: str, source: str, agent: str
) -> dict[str, Any]:
    """Return the question that a person is put. `source` says which run, of which agent."""
    if asked.choices:
        items = [_item(number, each) for number, each in enumerate(asked.choices, start=1)]
    else:
        items = [_permission(asked, offer, agent)]
    return {"task": task, "source": source, "items": items}


def answer_of(asked: Asked, decision: DecisionView) -> Answer:
    """Return what the agent is told; a question that was cancelled is a no."""
    if decision.state != "answered":
        return Answer(allows=False, reason=decision.reason)
    answers: Sequence[Mapping[str, Any]] = decision.output.get("decisions", ())
    by_number = {each.get("id"): each for each in answers}
    if asked.choices:
        chosen = {
            choice.question: _chosen(choice, by_number.get(number, {}))
            for number, choice in enumerate(asked.choices, start=1)
        }
        return Answer(allows=True, choices=chosen)
    found = by_number.get(1, {})
    value = found.get("chosen")
    return Answer(
        allows=value == YES or value in OPTIONS.values(),
        always=value == ALWAYS and asked.can_always,
        reason=str(found.get("note") or ""),
    )


def scope_of(asked: Asked, decision: DecisionView) -> AlwaysScope | None:
    """Return for how long Siding is to keep a yes; None for one that it does not."""
    answers: Sequence[Mapping[str, Any]] = decision.output.get("decisions", ())
    if asked.choices or not answers:
        return None
    chosen = answers[0].get("chosen")
    scope = next((each for each, value in OPTIONS.items() if value == chosen), None)
    return None if scope is AlwaysScope.CONVERSATION and asked.can_always else scope


def _permission(asked: Asked, offer: AlwaysOffer, agent: str) -> dict[str, Any]:
    shown = asked.command or asked.title
    short = " ".join(shown.split())
    short = short if len(short) <= _IN_TITLE else short[: _IN_TITLE - 1].rstrip() + "…"
    verb = "run this" if asked.command else "do this"
    options = [
        {"value": YES, "label": "Run it" if asked.command else "Let it"},
        {"value": NO, "label": "Refuse it"},
    ]
    always = [
        {"value": OPTIONS[each], "label": _always_label(each, offer, agent)}
        for each in offer.scopes
    ]
    options[1:1] = always
    code = "\n".join(f"    {line}" for line in shown[:_SHOWN].splitlines())
    context = "\n\n".join(filter(None, (code, asked.reason, *_patches(asked))))
    title = f"May {agent} {verb}? {short}"
    return {"id": 1, "title": title, "context": context, "options": options}


def _always_label(scope: AlwaysScope, offer: AlwaysOffer, agent: str) -> str:
    match scope:
        case AlwaysScope.CONVERSATION if offer.is_own:
            return "Let it always, in this conversation"
        case AlwaysScope.CONVERSATION:
            return f"Let it {offer.may} always, in this conversation"
        case AlwaysScope.TASK:
            return f"Let it {offer.may} always, for this task"
        case AlwaysScope.AGENT:
            return f"Let {agent} {offer.may} always, in this project"


def _patches(asked: Asked) -> list[str]:
    return [f"{each.path}:\n\n    " + each.patch.replace("\n", "\n    ") for each in asked.edits]


def _item(number: int, choice: Choice) -> dict[str, Any]:
    title, _, rest = choice.question.strip().partition("\n")
    item: dict[str, Any] = {"id": number, "title": title or "It asks", "context": rest}
    if len(choice.options) < 2:
        return {**item, "kind": "text"}
    options = [
        {"value": str(place), "label": _labelled(label, about)}
        for place, (label, about) in enumerate(choice.options, start=1)
    ]
    return {**item, "options": options, **({"kind": "multiple"} if choice.several else {})}


def _labelled(label: str, about: str) -> str:
    whole = f"{label}: {about}" if about else label
    return " ".join(whole.split())[:_LONGEST_OPTION]


def _chosen(choice: Choice, found: Mapping[str, Any]) -> str:
    """Return what was chosen in the agent's words; a note of the person's goes along."""
    if len(choice.options) < 2:
        return str(found.get("chosen") or "")
    values = found.get("values") or [found.get("chosen")]
    labels = [choice.options[int(each) - 1][0] for each in values if str(each).isdecimal()]
    note = str(found.get("note") or "")
    return ", ".join(labels) + (f" ({note})" if note else "")
