"""One life of a script's process: its calls are carried out until it ends, or is ended.

It is ended if it computes too long and never waits.
"""

import asyncio
import json
import os
import signal
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from siding.workflows.allowed import CPU_S
from siding.workflows.child.errors import FORBIDDEN, SCRIPT, SILENT
from siding.workflows.engine.agent_run import AgentRuns
from siding.workflows.engine.calls import Calls
from siding.workflows.engine.plan import Ports, RunPlan
from siding.workflows.engine.ports import CannotRecord, Control, ScriptProcess
from siding.workflows.engine.record import Answers, RunRecord
from siding.workflows.events import Logged, PhaseDone, PhaseStarted, Resumable, RunDone
from siding.workflows.journal import JournalWriter, Recorded
from siding.workflows.limits import Account, Budget

MAX_LINE_BYTES = 64 << 20  # far more than a script can send
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode
GONE = "script-process"  # its process died


class Silence:
    """Counts the time in which a script has something to take and does not come to wait for it."""

    def __init__(self, limit_s: float, on_silence: Callable[[], None]) -> None:
        self._limit_s = limit_s
        self._on_silence = on_silence
        self._unanswered = 0  # messages to the script after which it has not waited yet
        self._timer: asyncio.TimerHandle | None = None

    def sent(self) -> None:
        """Count a message to the script."""
        self._unanswered += 1
        self._begin()

    def waits(self) -> None:
        """Note that the script has taken a message and waits."""
        self._unanswered -= 1
        self._begin()

    def stop(self) -> None:
        """Count no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self) -> None:
        self.stop()
        if self._unanswered:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._limit_s, self._on_silence)


class _Lines(asyncio.Protocol):
    """Takes lines apart as they come."""

    def __init__(self, on_line: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._parts: list[bytes] = []
        self._size = 0

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._parts.append(line)
            whole = b"".join(self._parts)
            self._parts, self._size = [], 0
            self._on_line(whole)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > MAX_LINE_BYTES:
                self._on_end()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._on_end()


class Link:
    """Sends messages to the process and gives each of its own to `on_message`.

    `on_end` is called when it says nothing more, also after `close`.
    """

    def __init__(self, process: ScriptProcess) -> None:
        self._process = process
        self._read: asyncio.ReadTransport | None = None
        self._write: asyncio.WriteTransport | None = None

    async def open(
        self, on_message: Callable[[dict[str, Any]], None], on_end: Callable[[], None]
    ) -> None:
        """Connect with the process. What is no message is its end."""

        def take(line: bytes) -> None:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                on_end()
            else:
                on_message(message)

        loop = asyncio.get_running_loop()
        reading = os.fdopen(self._process.from_program, "rb", buffering=0)
        writing = os.fdopen(self._process.to_program, "wb", buffering=0)
        self._read, _ = await loop.connect_read_pipe(lambda: _Lines(take, on_end), reading)
        self._write, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, writing)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; if the process is gone, `on_end` says so."""
        assert self._write is not None
        self._write.write(_encode(message).encode() + b"\n")

    def close(self) -> tuple[int, str]:
        """End the process; return its status, and the last line of what it complained about."""
        status = self._process.end()
        for transport in (self._read, self._write):
            if transport is not None:
                transport.close()
        return status, self._process.complaint


# -- The life of the process -----------------------------------------------------------------------


