"""Turns of an agent that a person has started by themselves in a task's workspace."""

from contextlib import suppress
from pathlib import Path

from siding.adapters.agents.port import Adapter, Answer, Moment, Report
from siding.app.broker.taken_back import news
from siding.app.place.project import Project
from siding.app.running.checkpoint import record_turn_alone, settle_before_turn, words_of_turn
from siding.app.running.typed import TypedInTurn
from siding.app.usage.of_run import UsedInTurn, with_used_since
from siding.app.usage.written import size_of
from siding.files.durable import make_dirs
from siding.hashing import sha256_hex
from siding.runs.reported import Reported, read_reported_in, write_reported_in
from siding.storage.layout import TaskLayout
from siding.tasks.task import Task

_SUFFIX = ".agent"
_EVER = "1970-01-02T00:00:00Z"
_KEPT_S = 30 * 24 * 3600  # a conversation that said nothing for so long is begun anew


def workspace_turn(
    project: Project, task: Task, name: str, adapter: Adapter, said: Report
) -> Answer:
    """Record what an agent reports, and return what it is told with its prompt."""
    path = _file(project.task_layout(task.id), said.session)
    before = read_reported_in(path) or Reported()
    answer = Answer()
    now = before._replace(session=said.session, transcript=said.transcript or before.transcript)
    if said.moment is Moment.SESSION:
        now = now._replace(is_new=said.is_new and not before.prompts)
    elif said.moment is Moment.PROMPT:
        now, answer = _prompt(project, task, name, adapter, (before, now), said)
    else:
        before = before.gone_on(said.turn)
        if before.is_late(said.turn):
            return answer
        now = _over(project, task, name, adapter, before, said)
    make_dirs(path.parent)
    _sweep(project, path.parent)
    write_reported_in(path, now)
    return answer


def _prompt(
    project: Project,
    task: Task,
    name: str,
    adapter: Adapter,
    states: tuple[Reported, Reported],
    said: Report,
) -> tuple[Reported, Answer]:
    before, now = states
    if before.in_turn and not said.by_person:
        # Such as the end of a helper: it is of the turn under way.
        return now._replace(answers=said.turn), Answer()
    if not said.by_person and before.prompts:
        return now.woken(said.text, project.app.now())._replace(answers=said.turn), Answer()
    if before.is_of_turn(said.turn):
        # Typed while that turn runs.
        later = (*before.later, said.text)
        return now._replace(later=later, prompts=before.prompts + 1), Answer()
    if before.in_turn:
        # Its end was not reported: the person has interrupted it.
        _record(project, task, name, adapter, before, said._replace(unwritten=False))
    else:
        settle_before_turn(project, task.id, name)
    told = news(project.ledger(task.id), before._replace(session=said.session))
    # What the conversation has used until now is not of this turn.
    now = with_used_since(project.app, _EVER, now)
    # Typed as a turn ended, it has the id of that, and begins one whose id nobody has told yet.
    turn = said.turn if said.turn != before.answers else ""
    now = now._replace(in_turn=True, turn=turn, answers=turn, seen=told.seen)
    if said.by_person:
        now = now.begun((said.text,), project.app.now(), size_of(now.transcript))
        now = now._replace(prompts=before.prompts + 1)
    return now, adapter.informed(told.text) if told.text else Answer()


def _over(
    project: Project, task: Task, name: str, adapter: Adapter, before: Reported, said: Report
) -> Reported:
    """Record a turn that is over; return what is known then."""
    now = before._replace(session=said.session, transcript=said.transcript or before.transcript)
    next_ones = _record(project, task, name, adapter, before, said) if before.in_turn else ()
    if next_ones:
        # The agent begins with them by itself, and reports no prompt.
        now = with_used_since(project.app, _EVER, now)
        begun = now.begun(next_ones, project.app.now(), size_of(now.transcript))
        return begun._replace(turn="", answers="")
    return now._replace(in_turn=False, later=(), woken_by="")


def _record(
    project: Project, task: Task, name: str, adapter: Adapter, before: Reported, said: Report
) -> tuple[str, ...]:
    """Record a turn; return the prompts with which the agent begins its next one."""
    used = UsedInTurn(
        project.app, _EVER, before, unwritten=said.unwritten, last_words=said.last_words
    )
    typed = TypedInTurn(project.app, adapter, before, project.redaction.text)
    words = words_of_turn(before, used, said.moment.value, typed)
    is_more = bool(before.woken_by)
    record_turn_alone(project, task, name, said.moment.value, words, only_if_changed=is_more)
    return typed.next_ones


def _file(layout: TaskLayout, session: str) -> Path:
    return layout.agents_dir / f"{sha256_hex(session.encode())[:16]}{_SUFFIX}"


def _sweep(project: Project, directory: Path) -> None:
    """Delete what conversations of long ago have left."""
    oldest = project.app.clock.now().timestamp() - _KEPT_S
    for path in directory.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
