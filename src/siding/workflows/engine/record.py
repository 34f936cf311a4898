"""The record of a run while a process of its script works: what was there, and what it gets.

Everything that goes into the journal during one life of the script goes through here, so the order
of its lines is decided in one place. Answers are put on disk, many at once, and only then given to
the script.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from siding.workflows.engine.plan import Policy, Scope
from siding.workflows.engine.ports import AgentCall
from siding.workflows.events import AgentDone, Emit, Logged, Resumable, ResumeSummary
from siding.workflows.journal import JournalWriter, Recorded, encoded
from siding.workflows.journal_lines import (
    Answer,
    Begun,
    Drop,
    JournalLine,
    path_order,
    stands_behind,
)
from siding.workflows.outcome import from_record
from siding.workflows.structured import misfits

_SETTLED = frozenset({"ok", "skipped"})  # results that the next attempt takes from the record


class Answers:
    """The way from a call's outcome to the script. `seq` of an answer is its place on this way.

    What is put here while the disk is busy goes there with the next write and one flush.
    """

    def __init__(
        self,
        writer: JournalWriter,
        send: Callable[[Mapping[str, Any]], None],
        next_seq: int,
    ) -> None:
        self._writer = writer
        self._send = send
        self._next_seq = next_seq
        self._lines: list[bytes] = []
        self._messages: list[Mapping[str, Any]] = []
        self._tell: list[Callable[[], None]] = []
        self._wake = asyncio.Event()

    def record(
        self,
        answer: Answer,
        message: Mapping[str, Any] | None,
        tell: Callable[[], None] | None = None,
    ) -> None:
        """Record an answer; `message` gives it to the script when it is on disk.

        `tell` is called then, too: nobody hears of an answer that may still be lost.

        Raises NotStorable for a result that cannot be written down, and has done nothing.
        """
        self._lines.append(encoded(answer._replace(seq=self._next_seq)))
        self._next_seq += 1
        if tell is not None:
            self._tell.append(tell)
        if message is not None:
            self._messages.append(message)
            self._wake.set()

    def note(self, line: JournalLine) -> None:
        """Record another line, before the answers that come after it."""
        self._lines.append(encoded(line))

    def refuse(self, message: Mapping[str, Any]) -> None:
        """Give the script an error of which nothing is recorded."""
        self._messages.append(message)
        self._wake.set()

    async def deliver(self) -> None:
        """Write and send until cancelled. Raises OSError; nothing is sent then."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self.flush()

    def flush(self) -> None:
        """Write what was put here, and send it. Raises OSError."""
        self.write()
        messages, self._messages = self._messages, []
        for message in messages:
            self._send(message)

    def write(self) -> None:
        """Write what was put here; whoever waits for it gets it with the next `flush`."""
        lines, self._lines = self._lines, []
        if lines:
            self._writer.write_encoded(lines)
        tell, self._tell = self._tell, []
        for each in tell:
            each()


