"""A decision as front ends get it: as frozen values, and as JSON objects for programs.

An agent or a person wrote the texts. A front end must escape them before it shows them.
"""

from typing import Any

from siding.asking.decisions.answers import document_of as output_of
from siding.asking.decisions.record import Decision
from siding.asking.decisions.request import Item, Location, Option
from siding.asking.decisions.request import document_of as input_of
from siding.ground.ids import run_or_step
from siding.ground.namedtuples import NamedTuple


class OptionView(NamedTuple):
    """One option. ``score`` is 0 to 100, or None."""

    value: str
    label: str
    score: float | None
    pros: tuple[str, ...]
    cons: tuple[str, ...]
    recommended: bool


class ItemView(NamedTuple):
    """One item of a question; ``kind`` is ``single``, ``multiple`` or ``text``.

    In a multiple choice, ``least`` to ``most`` options can be chosen. ``context`` is Markdown.
    ``suggested`` is the recommended answer to a free text. ``values`` and ``note`` are the recorded
    answer; they are empty if there is none.
    """

    id: int
    title: str
    kind: str
    context: str
    location: Location | None
    options: tuple[OptionView, ...]
    least: int
    most: int
    suggested: str
    values: tuple[str, ...]
    note: str


class DecisionView(NamedTuple):
    """One decision. ``state`` is ``open``, ``answered`` or ``cancelled``; times are ISO 8601."""

    session_id: str
    state: str
    task: str  # what the work is, in the asker's words
    source: str
    items: tuple[ItemView, ...]
    created_at: str
    completed_at: str
    via: str  # how it was closed: "terminal", "flag", "page", "page with code", "device"
    device: str  # the name of the device that closed it; "" if none did
    closed_in_step: str  # ``TASK/RUN`` if it was closed inside a run, else ""
    gate: str  # the phase that its answer lets the task leave; "" for an ordinary question
    reason: str  # why it was cancelled
    key: str
    key_named: bool
    task_id: str  # the Siding task that it belongs to; "" for none
    step_id: str
    agent: str
    output: dict[str, Any]  # the answers: {"decisions": [{id, chosen, note?}]}
    input: dict[str, Any]  # the question, as `siding decide` reads it

    @property
    def how_closed(self) -> str:
        """How the decision was answered or cancelled, as one phrase; "" if it is unknown."""
        inside = f"inside {run_or_step(self.closed_in_step)}" if self.closed_in_step else ""
        via = f"{self.via} {self.device}".strip()
        return ", ".join(each for each in (via, inside) if each)

    @property
    def title(self) -> str:
        """The title of the first item, and the number of further items."""
        more = len(self.items) - 1
        return self.items[0].title + (f" (and {more} more)" if more else "")


def view_of(decision: Decision, *, gate: str) -> DecisionView:
    """Return a decision for front ends. `gate` is the phase whose gate it opens, "" for none."""
    answers = {each.id: each for each in decision.answers}
    items = []
    for item in decision.request.items:
        given = answers.get(item.id)
        items.append(_item(item, given.values if given else (), given.note if given else ""))
    origin = decision.origin
    return DecisionView(
        session_id=origin.session_id,
        state=decision.state.value,
        task=decision.request.task,
        source=decision.request.source,
        items=tuple(items),
        created_at=origin.created_at,
        completed_at=decision.completed_at,
        via=decision.via,
        device=decision.device,
        closed_in_step=decision.closed_in_step,
        gate=gate,
        reason=decision.reason,
        key=origin.key,
        key_named=origin.key_named,
        task_id=origin.task_id,
        step_id=origin.step_id,
        agent=origin.agent,
        output=output_of(decision.request, decision.answers),
        input=input_of(decision.request),
    )


def as_record(view: DecisionView) -> dict[str, Any]:
    """Return the decision as a JSON object."""
    record = {
        "session_id": view.session_id,
        "state": view.state,
        "input": view.input,
        "output": view.output if view.state == "answered" else None,
        "created_at": view.created_at,
        "completed_at": view.completed_at or None,
        "task_id": view.task_id or None,
        "step_id": view.step_id or None,
        "agent": view.agent or None,
        "key": view.key if view.key_named else None,
        "via": view.via or None,
        "device": view.device or None,
        "closed_in_step": view.closed_in_step or None,
        "gate": view.gate or None,
    }
    return {**record, "reason": view.reason} if view.reason else record


def _item(item: Item, values: tuple[str, ...], note: str) -> ItemView:
    return ItemView(
        id=item.id,
        title=item.title,
        kind=item.kind.value,
        context=item.context,
        location=item.location,
        options=tuple(_option(each, item.recommend) for each in item.options),
        least=item.least,
        most=len(item.options) if item.most is None else item.most,
        suggested=item.recommend[0] if item.recommend and not item.options else "",
        values=values,
        note=note,
    )


def _option(option: Option, recommended: tuple[str, ...]) -> OptionView:
    return OptionView(
        value=option.value,
        label=option.label,
        score=option.score,
        pros=option.pros,
        cons=option.cons,
        recommended=option.value in recommended,
    )
