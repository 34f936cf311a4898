"""One life of a script's process: its calls are carried out until it ends, or is ended."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from siding.storage.errors import NotStorable
from siding.workflows.allowed import CPU_S
from siding.workflows.budget import Account, Budget
from siding.workflows.calls import AgentCall, agent_call, command_call, question
from siding.workflows.child.errors import SILENT
from siding.workflows.engine.agent_run import AgentRuns, BudgetSpent
from siding.workflows.engine.answers import Answers
from siding.workflows.engine.controls import Control
from siding.workflows.engine.edited import EDITED, source_of
from siding.workflows.engine.link import Link
from siding.workflows.engine.plan import Ports, RunPlan
from siding.workflows.engine.ports import AgentUnavailable, Cancelled, Refused
from siding.workflows.errors import ScriptError
from siding.workflows.events import (
    AgentDone,
    Asked,
    Logged,
    PhaseDone,
    PhaseStarted,
    ResumeSummary,
    RunDone,
)
from siding.workflows.journal.records import Answer, Begun, Drop, path_order, stands_behind
from siding.workflows.journal.store import JournalWriter, Recorded
from siding.workflows.outcome import (
    Dead,
    DeadReason,
    Done,
    Outcome,
    Skipped,
    Used,
    Work,
    as_record,
    with_details,
)
from siding.workflows.resume import Scope
from siding.workflows.script import read_script
from siding.workflows.structured import misfits, refuse_bad

_GONE = "script-process"


class ScriptAttempt:
    """Carries out the calls of one process. Use it once, from one event loop."""

    def __init__(
        self, plan: RunPlan, ports: Ports, recorded: Recorded, writer: JournalWriter
    ) -> None:
        self._plan = plan
        self._ports = ports
        self._recorded = recorded
        self._writer = writer
        self._link = Link(ports.start_script())
        self._commands = asyncio.Semaphore(plan.limits.concurrency)
        self._answers = Answers(writer, self._send, recorded.next_seq)
        limits = plan.limits
        self._runs = AgentRuns(
            ports.agents,
            Budget(
                Account(limits.tokens, limits.agent_tokens, limits.concurrency),
                Account(limits.dollars, limits.agent_dollars, limits.concurrency),
            ),
            plan.retrying,
            ports.emit,
            concurrency=limits.concurrency,
            random=ports.random,
            on_work=self._note_work,
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: asyncio.Future[RunDone] = asyncio.get_running_loop().create_future()
        self._open_phase = ""
        self._visited: set[str] = set()  # calls that this process made, or took from the record
        self._dropped: set[str] = set()
        self._fingerprints: dict[str, str] = {}  # of the calls of agents that are not answered
        self._at_work: dict[str, Begun] = {}
        self._replayed = 0
        self._live = 0
        self._unanswered = 0  # messages to the process after which it has not waited yet
        self._silence: asyncio.TimerHandle | None = None

    def control(self, number: int, control: Control) -> bool:
        """Skip, retry or kill an agent; False if it is not at work."""
        return self._runs.control(number, control)

    def stop(self) -> None:
        """End the script and all that it began."""
        self._finish(RunDone(status="killed"))

    async def run(self) -> RunDone:
        """Return how the script ended, when everything that it began has ended, too."""
        await self._link.open(self._on_message, self._on_end)
        delivering = asyncio.create_task(self._answers.deliver())
        delivering.add_done_callback(self._on_delivering_ended)
        self._send(self._start())
        try:
            done = await self._ended
        finally:
            status = await self._end_all(delivering)
        if done.kind == _GONE:
            done = done._replace(error=_how_it_died(status))
        return done._replace(resume=self._summary())

    def _start(self) -> dict[str, Any]:
        plan = self._plan
        return {
            "source": plan.script.source,
            "args": plan.args,
            "records": self._recorded.for_child(plan.key),
            "policy": plan.policy.as_message(),
            "budget": plan.limits.tokens,
            "max_agents": plan.limits.agents,
        }

    async def _end_all(self, delivering: "asyncio.Task[None]") -> int:
        if self._silence is not None:
            self._silence.cancel()
        delivering.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.wait([delivering])
        self._record_rest()
        status = self._link.close()
        if self._open_phase:
            self._ports.emit(PhaseDone(phase=self._open_phase))
        return status

    def _send(self, message: Mapping[str, Any]) -> None:
        self._unanswered += 1
        self._watch_silence()
        self._link.send(message)

    def _watch_silence(self) -> None:
        """Begin to count the time in which the script does not wait; what it says is no pause."""
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None
        if self._unanswered:
            loop = asyncio.get_running_loop()
            self._silence = loop.call_later(self._plan.script_silence_s, self._on_silence)

    def _on_silence(self) -> None:
        error = (
            f"the script computed for {self._plan.script_silence_s:.0f} s without waiting and was"
            " ended; let agents do long work, or put an `await sleep(0)` into the loop"
        )
        self._finish(RunDone(status="failed", error=error, kind=SILENT))

    def _finish(self, done: RunDone) -> None:
        if not self._ended.done():
            self._ended.set_result(done)

    def _on_end(self) -> None:
        self._finish(RunDone(status="failed", kind=_GONE))

    def _on_delivering_ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._finish(_failed_with(error))

    def _on_message(self, message: dict[str, Any]) -> None:
        if self._ended.done():
            return
        try:
            self._take(message)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run ends and says it
            self._finish(_failed_with(error))

    def _take(self, message: dict[str, Any]) -> None:
        match message["t"]:
            case "call":
                self._visited.add(message["path"])
                self._spawn(self._carry_out(message))
            case "waiting":
                self._unanswered -= 1
                self._watch_silence()
            case "replayed":
                self._on_replayed(message["calls"])
            case "check":
                self._on_check(message)
            case "read":
                self._on_read(message)
            case "stale":
                self._on_stale(message["path"], message["after"])
            case "phase":
                self._on_phase(message["phase"])
            case "log":
                self._say(message["message"])
            case "warn":
                self._ports.emit(Logged(message=message["message"], is_warning=True))
            case "done" | "failed":
                self._on_script_ended(message)
            case kind:
                raise ValueError(f"the script's process says {kind!r}, which nobody knows")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_ended)

    def _on_task_ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._finish(_failed_with(error))

    async def _carry_out(self, message: dict[str, Any]) -> None:
        path, asked = message["path"], message["asked"]
        match message["kind"]:
            case "agent":
                await self._agent(message, agent_call(message["id"], path, asked))
            case "ask":
                await self._ask(message)
            case "sleep":
                await self._sleep(message)
            case "workflow":
                self._workflow(message)
            case "run" | "bring_back":
                await self._in_workspace(message)

    async def _agent(self, message: Mapping[str, Any], call: AgentCall) -> None:
        self._say_why(message, call)
        self._fingerprints[call.path] = message["fp"]
        before = self._begun_before(message)
        try:
            if call.schema is not None:
                refuse_bad(call.schema)
            outcome = await self._runs.run(call, before.session if before is not None else "")
        except (ScriptError, AgentUnavailable) as error:
            self._refuse(message, str(error), "config")
            return
        except BudgetSpent as error:
            self._refuse(message, str(error), "budget")
            return
        self._live += 1
        outcome = self._answer_agent(message, call, outcome)
        if isinstance(outcome, Dead):
            detail = f": {outcome.detail}" if outcome.detail else ""
            text = f"agent {call.name} gave no result ({outcome.reason}){detail}"
            self._ports.emit(Logged(message=text, is_warning=True))
        self._ports.emit(
            AgentDone(
                id=call.id, outcome=outcome, label=call.label, phase=call.phase, path=call.path
            )
        )

    def _answer_agent(
        self, message: Mapping[str, Any], call: AgentCall, outcome: Outcome
    ) -> Outcome:
        """Record how the call came out, and answer it; return what was recorded."""
        if call.details and isinstance(outcome, Done):
            outcome = with_details(outcome)
        value = outcome.output if isinstance(outcome, Done) else None
        tokens = outcome.used.tokens if isinstance(outcome, Done | Dead) else 0
        try:
            self._answer(message, as_record(outcome), value, tokens=tokens, number=call.id)
        except NotStorable as error:
            assert isinstance(outcome, Done | Dead)
            dead = Dead(
                reason=DeadReason.UNKNOWN,
                detail=f"its result cannot be recorded: {error}",
                retryable=False,
                used=outcome.used,
                work=outcome.work,
            )
            self._answer(message, as_record(dead), None, tokens=tokens, number=call.id)
            return dead
        return outcome

    def _begun_before(self, message: Mapping[str, Any]) -> Begun | None:
        """Return the same call as an earlier process has begun it, if that was cut off."""
        begun = self._recorded.begun.get(message["path"])
        return begun if begun is not None and begun.fingerprint == message["fp"] else None

    def _note_work(self, call: AgentCall, session: str) -> None:
        """Write down that an agent is at work, and its conversation, to go on with after a kill."""
        begun = Begun(
            path=call.path,
            kind="agent",
            fingerprint=self._fingerprints[call.path],
            id=call.id,
            session=session,
        )
        if self._at_work.get(call.path) != begun:
            self._at_work[call.path] = begun
            self._answers.write()  # what was noted before this call stands before it
            self._writer.write([begun], flushed=False)

    async def _in_workspace(self, message: Mapping[str, Any]) -> None:
        path, asked, workspaces = message["path"], message["asked"], self._ports.workspaces
        try:
            if message["kind"] == "run":
                async with self._commands:
                    done = await workspaces.run(command_call(path, asked))
                self._say(f"{asked['command']!r}: exit {done['exit']}")
            else:
                done = await workspaces.bring_back(asked["fork"])
        except Refused as error:
            self._refuse(message, str(error), message["kind"])
            return
        self._answer(message, {"kind": "ok", "output": done}, done)

    async def _ask(self, message: Mapping[str, Any]) -> None:
        asked = question(message["path"], message["asked"])
        self._ports.emit(Asked(path=asked.path, question=asked.question))
        try:
            value = await self._ports.people.ask(asked)
        except Cancelled as error:
            self._refuse(message, str(error) or "the question was cancelled", "ask")
            return
        self._ports.emit(Asked(path=asked.path, question=asked.question, is_answered=True))
        try:
            self._answer(message, {"kind": "ok", "output": value}, value)
        except NotStorable as error:
            self._refuse(message, f"the answer cannot be recorded: {error}", "ask")

    async def _sleep(self, message: Mapping[str, Any]) -> None:
        """Wait until the moment that the first process that began this call has written down."""
        begun = self._begun_before(message)
        now = self._ports.now()
        until = now + message["asked"]["seconds"]
        if begun is not None and begun.session:
            until = float(begun.session)
        else:
            line = Begun(
                path=message["path"], kind="sleep", fingerprint=message["fp"], session=repr(until)
            )
            self._answers.note(line)
            self._answers.write()
        await asyncio.sleep(max(0.0, until - now))
        self._answer(message, {"kind": "ok", "output": None}, None)

    def _workflow(self, message: Mapping[str, Any]) -> None:
        asked = message["asked"]
        if message["why"] == EDITED:
            self._say(f"workflow {message['path']} was edited: what changed in it runs again")
        try:
            source = source_of(self._ports.sources, asked)
        except Exception as error:  # noqa: BLE001 - the script is told what the matter is
            self._refuse(message, str(error), "config")
            return
        try:
            script = read_script(source)
        except ScriptError as error:
            self._refuse(message, f"Sub-workflow script error: {error}", "config")
            return
        result = {"kind": "ok", "output": script.source, "asked": asked}
        self._answer(message, result, script.source)

    def _answer(
        self,
        message: Mapping[str, Any],
        result: Mapping[str, Any],
        value: Any,
        *,
        tokens: int = 0,
        number: int = -1,
    ) -> None:
        self._answers.record(
            _answer_to(message, result, number),
            {"path": message["path"], "value": value, "tokens": tokens},
        )

    def _refuse(self, message: Mapping[str, Any], error: str, kind: str) -> None:
        """Give the script an error. It is recorded where nothing is, but never taken from there.

        The next attempt makes the call again; it must know that this one went on without it.
        """
        path = message["path"]
        answer = {"path": path, "error": error, "kind": kind}
        if path in self._recorded.answers:
            self._answers.refuse(answer)
            return
        result = {"kind": "refused", "why": kind, "detail": error}
        self._answers.record(_answer_to(message, result, message.get("id", -1)), answer)

    def _on_check(self, message: Mapping[str, Any]) -> None:
        answer = self._recorded.answers[message["path"]]
        wrong = misfits(message["schema"], answer.result.get("output"))
        if wrong:
            text = (
                f"the recorded result of agent #{answer.id} does not match its structured output"
                f" schema: {wrong}"
            )
            self._ports.emit(Logged(message=text, is_warning=True))
        self._link.send({"reply": not wrong})

    def _on_read(self, message: Mapping[str, Any]) -> None:
        self._visited.add(message["path"])
        result = {"kind": "ok", "output": message["value"]}
        self._answers.record(_answer_to({**message, "kind": "read"}, result, -1), None)

    def _on_stale(self, lane: str, after: str) -> None:
        """Drop what is recorded behind a call, but for what this process has made or taken."""
        recorded = {*self._recorded.answers, *self._recorded.begun}
        gone = {
            path
            for path in recorded - self._visited - self._dropped
            if stands_behind(path, lane, after)
        }
        if gone:
            self._dropped |= gone
            self._answers.note(Drop(paths=tuple(sorted(gone, key=path_order)), after=after))
            self._say(f"{after} came out differently: what follows it runs again")

    def _on_replayed(self, calls: list[list[str]]) -> None:
        for path, label, phase in calls:
            self._visited.add(path)
            answer = self._recorded.answers.get(path)
            if answer is not None and answer.kind == "agent":
                self._replayed += 1
                self._ports.emit(
                    AgentDone(
                        id=answer.id,
                        outcome=_recorded_outcome(answer),
                        label=label,
                        phase=phase,
                        is_replayed=True,
                        path=path,
                    )
                )

    def _on_phase(self, title: str) -> None:
        if self._open_phase:
            self._ports.emit(PhaseDone(phase=self._open_phase))
        self._open_phase = title
        if title:
            self._ports.emit(PhaseStarted(phase=title))

    def _on_script_ended(self, message: Mapping[str, Any]) -> None:
        if message["unfinished"]:
            count = len(message["unfinished"])
            text = f"the script ended before {count} of its calls; they were ended, await them"
            self._ports.emit(Logged(message=text, is_warning=True))
        if message["t"] == "done":
            self._drop_unreached()
            self._finish(RunDone(status="completed", value=message["value"]))
            return
        self._finish(
            RunDone(
                status="failed",
                error=message["error"],
                line=message.get("where", 0),
                kind=message["kind"],
            )
        )

    def _record_rest(self) -> None:
        """Record what came out while the run ended, and what was noted since the last answer."""
        try:
            self._answers.write()
        except OSError as error:
            self._say(f"the journal cannot be written: {error}")

    def _drop_unreached(self) -> None:
        """A run that was made anew as a whole has only the calls that it made."""
        if self._plan.policy.scope is Scope.ALL:
            gone = {*self._recorded.answers, *self._recorded.begun} - self._visited - self._dropped
            if gone:
                self._answers.note(Drop(paths=tuple(sorted(gone, key=path_order))))

    def _say_why(self, message: Mapping[str, Any], call: AgentCall) -> None:
        why = message["why"]
        if why != "new" and self._recorded.attempts:
            self._say(f"agent {call.name} runs again: {_WHY[why]}")

    def _say(self, text: str) -> None:
        self._ports.emit(Logged(message=text))

    def _summary(self) -> ResumeSummary | None:
        if len(self._recorded.attempts) == 0:
            return None
        by_id = {answer.id: path for path, answer in self._recorded.answers.items()}
        not_reached = tuple(
            sorted(
                number
                for number in self._plan.policy.selected()
                if by_id.get(number) not in self._visited
            )
        )
        return ResumeSummary(
            policy=str(self._plan.policy.scope),
            replayed=self._replayed,
            live=self._live,
            not_reached=not_reached,
        )


def _how_it_died(status: int) -> str:
    """Return what is said of a script's process that has ended by itself."""
    if status == -signal.SIGXCPU:
        return f"the script used more than {CPU_S} s of processor time; let agents do long work"
    how = signal.strsignal(-status) if status < 0 else f"status {status}"
    return f"the script's process ended unexpectedly: {how}"