class ScriptAttempt:
    """Carries out the calls of one process. Use it once, from one event loop."""

    def __init__(
        self, plan: RunPlan, ports: Ports, recorded: Recorded, writer: JournalWriter
    ) -> None:
        self._plan = plan
        self._ports = ports
        self._recorded = recorded
        self._link = Link(ports.start_script())
        self._answers = Answers(writer, self._send, recorded.next_seq)
        self._record = RunRecord(recorded, self._answers, writer, ports.emit)
        self._runs = _agent_runs(plan, ports)
        self._calls = Calls(ports, self._record, self._runs, concurrency=plan.limits.concurrency)
        self._silence = Silence(plan.script_silence_s, self._on_silence)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: asyncio.Future[RunDone] = asyncio.get_running_loop().create_future()
        self._open_phase = ""

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
            died = await self._end_all(delivering)
        if done.kind == GONE:
            done = done._replace(error=_how_it_died(*died))
        return done._replace(resume=self._record.summary(self._plan.policy))

    def _start(self) -> dict[str, Any]:
        plan = self._plan
        return {
            "source": plan.script.source,
            "args": plan.args,
            "records": self._recorded.for_child(plan.key, keeps_dead=plan.keeps_dead),
            "policy": plan.policy.as_message(),
            "budget": plan.limits.tokens,
            "max_agents": plan.limits.agents,
        }

    async def _end_all(self, delivering: "asyncio.Task[None]") -> tuple[int, str]:
        self._silence.stop()
        delivering.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.wait([delivering])
        self._record.write_rest()
        died = self._link.close()
        if self._open_phase:
            self._ports.emit(PhaseDone(phase=self._open_phase))
        return died

    def _send(self, message: Mapping[str, Any]) -> None:
        self._silence.sent()
        self._link.send(message)

    def _on_silence(self) -> None:
        error = (
            f"the script took no answer for {self._plan.script_silence_s:.0f} s and was ended: it"
            " computes without waiting (let agents do long work, or put an `await sleep(0)` into"
            " the loop), or somebody has stopped its process"
        )
        self._finish(RunDone(status="failed", error=error, kind=SILENT))

    def _finish(self, done: RunDone) -> None:
        if not self._ended.done():
            self._ended.set_result(done)

    def _on_end(self) -> None:
        self._finish(RunDone(status="failed", kind=GONE))

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
                self._record.visit(message["path"])
                self._spawn(self._calls.carry_out(message))
            case "waiting":
                self._silence.waits()
            case "replayed":
                self._record.take_replayed(message["calls"])
            case "check":
                self._link.send({"reply": self._record.fits(message)})
            case "read":
                self._record.note_read(message)
            case "stale":
                self._record.drop_behind(message["path"], message["after"])
            case "phase":
                self._on_phase(message["phase"])
            case "log":
                self._ports.emit(Logged(message=message["message"]))
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
            self._record.drop_unreached(self._plan.policy)
            self._finish(RunDone(status="completed", value=message["value"]))
            return
        # An error of its own comes again; one that a call gave it may not.
        repeats = message["kind"] in {SCRIPT, FORBIDDEN} and not message["unfinished"]
        self._finish(
            RunDone(
                status="failed",
                error=message["error"],
                line=message.get("where", 0),
                kind=message["kind"],
                resumable=self._record.resumable() if repeats else Resumable.CHANGES,
            )
        )


def _agent_runs(plan: RunPlan, ports: Ports) -> AgentRuns:
    limits = plan.limits
    budget = Budget(
        Account(limits.tokens, limits.agent_tokens, limits.concurrency),
        Account(limits.dollars, limits.agent_dollars, limits.concurrency),
    )
    return AgentRuns(
        ports.agents,
        budget,
        plan.retrying,
        ports.emit,
        concurrency=limits.concurrency,
        random=ports.random,
    )


def _how_it_died(status: int, complaint: str) -> str:
    """Return what is said of a script's process that has ended by itself."""
    if status == -signal.SIGXCPU:
        return f"the script used more than {CPU_S} s of processor time; let agents do long work"
    how = signal.strsignal(-status) if status < 0 else f"status {status}"
    said = f" ({complaint})" if complaint else ""
    return f"the script's process ended unexpectedly: {how}{said}"


def _failed_with(error: BaseException) -> RunDone:
    """Return how a run ends whose engine met an error."""
    if isinstance(error, OSError):
        text = f"the journal cannot be written: {error}"
        return RunDone(status="failed", error=text, kind="disk")
    if isinstance(error, CannotRecord):
        return RunDone(status="failed", error=str(error), kind="disk")
    return RunDone(status="failed", error=f"{error!r}", kind="engine")
