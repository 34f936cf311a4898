"""The state of a run as those who watch it see it: built from its events, kept in ``state.json``.

The names on disk are those that other readers of such files know (camelCase, milliseconds since
1970); fields of our own are added. Nothing is decided from this file: the journal is the record.
"""

from collections.abc import Mapping
from enum import StrEnum
from json import dumps
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.workflows.events import (
    AgentDone,
    AgentProgress,
    AgentRetry,
    AgentStarted,
    Asked,
    Event,
    Logged,
    PhaseDone,
    PhaseStarted,
    Resumable,
    RunDone,
    RunStarted,
)
from siding.workflows.outcome import Dead, Done, Outcome, Skipped, Used, Work

SCHEMA_VERSION = 1
_PREVIEW = 400  # characters of a prompt and of an output
_KEPT_MESSAGES = 50


class RunStatus(StrEnum):
    """Where a run is. `INTERRUPTED` is not on disk: it runs by its state, and no process has it."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"
    INTERRUPTED = "interrupted"


class AgentState(NamedTuple):
    """One call of an agent. Times are in milliseconds since 1970, 0 if unknown."""

    id: int
    label: str = ""
    phase: str = ""
    status: str = "running"  # or done
    result: str = ""  # ok, skipped, dead
    shape: str = ""  # of the output: text, object, …
    used: Used = Used()
    work: Work = Work()
    prompt: str = ""
    agent_type: str = ""
    says: str = ""  # what it said last; at its end the beginning of its output
    reason: str = ""
    detail: str = ""
    retries: int = 0
    started_at: int = 0
    ended_at: int = 0
    is_replayed: bool = False
    path: str = ""

    @property
    def name(self) -> str:
        """What a person calls this agent."""
        return self.label or f"agent-{self.id}"

    def as_record(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "id": self.id,
            "status": self.status,
            "tokenCount": self.used.tokens,
            "toolCount": self.used.tools,
        }
        optional = {
            "label": self.label,
            "phase": self.phase,
            "resultKind": self.result,
            "outputShape": self.shape,
            "model": self.used.model,
            "inputTokens": self.used.input_tokens,
            "dollars": self.used.dollars,
            "prompt": self.prompt,
            "agentType": self.agent_type,
            "says": self.says,
            "reason": self.reason,
            "detail": self.detail,
            "retries": self.retries,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "replayed": self.is_replayed,
            "path": self.path,
            "work": {name: value for name, value in self.work._asdict().items() if value},
        }
        return {**record, **{name: value for name, value in optional.items() if value}}


class RunState(NamedTuple):
    """One run."""

    run_id: str
    name: str = "workflow"
    status: RunStatus = RunStatus.RUNNING
    description: str = ""
    phases: tuple[tuple[str, str], ...] = ()  # title, running or done
    declared: tuple[str, ...] = ()
    current: str = ""
    agents: tuple[AgentState, ...] = ()
    value: Any = None
    error: str = ""
    error_line: int = 0
    resumable: Resumable = Resumable.CHANGES  # of one that failed
    waits: tuple[str, ...] = ()  # questions to a person that are open
    messages: tuple[tuple[str, bool], ...] = ()  # the newest: text, whether it is a warning
    replayed: int = 0
    started_at: int = 0
    updated_at: int = 0
    task: str = ""

    @property
    def tokens(self) -> int:
        """What the agents of the run used."""
        return sum(agent.used.tokens for agent in self.agents)

    @property
    def dollars(self) -> float | None:
        """What that cost; None if no price is known."""
        known = [one.used.dollars for one in self.agents if one.used.dollars is not None]
        return sum(known) if known else None

    @property
    def can_resume(self) -> bool:
        """Whether the run can come to another end by being resumed as it is."""
        if self.status is RunStatus.FAILED:
            return self.resumable is Resumable.CHANGES
        return self.status in {RunStatus.INTERRUPTED, RunStatus.KILLED}

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status in {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.KILLED}

    def counted(self, status: str) -> int:
        """Return how many agents have this status."""
        return sum(agent.status == status for agent in self.agents)

    def as_record(self) -> dict[str, Any]:
        """Return the document ``state.json``."""
        return {"schemaVersion": SCHEMA_VERSION, "run": self.fields()}

    def fields(self) -> dict[str, Any]:
        """Return the run as JSON has it."""
        run: dict[str, Any] = {
            "runId": self.run_id,
            "workflowName": self.name,
            "status": str(self.status),
            "phases": [{"title": title, "status": status} for title, status in self.phases],
            "declaredPhases": list(self.declared),
            "currentPhase": self.current or None,
            "agents": [agent.as_record() for agent in self.agents],
            "agentCount": len(self.agents),
            "startedAt": self.started_at,
            "updatedAt": self.updated_at,
        }
        if self.status is RunStatus.COMPLETED:
            run["returnValue"] = self.value
        optional = {
            "description": self.description,
            "error": self.error,
            "errorLine": self.error_line,
            "resumable": str(self.resumable),
            "waits": list(self.waits),
            "messages": [list(message) for message in self.messages],
            "replayedCount": self.replayed,
            "task": self.task,
        }
        return {**run, **{name: value for name, value in optional.items() if value}}


def apply(state: RunState, event: Event, now_ms: int) -> RunState:
    """Return the state after an event. Raises nothing: what does not fit changes nothing."""
    state = state._replace(updated_at=now_ms)
    match event:
        case RunStarted():
            return _started(state, event, now_ms)
        case PhaseStarted(phase=phase):
            return state._replace(phases=_phase(state, phase, "running"), current=phase)
        case PhaseDone(phase=phase):
            current = "" if state.current == phase else state.current
            return state._replace(phases=_phase(state, phase, "done"), current=current)
        case Asked():
            waits = tuple(one for one in state.waits if one != event.question)
            return state._replace(waits=waits if event.is_answered else (*waits, event.question))
        case Logged():
            messages = (*state.messages, (event.message, event.is_warning))[-_KEPT_MESSAGES:]
            return state._replace(messages=messages)
        case RunDone():
            return _ended(state, event, now_ms)
        case AgentStarted() | AgentProgress() | AgentRetry() | AgentDone():
            return _with_agent(state, event, now_ms)


def _started(state: RunState, event: RunStarted, now_ms: int) -> RunState:
    meta = event.meta or {}
    return state._replace(
        name=event.name,
        status=RunStatus.RUNNING,
        description=meta.get("description", ""),
        declared=tuple(phase["title"] for phase in meta.get("phases", ())),
        phases=(),
        current="",
        agents=(),
        value=None,
        error="",
        error_line=0,
        resumable=Resumable.CHANGES,
        waits=(),
        messages=(),
        replayed=0,
        started_at=state.started_at or now_ms,
    )


def _ended(state: RunState, event: RunDone, now_ms: int) -> RunState:
    agents = tuple(
        one
        if one.status == "done"
        else one._replace(status="done", result="dead", reason="run ended", ended_at=now_ms)
        for one in state.agents
    )
    return state._replace(
        status=RunStatus(event.status),
        value=event.value,
        error=event.error,
        error_line=event.line,
        resumable=event.resumable,
        agents=agents,
        waits=(),
    )


def _phase(state: RunState, title: str, status: str) -> tuple[tuple[str, str], ...]:
    if any(known == title for known, _status in state.phases):
        return tuple((known, status if known == title else old) for known, old in state.phases)
    return (*state.phases, (title, status))


def _with_agent(
    state: RunState, event: AgentStarted | AgentProgress | AgentRetry | AgentDone, now_ms: int
) -> RunState:
    place = next((n for n, one in enumerate(state.agents) if one.id == event.id), len(state.agents))
    agent = state.agents[place] if place < len(state.agents) else AgentState(id=event.id)
    changed = _agent_after(agent, event, now_ms)
    agents = (*state.agents[:place], changed, *state.agents[place + 1 :])
    replayed = state.replayed + int(changed.is_replayed and not agent.is_replayed)
    return state._replace(agents=agents, replayed=replayed)


def _agent_after(
    agent: AgentState, event: AgentStarted | AgentProgress | AgentRetry | AgentDone, now_ms: int
) -> AgentState:
    match event:
        case AgentStarted():
            return AgentState(
                id=event.id,
                label=event.label,
                phase=event.phase,
                prompt=event.prompt[:_PREVIEW],
                agent_type=event.agent_type,
                started_at=now_ms,
            )
        case AgentProgress():
            return agent._replace(
                used=event.used, work=event.work, says=event.says[-_PREVIEW:] or agent.says
            )
        case AgentRetry():
            return agent._replace(
                retries=event.attempt, reason=event.reason, detail=event.detail[:_PREVIEW]
            )
        case AgentDone():
            return _agent_ended(agent, event, now_ms)


def _agent_ended(agent: AgentState, event: AgentDone, now_ms: int) -> AgentState:
    outcome = event.outcome
    changed = agent._replace(
        status="done",
        label=event.label or agent.label,
        phase=event.phase or agent.phase,
        result=_kind(outcome),
        path=event.path,
        is_replayed=event.is_replayed,
        ended_at=0 if event.is_replayed else now_ms,
    )
    if isinstance(outcome, Done):
        changed = changed._replace(
            shape=_shape(outcome.output), says=_preview(outcome.output), reason="", detail=""
        )
    if isinstance(outcome, Dead):
        changed = changed._replace(
            reason=str(outcome.reason), detail=outcome.detail[:_PREVIEW], says=""
        )
    if isinstance(outcome, Done | Dead):
        used = outcome.used if outcome.used != Used() else agent.used
        work = outcome.work if outcome.work != Work() else agent.work
        changed = changed._replace(used=used, work=work)
    return changed


def _kind(outcome: Outcome) -> str:
    match outcome:
        case Done():
            return "ok"
        case Skipped():
            return "skipped"
        case Dead():
            return "dead"


def _shape(output: Any) -> str:
    match output:
        case str():
            return "text"
        case dict():
            return "object"
        case list():
            return "array"
    return "value"


def _preview(output: Any) -> str:
    text = output if isinstance(output, str) else dumps(output, ensure_ascii=False)
    return text[:_PREVIEW]


def state_from(document: Mapping[str, Any]) -> RunState | None:
    """Read ``state.json``; None if it is of another version or has no run."""
    run = document.get("run")
    if document.get("schemaVersion") != SCHEMA_VERSION or not isinstance(run, Mapping):
        return None
    try:
        return RunState(
            run_id=str(run["runId"]),
            name=str(run["workflowName"]),
            status=RunStatus(run["status"]),
            description=str(run.get("description", "")),
            phases=tuple((str(one["title"]), str(one["status"])) for one in run["phases"]),
            declared=tuple(map(str, run.get("declaredPhases", ()))),
            current=str(run.get("currentPhase") or ""),
            agents=tuple(_agent_from(one) for one in run["agents"]),
            value=run.get("returnValue"),
            error=str(run.get("error", "")),
            error_line=int(run.get("errorLine", 0)),
            resumable=Resumable(run.get("resumable", "")),
            waits=tuple(map(str, run.get("waits", ()))),
            messages=tuple((str(text), bool(warns)) for text, warns in run.get("messages", ())),
            replayed=int(run.get("replayedCount", 0)),
            started_at=int(run["startedAt"]),
            updated_at=int(run["updatedAt"]),
            task=str(run.get("task", "")),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _agent_from(record: Mapping[str, Any]) -> AgentState:
    dollars = record.get("dollars")
    work = record.get("work", {})
    return AgentState(
        id=int(record["id"]),
        label=str(record.get("label", "")),
        phase=str(record.get("phase", "")),
        status=str(record["status"]),
        result=str(record.get("resultKind", "")),
        shape=str(record.get("outputShape", "")),
        used=Used(
            tokens=int(record.get("tokenCount") or 0),
            input_tokens=int(record.get("inputTokens", 0)),
            dollars=None if dollars is None else float(dollars),
            tools=int(record.get("toolCount") or 0),
            model=str(record.get("model") or ""),
        ),
        work=Work(**{name: str(work[name]) for name in Work._fields if name in work}),
        prompt=str(record.get("prompt", "")),
        agent_type=str(record.get("agentType", "")),
        says=str(record.get("says", "")),
        reason=str(record.get("reason", "")),
        detail=str(record.get("detail", "")),
        retries=int(record.get("retries", 0)),
        started_at=int(record.get("startedAt", 0)),
        ended_at=int(record.get("endedAt", 0)),
        is_replayed=bool(record.get("replayed", False)),
        path=str(record.get("path", "")),
    )