def _failed_with(error: BaseException) -> RunDone:
    """Return how a run ends whose engine met an error."""
    if isinstance(error, OSError):
        text = f"the journal cannot be written: {error}"
        return RunDone(status="failed", error=text, kind="disk")
    return RunDone(status="failed", error=f"{error!r}", kind="engine")


def _answer_to(message: Mapping[str, Any], result: Mapping[str, Any], number: int) -> Answer:
    """Return the answer to a call; `Answers` gives it its place."""
    return Answer(
        path=message["path"],
        kind=message["kind"],
        fingerprint=message["fp"],
        seq=0,
        result=result,
        id=number,
    )


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


def _recorded_outcome(answer: Answer) -> Outcome:
    """Return an outcome that was recorded, as far as those who watch need it."""
    result = answer.result
    used, work = _values(Used, result.get("used")), _values(Work, result.get("work"))
    match answer.outcome:
        case "ok":
            return Done(output=result.get("output"), used=used, work=work)
        case "skipped":
            return Skipped()
    return Dead(detail=str(result.get("detail", "")), used=used, work=work)


def _values(kind: Callable[..., Any], record: object) -> Any:
    known = kind._fields  # type: ignore[attr-defined]
    given = record if isinstance(record, Mapping) else {}
    return kind(**{name: value for name, value in given.items() if name in known})
