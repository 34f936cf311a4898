"""Turns of an agent that a person has started by themselves in a task's workspace."""

from contextlib import suppress
from pathlib import Path

from siding.adapters.agents.port import Adapter, Answer, Moment, Report
from siding.app.broker.taken_back import news
from siding.app.place.project import Project
from siding.app.running.checkpoint import record_turn_alone, settle_before_turn, words_of_turn
from siding.app.usage.of_run import UsedInTurn, with_used_since
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
        if before.is_late(said.turn):
            return answer
        if before.in_turn:
            _record(project, task, name, before, said.moment, unwritten=said.unwritten)
        now = now._replace(in_turn=False)
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
    if before.in_turn:
        # Its end was not reported: the person has interrupted it.
        _record(project, task, name, before, Moment.PROMPT, unwritten=False)
    else:
        settle_before_turn(project, task.id, name)
    told = news(project.ledger(task.id), before, said.session)
    # What the conversation has used until now is not of this turn.
    now = with_used_since(project.app, _EVER, now)
    now = now._replace(in_turn=True, turn=said.turn, answers=said.turn, seen=told.seen)
    if said.by_person:
        count = before.prompts + 1
        now = now._replace(prompt=said.text, prompts=count, prompted_at=project.app.now())
    return now, adapter.informed(told.text) if told.text else Answer()


def _record(
    project: Project, task: Task, name: str, before: Reported, moment: Moment, *, unwritten: bool
) -> None:
    used = UsedInTurn(project.app, _EVER, before, unwritten=unwritten)
    words = words_of_turn(before, used, moment.value)
    record_turn_alone(project, task, name, moment.value, words)


def _file(layout: TaskLayout, session: str) -> Path:
    return layout.agents_dir / f"{sha256_hex(session.encode())[:16]}{_SUFFIX}"


def _sweep(project: Project, directory: Path) -> None:
    """Delete what conversations of long ago have left."""
    oldest = project.app.clock.now().timestamp() - _KEPT_S
    for path in directory.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
