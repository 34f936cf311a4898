"""The person's side of a decision: answer a question or cancel it, remove what is old or damaged.

The first answer counts; a second one gets an error and changes nothing.
"""

from datetime import datetime

from siding.asking.decisions.answers import Answer, check_answers
from siding.asking.decisions.record import (
    AlreadyClosed,
    Decision,
    DecisionChanged,
    DecisionMove,
    DecisionState,
    Via,
    move_decision,
)
from siding.asking.decisions.store import DecisionStore
from siding.asking.kinds import GateKeys, is_over
from siding.asking.lookup import decision_store, view
from siding.asking.origin import holding_decisions
from siding.asking.told import Told
from siding.asking.views import DecisionView, decision_entry, identity
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.recording.calling_step import calling_steps, refuse_inside_step


class CodeNeeded(SidingError):
    """The dashboard's key alone does not permit this.

    An agent in a step without a sandbox can read the key from the disk, and so act as the person.
    """

    code = "code_needed"


class Signer(NamedTuple):
    """The paired device that has signed an answer or a cancellation, with `Via.DEVICE`."""

    device: str  # its name
    device_id: str


NOBODY = Signer(device="", device_id="")


class Answered(NamedTuple):
    """An open decision, and checked answers in the form in which they would be recorded."""

    decision: DecisionView
    answers: tuple[Answer, ...]


def answer(
    project: Project, session_id: str, answers: object, *, via: Via, signer: Signer = NOBODY
) -> DecisionView:
    """Record a person's answers, and return once they are flushed to disk.

    `answers` is a list of ``{"id": 1, "chosen": "a", "note": "…"}``, or an object with this list as
    `decisions`. For a multiple choice, `chosen` is a list. Raises NotFound, InvalidAnswer,
    AlreadyClosed if another answer came first, InsideStep, and CodeNeeded for a gate that is
    answered on the dashboard without the code.
    """
    refuse_inside_step(
        project,
        "a decision is a person's to make",
        hint="answer it in another terminal or on the dashboard",
    )
    store = decision_store(project)
    decision = _loaded(project, session_id)
    state = _moved(decision, DecisionMove.ANSWER)
    checked = check_answers(decision.request, answers)
    gate = GateKeys(project).phase_of(decision.origin)
    if gate and via is Via.PAGE:
        raise CodeNeeded(
            f"this answer opens a gate (phase {gate}), and the dashboard's key alone opens none",
            hint=_code_hint(session_id, "answer"),
        )
    closed = decision._replace(
        state=state,
        answers=checked,
        completed_at=_now(project),
        via=via,
        **signer._asdict(),
    )
    return _close(project, store, closed, "answered")


def cancel(
    project: Project,
    session_id: str,
    *,
    reason: str = "",
    via: Via,
    signer: Signer = NOBODY,
) -> DecisionView:
    """Cancel a question; a caller that waits for it gets `Cancelled`.

    A command inside a step may cancel only ordinary questions of its own task, not those of gates.
    Raises NotFound, AlreadyClosed, InsideStep, and CodeNeeded on the dashboard without the code.
    """
    store = decision_store(project)
    decision = _loaded(project, session_id)
    state = _moved(decision, DecisionMove.CANCEL)
    # A web request does not show which task it came from, so an agent could cancel the question of
    # another task.
    if via is Via.PAGE:
        raise CodeNeeded(
            "the dashboard's key alone cancels no question", hint=_code_hint(session_id, "cancel")
        )
    closed = decision._replace(
        state=state,
        completed_at=_now(project),
        via=via,
        reason=reason.strip(),
        closed_in_step=_own_step(project, decision),
        **signer._asdict(),
    )
    return _close(project, store, closed, "cancelled")


def open_decision(project: Project, session_id: str) -> DecisionView:
    """Return a decision that can still be answered; raise NotFound or AlreadyClosed."""
    decision = _loaded(project, session_id)
    _moved(decision, DecisionMove.ANSWER)
    return view(project, decision)


