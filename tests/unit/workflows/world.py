"""The world of a workflow in a test: scripted agents, and a run from script to end."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from siding.ground.process.dialogue import start_linked
from siding.workflows.acts.script_process import SCRIPT_ENVIRONMENT, script_argv
from siding.workflows.engine.engine import Engine
from siding.workflows.engine.plan import Policy, Ports, RunPlan
from siding.workflows.engine.ports import (
    AgentCall,
    AgentUnavailable,
    Attempt,
    CommandCall,
    Question,
    Refused,
    Report,
    Workspaces,
)
from siding.workflows.errors import WorkflowNotFound
from siding.workflows.events import AgentStarted, Event, Logged, RunDone
from siding.workflows.limits import Limits, Retrying, clamp_max_concurrency
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome, Skipped, Used
from siding.workflows.script import Script, read_script

ONCE_MORE = Retrying(limit=1, waits=False)
AS_RECORDED = Policy()


class ScriptedAgents:
    """Agents that do what a table says, by prompt: a list of attempts whose last one repeats."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.calls: list[str] = []
        self.attempts: list[Attempt] = []
        self.peak = 0
        self.stop: Callable[[], None] = lambda: None
        self._table = table
        self._at_work = 0
        self._made: dict[str, int] = {}

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        self.calls.append(call.prompt)
        self.attempts.append(attempt)
        self._at_work += 1
        self.peak = max(self.peak, self._at_work)
        try:
            return await self._attempt(call.prompt)
        finally:
            self._at_work -= 1

    async def _attempt(self, prompt: str) -> Outcome:
        attempts = self._table.get(prompt, self._table.get("*", [{"kind": "dead"}]))
        if isinstance(attempts, str):
            return Done(output=attempts.replace("<prompt>", prompt), used=Used(tokens=1))
        number = self._made[prompt] = self._made.get(prompt, 0) + 1
        attempt = attempts[min(number, len(attempts)) - 1]
        await asyncio.sleep(attempt.get("delay_ms", 0) / 1000)
        if "throw" in attempt:
            raise RuntimeError(attempt["throw"])
        if "unavailable" in attempt:
            raise AgentUnavailable(attempt["unavailable"])
        if "abort_run" in attempt or "abort_throw" in attempt:
            self.stop()
            await asyncio.sleep(60)
        if attempt["kind"] == "ok":
            return Done(output=attempt["output"], used=Used(tokens=attempt.get("tokens", 0)))
        if attempt["kind"] == "skipped":
            return Skipped()
        return Dead(
            reason=DeadReason(attempt.get("reason", "unknown")),
            detail=attempt.get("detail", ""),
            retryable=attempt.get("retryable", True),
            used=Used(tokens=attempt.get("tokens", 0)),
        )


class Files:
    """The scripts of other workflows, by name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def named(self, name: str) -> str:
        if name not in self._files:
            raise WorkflowNotFound(f'the workflow "{name}" not found')
        return self._files[name]

    def at(self, path: str) -> str:
        if path not in self._files:
            raise WorkflowNotFound(f"no such file: {path!r}")
        return self._files[path]


class Answering:
    """A person who answers at once, and how often they were asked."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.asked: list[Question] = []
        self._answers = answers

    async def ask(self, question: Question) -> Any:
        self.asked.append(question)
        return self._answers[question.question]


class NoWorkspaces:
    """Commands and forks where there are none."""

    async def run(self, call: CommandCall) -> Mapping[str, Any]:
        raise Refused(f"there is no workspace for {call.command!r}")

    async def bring_back(self, fork: str) -> Mapping[str, Any]:
        raise Refused(f"there is no fork {fork!r}")


class Ran(NamedTuple):
    """How a run went."""

    done: RunDone
    events: list[Event]
    agents: ScriptedAgents
    people: Answering

    @property
    def warnings(self) -> list[str]:
        return [
            event.message for event in self.events if isinstance(event, Logged) and event.is_warning
        ]

    @property
    def said(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Logged)]


def run_script(
    journal: Path,
    source: str,
    agents: Mapping[str, Any] | ScriptedAgents | None = None,
    *,
    args: Any = None,
    files: Mapping[str, str] | None = None,
    answers: Mapping[str, Any] | None = None,
    policy: Policy = AS_RECORDED,
    retrying: Retrying = ONCE_MORE,
    max_concurrency: float | None = None,
    budget: int | None = None,
    retries_script: bool = False,
    stop_after_s: float | None = None,
    control: Callable[[Engine, Event], None] = lambda _engine, _event: None,
    limits: Limits | None = None,
    workspaces: Workspaces | None = None,
    checked: bool = True,
    silence_s: float = 120.0,
    random: Callable[[], float] = lambda: 0.0,
    process: Sequence[str] = script_argv(),
    answered: tuple[tuple[str, str], ...] = (),
    accepts_losses: bool = False,
) -> Ran:
    """Run a script on a journal until it ends; what the journal has counts."""
    scripted = agents if isinstance(agents, ScriptedAgents) else ScriptedAgents(agents or {})
    people = Answering(answers or {})
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(event)
        if stop_after_s and isinstance(event, AgentStarted) and event.id == 0:
            asyncio.get_running_loop().call_later(stop_after_s, engine.stop)
        control(engine, event)

    ports = Ports(
        agents=scripted,
        people=people,
        workspaces=workspaces or NoWorkspaces(),
        sources=Files(files or {}),
        start_script=lambda: start_linked(process, env=SCRIPT_ENVIRONMENT, cwd=Path("/")),
        emit=emit,
        now=lambda: 0.0,
        random=random,
        stamp=lambda: "2026-01-01T00:00:00.000Z",
    )
    plan = RunPlan(
        script=read_script(source) if checked else Script(source=source, meta=None),
        journal=journal,
        args=args,
        limits=limits or Limits(concurrency=clamp_max_concurrency(max_concurrency), tokens=budget),
        retrying=retrying,
        policy=policy,
        retries_script=retries_script,
        script_silence_s=silence_s,
        answered=answered,
        accepts_losses=accepts_losses,
    )
    engine = Engine(plan, ports)
    scripted.stop = engine.stop

    async def work() -> RunDone:
        if stop_after_s == 0:
            engine.stop()
        return await engine.run()

    done = asyncio.run(work())
    return Ran(done=done, events=events, agents=scripted, people=people)


def as_before(journal: Path) -> None:
    """Write a journal again as older versions did, without numbers and checksums."""
    new = {"n", "flushed", "crc"}
    old = [{key: line[key] for key in line if key not in new} for line in lines(journal)]
    journal.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in old))


def lines(journal: Path) -> Sequence[dict[str, Any]]:
    """Return the records of a journal as they are on disk."""
    return [json.loads(line) for line in journal.read_text().splitlines()]
