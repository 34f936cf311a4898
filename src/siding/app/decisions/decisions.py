"""Ask a person a question, wait for the answer, and record it. All decisions go through here.

Any number of questions may be open at once, each with its own waiting caller. The first answer
counts; a second one gets an error and changes nothing. If a caller dies, it can ask again with the
same key: it gets the same question, or its answer.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from siding.app.decisions.asking import (
    calling_task,
    choices,
    holding_decisions,
    origin_of,
    root_of,
    with_relative_locations,
)
from siding.app.decisions.gates import GateKeys
from siding.app.decisions.source import QuotedSource, read_source
from siding.app.decisions.views import DecisionView, ItemView, view_of
from siding.app.place.events import DecisionChanged
from siding.app.place.project import Project
from siding.app.recording.calling_step import calling_steps, refuse_inside_step
from siding.decisions.answers import Answer, check_answers
from siding.decisions.checking import check_request
from siding.decisions.record import Decision, Via
from siding.decisions.states import (
    AlreadyClosed,
    DecisionMove,
    move_decision,
)
from siding.decisions.store import DecisionStore, order
from siding.errors import NotFound, SidingError, UnreadableFile, UsageError
from siding.files.durable import make_dirs
from siding.namedtuples import NamedTuple
from siding.storage.errors import DamagedFile

FIRST_LOOK_S = 0.01
LONGEST_PAUSE_S = 0.08  # a waiting caller sees the answer within a tenth of a second

__all__ = [
    "AlreadyClosed",
    "Answer",
    "Asking",
    "Cancelled",
    "DamagedDecision",
    "DecisionView",
    "ItemView",
    "NotAnswered",
    "QuotedSource",
    "Via",
    "answer",
    "answered",
    "ask",
    "cancel",
    "clean",
    "collected",
    "damaged_decisions",
    "find",
    "get",
    "list_decisions",
    "open_decision",
    "output_or_raise",
    "set_damaged_aside",
    "source_of",
    "wait",
    "with_key",
]


class NotAnswered(SidingError):
    """No person has answered the decision yet."""

    code = "not_answered"


class Cancelled(SidingError):
    """The question was cancelled, so it has no answer."""

    code = "cancelled"


class KeyTaken(SidingError):
    """The key belongs to another question, with other items or other options."""

    code = "key_taken"


class CodeNeeded(SidingError):
    """The dashboard's key alone does not permit this.

    An agent in a step without a sandbox can read the key from the disk, and so act as the person.
    """

    code = "code_needed"


class Answered(NamedTuple):
    """An open decision, and checked answers in the form in which they would be recorded."""

    decision: DecisionView
    answers: tuple[Answer, ...]


class Asking(NamedTuple):
    """A question that was asked.

    ``found`` is true if a question with the same key existed already. ``ignored`` are sentences
    about parts of the request that were left out.
    """

    decision: DecisionView
    found: bool
    ignored: tuple[str, ...]


def ask(
    project: Project, value: object, *, key: str | None = None, task_id: str | None = None
) -> Asking:
    """Store a question durably and return it, or return the existing question with the same key.

    The question belongs to `task_id`; without one, to the task that the caller is in, if any.

    `value` is the parsed JSON. Without a `key`, the key is a hash of the question and its task.
    Raises InvalidRequest, which names the mistake and its place, and KeyTaken if the question with
    this key has other items or options. The wording may differ, because an agent that asks again
    rarely finds the same words.
    """
    checked = check_request(with_relative_locations(project, value))
    task_id = calling_task(project) if task_id is None else task_id
    origin = origin_of(project, task_id, key, checked.request)
    with holding_decisions(project, "asking"):
        decision, found = _store(project).ask(checked.request, origin)
    if found and choices(decision.request) != choices(checked.request):
        raise KeyTaken(
            f"the key {key!r} stands for another question, {decision.session_id}",
            hint=f"take another --key; `siding decide show {decision.session_id}` shows that one",
        )
    if not found:
        project.events.emit(DecisionChanged(decision, "asked"))
    return Asking(decision=_view(project, decision), found=found, ignored=checked.ignored)


def list_decisions(
    project: Project, *, closed: bool = False, limit: int = 0
) -> tuple[list[DecisionView], list[str]]:
    """Return the decisions, oldest first, and a sentence for each one that cannot be read.

    Closed decisions are included if `closed` is set. With a `limit` above 0, only that many of the
    newest are returned.
    """
    store = _store(project)
    waiting = store.open_ids()
    ids = [*store.closed_ids(), *waiting] if closed else waiting
    found: list[DecisionView] = []
    gates = GateKeys(project)
    problems = [each.sentence for each in damaged_decisions(project, closed=closed)]
    for session_id in ids[-limit:] if limit > 0 else ids:
        try:
            found.append(_view(project, store.load(session_id), gates))
        except DamagedFile:
            continue  # already in `problems`
        except UnreadableFile as error:
            problems.append(error.message)
        except NotFound:
            continue  # `clean` removed it after the ids were listed
    found.sort(key=lambda each: (each.created_at, each.session_id))
    return found, problems


class DamagedDecision(NamedTuple):
    """A question or a record that cannot be read.

    `session_id` is "pending" if the damaged file is the copy of the newest question.
    """

    session_id: str
    file: str
    problem: str

    @property
    def sentence(self) -> str:
        return (
            f"decision {self.session_id}: {self.problem}; `siding doctor` moves the file aside "
            "unchanged, then the question can be asked again"
        )

    def as_record(self) -> dict[str, Any]:
        """Return the JSON object that is printed in place of the decision."""
        return {**self._asdict(), "state": "damaged"}


def damaged_decisions(project: Project, *, closed: bool = False) -> list[DamagedDecision]:
    """Return the open questions that cannot be read; with `closed`, closed decisions as well."""
    return [
        DamagedDecision(session_id=session_id, file=str(error.path), problem=error.message)
        for session_id, error in _store(project).damaged(closed=closed)
    ]


def set_damaged_aside(project: Project, session_id: str) -> str:
    """Rename the damaged file of a decision, with its bytes unchanged.

    Returns a phrase about the new name and about the state of the question.
    """
    store = _store(project)
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


def get(project: Project, session_id: str) -> DecisionView:
    """Return the decision with this id, which must be complete; raise NotFound or DamagedFile."""
    return _view(project, _store(project).load(session_id))


def find(project: Project, named: str | None) -> DecisionView:
    """Return the decision with this id or unique beginning of an id; for None, the newest one.

    If the caller is in a task, this is the newest decision of the task. Raises NotFound, and
    UsageError for an ambiguous beginning.
    """
    store = _store(project)
    if named is not None:
        return _view(project, store.load(_resolve(store, named)))
    task_id = calling_task(project)
    if task_id:
        for session_id in sorted([*store.closed_ids(), *store.open_ids()], key=order)[::-1]:
            try:
                decision = store.load(session_id)
            except (NotFound, UnreadableFile):
                continue
            if decision.origin.task_id == task_id:
                return _view(project, decision)
    newest = store.newest()
    if newest is None:
        raise NotFound(
            "no question was put yet", hint="`siding decide '<json>'` puts one; see --help"
        )
    return _view(project, newest)


def with_key(project: Project, key: str) -> DecisionView | None:
    """Return the decision that has this key; None if there is none."""
    found = _store(project).with_key(key)
    return None if found is None else _view(project, found)


def source_of(project: Project, decision: DecisionView, item: ItemView) -> QuotedSource | None:
    """Return the source lines that an item names, or None if it names none.

    They are read now, from the task's workspace or the checkout.
    """
    if item.location is None:
        return None
    root = root_of(project, decision.task_id)
    where = item.location
    return read_source(root, where.file, where.start, where.end)


def answer(project: Project, session_id: str, answers: object, *, via: Via) -> DecisionView:
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
    store = _store(project)
    decision = store.load(session_id)
    state = move_decision(decision.state, DecisionMove.ANSWER)
    checked = check_answers(decision.request, answers)
    gate = GateKeys(project).phase_of(decision.origin)
    if gate and via is Via.PAGE:
        raise CodeNeeded(
            f"this answer opens a gate (phase {gate}), and the dashboard's key alone opens none",
            hint=_code_hint(session_id, "answer"),
        )
    closed = decision._replace(state=state, answers=checked, completed_at=_now(project), via=via)
    return _close(project, store, closed, "answered")


def cancel(project: Project, session_id: str, *, reason: str = "", via: Via) -> DecisionView:
    """Cancel a question; a caller that waits for it gets `Cancelled`.

    A command inside a step may cancel only ordinary questions of its own task, not those of gates.
    Raises NotFound, AlreadyClosed, InsideStep, and CodeNeeded on the dashboard without the code.
    """
    store = _store(project)
    decision = store.load(session_id)
    state = move_decision(decision.state, DecisionMove.CANCEL)
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
    )
    return _close(project, store, closed, "cancelled")


def open_decision(project: Project, session_id: str) -> DecisionView:
    """Return a decision that can still be answered; raise NotFound or AlreadyClosed."""
    decision = _store(project).load(session_id)
    move_decision(decision.state, DecisionMove.ANSWER)
    return _view(project, decision)


def answered(project: Project, session_id: str, answers: object) -> Answered:
    """Check answers without recording them; raise NotFound, InvalidAnswer or AlreadyClosed."""
    decision = _store(project).load(session_id)
    move_decision(decision.state, DecisionMove.ANSWER)
    checked = check_answers(decision.request, answers)
    return Answered(decision=_view(project, decision), answers=checked)


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
        "the page asks for the code that the terminal of `siding ui` shows; or "
        f"`siding decide {act} {session_id}` in a terminal"
    )


def wait(
    project: Project,
    session_id: str,
    *,
    timeout_s: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> DecisionView:
    """Wait until the decision is closed and return it; raise NotAnswered after `timeout_s` seconds.

    A timeout of None waits for ever. The wait polls for the existence of one file, every 10 ms at
    first and every 80 ms later. The question stays open when the wait ends. Raises NotFound if the
    decision was damaged and moved aside meanwhile.
    """
    store = _store(project)
    monotonic = project.app.clock.monotonic
    deadline = None if timeout_s is None else monotonic() + timeout_s
    pause = FIRST_LOOK_S
    while not store.is_closed(session_id):
        if store.is_gone(session_id):
            raise NotFound(
                f"decision {session_id} was damaged and set aside while this waited",
                hint="ask again with the same JSON: it is a new question then",
            )
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            raise NotAnswered(
                f"nobody has answered within {timeout_s:g} s; the question stays open",
                hint=f"ask again with the same JSON, or `siding decide result {session_id}` later",
            )
        sleep(pause if left is None else min(pause, left))
        pause = min(pause * 1.2, LONGEST_PAUSE_S)
    return _view(project, store.load(session_id))


def output_or_raise(decision: DecisionView) -> dict[str, Any]:
    """Return the answers as a JSON object; raise NotAnswered or Cancelled if there are none."""
    if decision.state == "open":
        raise NotAnswered(
            f"decision {decision.session_id} has no answer yet",
            hint=f"`siding decide answer {decision.session_id}` gives one",
        )
    if decision.state == "cancelled":
        because = f": {decision.reason}" if decision.reason else ""
        raise Cancelled(
            f"decision {decision.session_id} was cancelled{because}",
            hint="asking again puts it as a new question",
        )
    return decision.output


def collected(project: Project, decision: DecisionView) -> None:
    """Record that the caller has received the answer.

    Asking the same content again is a new question from now on. A key that the caller chose itself
    still belongs to this decision.
    """
    if not decision.key_named:
        store = _store(project)
        with holding_decisions(project, "collecting an answer"):
            store.forget_key(store.load(decision.session_id))


def clean(project: Project, *, keep: int, before: str | None = None) -> list[str]:
    """Move all closed decisions but the newest `keep` to the trash; return the moved ids.

    With `before`, an ISO 8601 time, only decisions that were closed before it are moved. The newest
    decision always stays, because readers of ``pending.json`` look for its record.
    """
    store = _store(project)
    trash = project.layout.trash_dir / f"decisions-{project.app.random_bytes(6).hex()}"
    moved = []
    with holding_decisions(project, "cleaning decisions up"):
        newest = store.newest()
        ids = [each for each in store.closed_ids() if newest is None or each != newest.session_id]
        for session_id in ids[: max(0, len(ids) - keep)] if keep else ids:
            if before is not None and not _closed_before(store.load(session_id), before):
                continue
            make_dirs(trash)
            store.remove(session_id, trash)
            moved.append(session_id)
    return moved


def _view(project: Project, decision: Decision, gates: GateKeys | None = None) -> DecisionView:
    gate = (gates or GateKeys(project)).phase_of(decision.origin)
    return view_of(decision, gate=gate)


def _store(project: Project) -> DecisionStore:
    return DecisionStore(project.layout.decisions_dir)


def _close(project: Project, store: DecisionStore, closed: Decision, how: str) -> DecisionView:
    recorded = store.close(closed)
    project.events.emit(DecisionChanged(recorded, how))
    return _view(project, recorded)


def _resolve(store: DecisionStore, named: str) -> str:
    ids: Sequence[str] = [*store.closed_ids(), *store.open_ids()]
    if named in ids:
        return named
    found = [each for each in ids if named and each.startswith(named)]
    if len(found) > 1:
        raise UsageError(
            f"{named!r} could be any of several decisions: {', '.join(found[-8:])}",
            hint="use the whole id",
        )
    return found[0] if found else named


def _closed_before(decision: Decision, before: str) -> bool:
    try:
        return datetime.fromisoformat(decision.completed_at) < datetime.fromisoformat(before)
    except (ValueError, TypeError):
        return False


def _now(project: Project) -> str:
    return project.app.clock.now().astimezone().isoformat(timespec="seconds")