def answered(project: Project, session_id: str, answers: object) -> Answered:
    """Check answers without recording them; raise NotFound, InvalidAnswer or AlreadyClosed."""
    decision = _loaded(project, session_id)
    _moved(decision, DecisionMove.ANSWER)
    checked = check_answers(decision.request, answers)
    return Answered(decision=view(project, decision), answers=checked)


def _loaded(project: Project, session_id: str) -> Decision:
    """Return a decision. A question whose run has ended is over, and nobody can answer it."""
    store = decision_store(project)
    decision = store.load(session_id)
    over = decision.state is DecisionState.OPEN and is_over(project, decision)
    return store.load(session_id) if over else decision


def _moved(decision: Decision, move: DecisionMove) -> DecisionState:
    """Return the state after `move`. Raises AlreadyClosed, which says why a question is over."""
    if decision.state is DecisionState.CANCELLED and decision.via == Via.RUN:
        raise AlreadyClosed(
            f"nobody waits for this answer any more: {decision.reason}",
            hint=f"`siding decide show {decision.origin.session_id}` shows what was asked",
        )
    return move_decision(decision.state, move)


def _own_step(project: Project, decision: Decision) -> str:
    """Return the calling step as text, "" outside a step; raise InsideStep if it may not cancel."""
    steps = calling_steps(project)
    own = [str(step) for step in steps if step.task_id and step.task_id == decision.origin.task_id]
    if steps and (not own or GateKeys(project).phase_of(decision.origin)):
        refuse_inside_step(
            project,
            "a step takes back only what its own task asked, and no gate",
            hint=f"`siding decide cancel {decision.session_id}` in a terminal of your own",
        )
    return own[0] if own else ""


def _code_hint(session_id: str, act: str) -> str:
    return (
        "the page asks for the code that the terminal of `siding ui` shows, or a paired device "
        "signs; or "
        f"`siding decide {act} {session_id}` in a terminal"
    )


def _close(project: Project, store: DecisionStore, closed: Decision, how: str) -> DecisionView:
    recorded = store.close(closed)
    project.events.emit(DecisionChanged(recorded, how))
    found = view(project, recorded)
    told = Told(project.app.home, project.app.env)
    told.clear(identity(decision_entry(project, found)))
    return found


def _now(project: Project) -> str:
    return project.app.clock.now().astimezone().isoformat(timespec="seconds")


def set_damaged_aside(project: Project, session_id: str) -> str:
    """Rename the damaged file of a decision, with its bytes unchanged.

    Returns a phrase about the new name and about the state of the question.
    """
    store = decision_store(project)
    with holding_decisions(project, "setting a damaged decision aside"):
        kept = [
            (store.set_aside(error), error)
            for each, error in store.damaged(closed=True)
            if each == session_id
        ]
    if not kept:
        return "somebody else mended it"
    path, _error = kept[0]
    done = f"kept as {path.name}"
    if session_id in store.open_ids():
        return f"{done}; the question is open again"
    # Without the copy in the pending slot nothing is lost: the question has a file of its own.
    return done if session_id == "pending" else f"{done}; the question can be asked again"


def clean(
    project: Project, *, keep: int, before: str | None = None, dry_run: bool = False
) -> list[str]:
    """Move all closed decisions but the newest `keep` to the trash; return the moved ids.

    With `before`, an ISO 8601 time, only decisions that were closed before it are moved. The newest
    decision always stays, because readers of ``pending.json`` look for its record. With `dry_run`
    nothing is moved.
    """
    store = decision_store(project)
    trash = project.layout.trash_dir / f"decisions-{project.app.random_bytes(6).hex()}"
    moved = []
    with holding_decisions(project, "cleaning decisions up"):
        newest = store.newest()
        ids = [each for each in store.closed_ids() if newest is None or each != newest.session_id]
        for session_id in ids[: max(0, len(ids) - keep)] if keep else ids:
            if before is not None and not _closed_before(store.load(session_id), before):
                continue
            if not dry_run:
                make_dirs(trash)
                store.remove(session_id, trash)
            moved.append(session_id)
    return moved


def _closed_before(decision: Decision, before: str) -> bool:
    try:
        return datetime.fromisoformat(decision.completed_at) < datetime.fromisoformat(before)
    except (ValueError, TypeError):
        return False
