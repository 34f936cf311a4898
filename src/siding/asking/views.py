"""What front ends get: a decision, and an entry for one thing that waits for a person.

They are frozen values, and JSON objects for programs. An agent or a person wrote the texts. A front
end must escape them before it shows them.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from siding.asking.decisions.answers import document_of as output_of
from siding.asking.decisions.record import Decision
from siding.asking.decisions.request import Item, Location, Option
from siding.asking.decisions.request import document_of as input_of
from siding.ground.clock import iso
from siding.ground.errors import counted
from siding.ground.ids import run_or_step
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step, StepStatus
from siding.record.place.project import Project
from siding.record.runs.reported import Reported, first_line
from siding.record.runs.run import Run


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


class Waits(StrEnum):
    """The kinds of entries."""

    DECISION = "decision"
    POLICY = "policy"
    FAILED = "failed"
    CONFLICT = "conflict"
    HOOKS = "hooks"
    AGENT = "agent"
    WORKFLOW = "workflow"
    CHAT = "chat"  # a conversation goes on only after a person has done something
    CUT_OFF = "cut off"  # an act began, and its process died before it was recorded
    DONE = "done"  # nothing waits: a person is told of it, and it is not in the inbox


class InboxEntry(NamedTuple):
    """One thing that waits. An agent may have written the texts: escape them before display."""

    kind: str
    project: str  # the name of the repository's directory
    repo_root: str
    project_dir: str  # the absolute path of the project's directory in Siding's home
    title: str
    detail: str
    since: str  # ISO 8601; "" if it is unknown
    command: str  # the command to run next, in the repository
    page: str  # the path of its page on the dashboard; "" if it has none
    task_id: str = ""
    task_name: str = ""
    session_id: str = ""
    step_id: str = ""
    chat: str = ""  # the id of the conversation that it is of


def decision_entry(project: Project, decision: DecisionView, task_name: str = "") -> InboxEntry:
    """Return the entry of an open decision."""
    return entry(
        project,
        kind=Waits.DECISION,
        title=decision.title,
        detail=decision.task,
        since=decision.created_at,
        command=f"siding decide answer {decision.session_id}",
        page=f"/decisions/{decision.session_id}",
        task_id=decision.task_id,
        task_name=task_name,
        session_id=decision.session_id,
        step_id=decision.step_id,
    )


def step_entry(project: Project, task_id: str, task_name: str, step: Step) -> InboxEntry | None:
    """Return the entry of the last step of a task; None if this step does not need a person."""
    conflicts = () if step.merged is None else step.merged.conflicts
    place: dict[str, Any] = {
        "since": step.ended_at or step.started_at,
        "page": f"/tasks/{task_id}/steps/{step.number}",
        "task_id": task_id,
        "task_name": task_name,
        "step_id": step.id,
    }
    if conflicts:
        return entry(
            project,
            kind=Waits.CONFLICT,
            title=f"{counted(len(conflicts), 'conflicting file')} to resolve",
            detail=step.title,
            command=f"siding worktree status {task_id}",
            **place,
        )
    if step.status == StepStatus.BLOCKED:
        return entry(
            project,
            kind=Waits.POLICY,
            title=step.reason or "stopped by a hook or the policy",
            detail=step.title,
            command=f"siding show {step.number} -t {task_id}",
            **place,
        )
    # A turn that a person has interrupted, or that is over with its run, waits for nobody.
    broke = not step.turn_of and step.status in (
        StepStatus.FAILED,
        StepStatus.TIMEOUT,
        StepStatus.INTERRUPTED,
    )
    if broke and not step.was_stopped:
        how = f"exit {step.exit_code}" if step.status == StepStatus.FAILED else step.status
        return entry(
            project,
            kind=Waits.FAILED,
            title=f"{how}: {step.title}",
            detail=step.reason,
            command=f"siding show {step.number} -t {task_id}",
            **place,
        )
    return None


def agent_entry(
    project: Project, task_id: str, task_name: str, run: Run, reported: Reported
) -> InboxEntry:
    """Return the entry of an agent that has said it waits for a person."""
    agent = run.agent or "an agent"
    return entry(
        project,
        kind=Waits.AGENT,
        title=reported.waits,
        detail=f"{agent} in {run.id}: {first_line(reported.prompt)}".rstrip(": "),
        since=reported.waits_since,
        command=f"siding attach {run.id} -t {task_id}",
        page=f"/tasks/{task_id}",
        task_id=task_id,
        task_name=task_name,
        step_id=run.id,
    )


def entry(project: Project, *, kind: Waits, **more: Any) -> InboxEntry:
    return InboxEntry(
        kind=kind.value,
        project=project.paths.name,
        repo_root=str(project.paths.root),
        project_dir=str(project.layout.root),
        **more,
    )


def identity(found: InboxEntry) -> str:
    """Return the id of what waits: the same as long as it waits, for every screen and notice.

    ``PROJECT/KIND/TASK/WHICH``; which one it is says the decision, the step, or the run of an agent
    or of a workflow, or the conversation, with the moment since when it waits.
    """
    which = found.session_id or found.chat or found.step_id or found.page.rpartition("/")[2]
    moments = (Waits.AGENT, Waits.WORKFLOW, Waits.DONE)
    if found.kind in moments or found.chat:
        which = f"{which}@{found.since}"
    project = found.project_dir.rpartition("/")[2]
    return "/".join((project, found.kind, found.task_id or "-", which or "-"))


def moment_iso(milliseconds: int) -> str:
    """Return milliseconds since 1970 as ISO 8601; "" for 0, which is an unknown time."""
    return iso(datetime.fromtimestamp(milliseconds / 1000, UTC)) if milliseconds else ""