class RunRecord:
    """The record of one run, in the hands of one process. `message` is always the process's own."""

    def __init__(
        self, recorded: Recorded, answers: Answers, writer: JournalWriter, emit: Emit
    ) -> None:
        self._recorded = recorded
        self._answers = answers
        self._writer = writer
        self._emit = emit
        self._visited: set[str] = set()  # calls that this process made, or took from the record
        self._dropped: set[str] = set()
        self._at_work: dict[str, Begun] = {}
        self._replayed = 0
        self._live = 0
        self._results: set[str] = set()  # the kinds of all that the script was given

    @property
    def is_resumed(self) -> bool:
        """Whether an earlier process worked on the run."""
        return bool(self._recorded.attempts)

    def visit(self, path: str) -> None:
        """Count a call as one that this process came to."""
        self._visited.add(path)

    def begun_before(self, message: Mapping[str, Any]) -> Begun | None:
        """Return the same call as an earlier process has begun it, if that was cut off."""
        begun = self._recorded.begun.get(message["path"])
        return begun if begun is not None and begun.fingerprint == message["fp"] else None

    def begin_agent(self, call: AgentCall, fingerprint: str, session: str) -> None:
        """Write down that an agent is at work, and its conversation, to go on with after a kill."""
        begun = Begun(
            path=call.path, kind="agent", fingerprint=fingerprint, id=call.id, session=session
        )
        if self._at_work.get(call.path) != begun:
            self._at_work[call.path] = begun
            self._answers.write()  # what was noted before this call stands before it
            self._writer.write([begun], flushed=False)

    def begin_sleep(self, message: Mapping[str, Any], until: float) -> None:
        """Write down until when a call sleeps, in seconds since 1970."""
        self._answers.note(
            Begun(
                path=message["path"], kind="sleep", fingerprint=message["fp"], session=repr(until)
            )
        )
        self._answers.write()

    def answer_agent(
        self,
        message: Mapping[str, Any],
        result: Mapping[str, Any],
        value: Any,
        tokens: int,
        tell: Callable[[], None],
    ) -> None:
        """Answer an agent's call, then `tell` of it. Raises NotStorable, and has done nothing."""
        self._results.add(result["kind"])
        self._answers.record(
            _answer_to(message, result, message["id"]),
            {"path": message["path"], "value": value, "tokens": tokens},
            tell,
        )
        self._live += 1

    def answer(self, message: Mapping[str, Any], result: Mapping[str, Any], value: Any) -> None:
        """Answer any other call. Raises NotStorable, and has done nothing."""
        self._results.add(result["kind"])
        self._answers.record(
            _answer_to(message, result), {"path": message["path"], "value": value, "tokens": 0}
        )

    def refuse(self, message: Mapping[str, Any], error: str, kind: str) -> None:
        """Give the script an error. It is recorded where nothing is, but never taken from there.

        The next attempt makes the call again; it must know that this one went on without it.
        """
        path = message["path"]
        self._results.add("refused")
        answer = {"path": path, "error": error, "kind": kind}
        if path in self._recorded.answers:
            self._answers.refuse(answer)
            return
        result = {"kind": "refused", "why": kind, "detail": error}
        self._answers.record(_answer_to(message, result, message.get("id", -1)), answer)

    def note_read(self, message: Mapping[str, Any]) -> None:
        """Record what the script read of the budget; it does not wait for that."""
        self.visit(message["path"])
        result = {"kind": "ok", "output": message["value"]}
        self._answers.record(_answer_to({**message, "kind": "read"}, result), None)

    def fits(self, message: Mapping[str, Any]) -> bool:
        """Tell whether a recorded result fits the schema that the script asks for now."""
        answer = self._recorded.answers[message["path"]]
        wrong = misfits(message["schema"], answer.result.get("output"))
        if wrong:
            text = (
                f"the recorded result of agent #{answer.id} does not match its structured output"
                f" schema: {wrong}"
            )
            self._emit(Logged(message=text, is_warning=True))
        return not wrong

    def drop_behind(self, lane: str, after: str) -> None:
        """Drop what is recorded behind a call, but for what this process has made or taken."""
        gone = {path for path in self._unreached() if stands_behind(path, lane, after)}
        if gone:
            self._dropped |= gone
            self._answers.note(Drop(paths=tuple(sorted(gone, key=path_order)), after=after))
            text = f"{after} came out differently: what follows it runs again"
            self._emit(Logged(message=text))

    def drop_unreached(self, policy: Policy) -> None:
        """A run that was made anew as a whole has only the calls that it made."""
        if policy.scope is Scope.ALL and (gone := self._unreached()):
            self._answers.note(Drop(paths=tuple(sorted(gone, key=path_order))))

    def resumable(self) -> Resumable:
        """Return what comes of resuming a script that raised after all that it was given."""
        if not self._results:
            return Resumable.IS_EMPTY
        return Resumable.REPEATS if self._results <= _SETTLED else Resumable.CHANGES

    def _unreached(self) -> set[str]:
        return {*self._recorded.answers, *self._recorded.begun} - self._visited - self._dropped

    def take_replayed(self, calls: list[list[str]]) -> None:
        """Count calls (path, label, phase) that the script took from the record, and tell them."""
        for path, label, phase in calls:
            self.visit(path)
            answer = self._recorded.answers.get(path)
            if answer is not None:
                self._results.add(answer.result["kind"])
            if answer is not None and answer.kind == "agent":
                self._replayed += 1
                self._emit(
                    AgentDone(
                        id=answer.id,
                        outcome=from_record(answer.result),
                        label=label,
                        phase=phase,
                        is_replayed=True,
                        path=path,
                    )
                )

    def write_rest(self) -> None:
        """Record what came out while the run ended, and what was noted since the last answer."""
        try:
            self._answers.write()
        except OSError as error:
            self._emit(Logged(message=f"the journal cannot be written: {error}"))

    def summary(self, policy: Policy) -> ResumeSummary | None:
        """Return what was taken from the record and what was not; None if there was none."""
        if not self.is_resumed:
            return None
        by_id = {answer.id: path for path, answer in self._recorded.answers.items()}
        not_reached = tuple(
            sorted(number for number in policy.selected() if by_id.get(number) not in self._visited)
        )
        return ResumeSummary(
            policy=str(policy.scope),
            replayed=self._replayed,
            live=self._live,
            not_reached=not_reached,
        )


def _answer_to(message: Mapping[str, Any], result: Mapping[str, Any], number: int = -1) -> Answer:
    """Return the answer to a call; `Answers` gives it its place."""
    return Answer(
        path=message["path"],
        kind=message["kind"],
        fingerprint=message["fp"],
        seq=0,
        result=result,
        id=number,
    )
