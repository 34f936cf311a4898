"""Carry out the calls of a script, each by its kind: from the message to its answer."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from siding.ground.storage.errors import NotStorable
from siding.workflows.engine.agent_run import AgentRuns, BudgetSpent
from siding.workflows.engine.plan import EDITED, Ports, source_of
from siding.workflows.engine.ports import (
    AgentCall,
    AgentUnavailable,
    Cancelled,
    Refused,
    agent_call,
    command_call,
    question,
)
from siding.workflows.engine.record import RunRecord
from siding.workflows.errors import ScriptError
from siding.workflows.events import AgentDone, Asked, Logged
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome, as_record, with_details
from siding.workflows.script import read_script
from siding.workflows.structured import refuse_bad

_WHY: Mapping[str, str] = {
    "changed": "its prompt or options are not those of the record",
    "cut off": "it was at work when the run was cut off",
    "cut off again": "it was at work again when the run was cut off",
    "follows a change": "something before it in its lane came out differently",
    "misfit": "its recorded result does not fit",
    "selected": "it was chosen",
    "dead": "it gave no result before",
    "refused": "it was refused before",
}


class Calls:
    """The calls of one process. Each is carried out in a task of its own."""

    def __init__(
        self, ports: Ports, record: RunRecord, runs: AgentRuns, *, concurrency: int
    ) -> None:
        self._ports = ports
        self._record = record
        self._runs = runs
        self._commands = asyncio.Semaphore(concurrency)

    async def carry_out(self, message: Mapping[str, Any]) -> None:
        """Do what a call asks for, and answer it. Raises OSError if that cannot be recorded."""
        match message["kind"]:
            case "agent":
                await self._agent(message)
            case "ask":
                await self._ask(message)
            case "sleep":
                await self._sleep(message)
            case "workflow":
                self._workflow(message)
            case "run" | "bring_back":
                await self._in_workspace(message)
            case kind:
                raise ValueError(f"the script asks for {kind!r}, which nobody knows")

    async def _agent(self, message: Mapping[str, Any]) -> None:
        call = agent_call(message["id"], message["path"], message["asked"])
        self._say_why(message, call)
        before = self._record.begun_before(message)

        def on_work(session: str) -> None:
            self._record.begin_agent(call, message["fp"], session)

        try:
            if call.schema is not None:
                refuse_bad(call.schema)
            session = before.session if before is not None else ""
            outcome = await self._runs.run(call, session, on_work)
        except (ScriptError, AgentUnavailable) as error:
            self._record.refuse(message, str(error), "config")
            return
        except BudgetSpent as error:
            self._record.refuse(message, str(error), "budget")
            return
        if isinstance(outcome, Done):
            self._tell_kept(outcome.extra.get("brought_back", {}))
        self._answer_agent(message, call, outcome)

    def _answer_agent(self, message: Mapping[str, Any], call: AgentCall, outcome: Outcome) -> None:
        """Record how the call came out, answer it, and tell of it."""
        if call.details and isinstance(outcome, Done):
            outcome = with_details(outcome)
        value = outcome.output if isinstance(outcome, Done) else None
        tokens = outcome.used.tokens if isinstance(outcome, Done | Dead) else 0
        try:
            self._record.answer_agent(
                message, as_record(outcome), value, tokens, partial(self._tell, call, outcome)
            )
        except NotStorable as error:
            assert isinstance(outcome, Done | Dead)
            dead = Dead(
                reason=DeadReason.UNKNOWN,
                detail=f"its result cannot be recorded: {error}",
                retryable=False,
                used=outcome.used,
                work=outcome.work,
            )
            self._record.answer_agent(
                message, as_record(dead), None, tokens, partial(self._tell, call, dead)
            )

    def _tell(self, call: AgentCall, outcome: Outcome) -> None:
        if isinstance(outcome, Dead):
            detail = f": {outcome.detail}" if outcome.detail else ""
            text = f"agent {call.name} gave no result ({outcome.reason}){detail}"
            self._ports.emit(Logged(message=text, is_warning=True))
        self._ports.emit(
            AgentDone(
                id=call.id, outcome=outcome, label=call.label, phase=call.phase, path=call.path
            )
        )

    def _tell_kept(self, brought_back: Mapping[str, Any]) -> None:
        """Name the files that hold what other programs wrote while a change came back."""
        for path in brought_back.get("kept", ()):
            text = f"a file was written during this by another program: kept as {path}"
            self._ports.emit(Logged(message=text, is_warning=True))

    async def _in_workspace(self, message: Mapping[str, Any]) -> None:
        path, asked, workspaces = message["path"], message["asked"], self._ports.workspaces
        try:
            if message["kind"] == "run":
                async with self._commands:
                    done = await workspaces.run(command_call(path, asked))
                self._say(f"{asked['command']!r}: exit {done['exit']}")
            else:
                done = await workspaces.bring_back(asked["fork"])
                self._tell_kept(done)
        except Refused as error:
            self._record.refuse(message, str(error), message["kind"])
            return
        self._record.answer(message, {"kind": "ok", "output": done}, done)

    async def _ask(self, message: Mapping[str, Any]) -> None:
        asked = question(message["path"], message["asked"])
        self._ports.emit(Asked(path=asked.path, question=asked.question))
        try:
            value = await self._ports.people.ask(asked)
        except Cancelled as error:
            self._record.refuse(message, str(error) or "the question was cancelled", "ask")
            return
        self._ports.emit(Asked(path=asked.path, question=asked.question, is_answered=True))
        try:
            self._record.answer(message, {"kind": "ok", "output": value}, value)
        except NotStorable as error:
            self._record.refuse(message, f"the answer cannot be recorded: {error}", "ask")

    async def _sleep(self, message: Mapping[str, Any]) -> None:
        """Wait until the moment that the first process that began this call has written down."""
        begun = self._record.begun_before(message)
        now = self._ports.now()
        if begun is not None and begun.session:
            until = float(begun.session)
        else:
            until = now + message["asked"]["seconds"]
            self._record.begin_sleep(message, until)
        await asyncio.sleep(max(0.0, until - now))
        self._record.answer(message, {"kind": "ok", "output": None}, None)

    def _workflow(self, message: Mapping[str, Any]) -> None:
        asked = message["asked"]
        if message["why"] == EDITED:
            self._say(f"workflow {message['path']} was edited: what changed in it runs again")
        try:
            source = source_of(self._ports.sources, asked)
        except Exception as error:  # noqa: BLE001 - the script is told what the matter is
            self._record.refuse(message, str(error), "config")
            return
        try:
            script = read_script(source)
        except ScriptError as error:
            self._record.refuse(message, f"Sub-workflow script error: {error}", "config")
            return
        result = {"kind": "ok", "output": script.source, "asked": asked}
        self._record.answer(message, result, script.source)

    def _say_why(self, message: Mapping[str, Any], call: AgentCall) -> None:
        why = message["why"]
        if why != "new" and self._record.is_resumed:
            self._say(f"agent {call.name} runs again: {_WHY[why]}")

    def _say(self, text: str) -> None:
        self._ports.emit(Logged(message=text))
