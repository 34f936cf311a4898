"""The rows of a project, made of facts. Pure."""

from collections.abc import Iterable, Sequence

from siding.feed.addresses import WORKFLOWS, Address
from siding.feed.chat_facts import ChatFacts
from siding.feed.model import Ask, AskKind, Row, RowKind, State
from siding.feed.state import Facts, state_of
from siding.feed.task_facts import TaskFacts
from siding.feed.workflow_facts import AgentFacts, WorkflowFacts
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple


class Names(NamedTuple):
    """What a project is called: by its directory, and by people."""

    project: str
    shown: str


def task_key(project: str, task_id: str) -> str:
    """Return the key of the row of a task."""
    return f"{project}/{task_id}"


def workflow_key(project: str, run_id: str) -> str:
    """Return the key of the row of a run of a workflow."""
    return f"{project}/{WORKFLOWS}/{run_id}"


def task_row(
    names: Names,
    task: TaskFacts,
    asks: Sequence[Ask],
    *,
    parent: str = "",
    working: Sequence[WorkflowFacts] = (),
) -> Row:
    """Return the row of a task. `asks` are its own, longest waiting first.

    `working` are the runs of workflows that work in it.
    """
    facts = Facts(
        asks=tuple(ask.kind for ask in asks),
        runs=bool(task.busy or working or any(each.is_at_work for each in task.chats)),
        is_cut_off=bool(task.cut_off) and task.is_open,
        unapplied=task.unapplied > 0,
        is_closed=not task.is_open,
    )
    state = state_of(facts)
    first, newest = _first(asks, state), task.live[-1] if task.live else None
    row = task.row
    figures = task.figures
    found = Row(
        key=task_key(names.project, task.id),
        kind=RowKind.TASK,
        state=state,
        project=names.project,
        project_name=names.shown,
        id=task.id,
        name=task.name,
        what=_what(state, task, first, working),
        since=_since(state, task, first, working),
        address=str(Address(names.project, task.id)),
        parent=parent,
        agent=(newest.run.agent or "") if newest else row["agent"],
        run=newest.run.id if newest else "",
        silent_since=newest.silent_since if newest else "",
        left=", ".join(each.said for each in task.left),
        steps=row["steps"],
        unapplied=task.unapplied,
        files=figures.files if figures else 0,
        additions=figures.additions if figures else 0,
        deletions=figures.deletions if figures else 0,
        snapshot=row["last_snapshot"],
        asks=tuple(ask.id for ask in asks),
    )
    return _marked(found, *(each.run for each in task.left))


def chat_row(names: Names, task: TaskFacts, chat: ChatFacts, asks: Sequence[Ask]) -> Row:
    """Return the row of a conversation. `asks` are its own and its agent's, longest waiting
    first."""
    facts = Facts(
        asks=tuple(ask.kind for ask in asks),
        runs=chat.is_at_work,
        unapplied=task.unapplied > 0,
        is_closed=chat.is_ended or not task.is_open,
    )
    state = state_of(facts)
    first = _first(asks, state)
    row = Row(
        key=f"{task_key(names.project, task.id)}/{chat.id}",
        kind=RowKind.CHAT,
        state=state,
        project=names.project,
        project_name=names.shown,
        id=chat.id,
        name=chat.id,
        what=first.entry.title if first else chat.what,
        since=(first.entry.since if first else "") or chat.since,
        address=str(Address(names.project, task.id, chat.id)),
        parent=task_key(names.project, task.id),
        agent=chat.agent,
        run=chat.run,
        asks=tuple(ask.id for ask in asks),
        queued=chat.queued,
        title=chat.title,
    )
    return _marked(row)


def workflow_rows(
    names: Names, flow: WorkflowFacts, asks: Sequence[Ask], *, parent: str
) -> list[Row]:
    """Return the row of a run of a workflow, and one for each of its agents that is shown."""
    kinds = [ask.kind for ask in asks]
    if flow.waits and flow.is_live and AskKind.QUESTION not in kinds:
        kinds.append(AskKind.QUESTION)
    is_over = not flow.is_live and flow.stopped is None
    state = state_of(Facts(asks=tuple(kinds), runs=flow.is_live, is_closed=is_over))
    first = _first(asks, state)
    what = first.entry.title if first else (flow.waits[0] if flow.waits else flow.progress)
    row = Row(
        key=workflow_key(names.project, flow.id),
        kind=RowKind.WORKFLOW,
        state=state,
        project=names.project,
        project_name=names.shown,
        id=flow.id,
        name=flow.name,
        what=what,
        since=(first.entry.since if first else "")
        or (flow.started_at if flow.is_live else flow.updated_at),
        address=str(Address(names.project, WORKFLOWS, flow.id)),
        parent=parent,
        asks=tuple(ask.id for ask in asks),
    )
    found = [_marked(row, flow.status, flow.phase, *flow.waits)]
    return found + [_agent_row(names, row, agent) for agent in flow.agents]


def _agent_row(names: Names, flow: Row, agent: AgentFacts) -> Row:
    row = Row(
        key=f"{flow.key}/{agent.id}",
        kind=RowKind.AGENT,
        state=State.BROKE if agent.is_dead else State.RUNS,
        project=names.project,
        project_name=names.shown,
        id=agent.id,
        name=agent.name,
        what=_last_line(agent.says),
        since=agent.since,
        address=str(Address(names.project, WORKFLOWS, flow.id, agent.id)),
        parent=flow.key,
        agent=agent.agent,
    )
    return _marked(row, str(agent.retries))


def _first(asks: Iterable[Ask], state: State) -> Ask | None:
    """Return the ask that has waited longest, of those that make the state."""
    broken = (AskKind.FAILURE, AskKind.WORKFLOW)
    for ask in asks:
        if state is State.BROKE or (state is State.WAITS and ask.kind not in broken):
            return ask
    return None


def _what(
    state: State, task: TaskFacts, first: Ask | None, working: Sequence[WorkflowFacts]
) -> str:
    if first is not None:
        entry = first.entry
        return f"cut off: {entry.title}" if entry.kind == "cut off" else entry.title
    if state is State.RUNS:
        flow = working[-1] if working else None
        if flow is not None:
            return f"{flow.name} · {flow.progress}"
        starts = [each.what for each in task.chats if each.is_at_work]
        return task.busy[-1].what if task.busy else starts[-1]
    return str(task.row["last_command"])


def _since(
    state: State, task: TaskFacts, first: Ask | None, working: Sequence[WorkflowFacts]
) -> str:
    if first is not None:
        return first.entry.since
    if state is State.RUNS:
        begun = [each.since for each in task.busy]
        begun += [each.started_at for each in working]
        begun += [each.since for each in task.chats if each.is_at_work]
        return begun[0]
    if state is State.DONE:
        return task.work.closed_at or str(task.row["updated_at"])
    return str(task.row["last_at"] or task.row["created_at"])


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _marked(row: Row, *more: str) -> Row:
    """Return the row with its mark: what it prints, and how long it is silent, is no part of it."""
    parts = (row.state, str(row.steps), " ".join(row.asks), *more)
    return row._replace(mark=sha256_hex("\0".join(parts).encode())[:16])
