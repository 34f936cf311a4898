"""Keep the state of a run while it lives: on disk, in the project's events, for listeners.

Secrets are taken out of what is shown and kept: of its events, of whatever kind.
"""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from siding.ground.errors import SidingError
from siding.record.place.events import WorkflowChanged
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
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
    RunDone,
    RunStarted,
)
from siding.workflows.outcome import Dead, Done, Outcome, Skipped, as_record
from siding.workflows.state import RunState, apply
from siding.workflows.store import RunFolder

LONGEST = 2000  # characters of a text
WRITE_EVERY_S = 0.5


def masked(event: Event, redaction: Redaction) -> Event:
    """Return the event without secrets, its longer texts cut.

    What the script gets and returns is not touched: this is what others see of it.
    """
    text = redaction.text
    match event:
        case RunStarted():
            return event._replace(meta=redaction.record(event.meta))
        case PhaseStarted() | PhaseDone():
            return event._replace(phase=text(event.phase))
        case AgentStarted():
            return event._replace(
                label=text(event.label),
                phase=text(event.phase),
                prompt=text(event.prompt[:LONGEST]),
            )
        case AgentProgress():
            return event._replace(says=text(event.says[-LONGEST:]))
        case AgentRetry():
            return event._replace(detail=text(event.detail[:LONGEST]))
        case AgentDone():
            return event._replace(
                outcome=_outcome(event.outcome, redaction),
                label=text(event.label),
                phase=text(event.phase),
            )
        case Asked():
            return event._replace(question=text(event.question[:LONGEST]))
        case Logged():
            return event._replace(message=text(event.message[:LONGEST]))
        case RunDone():
            return event._replace(
                value=redaction.record(event.value), error=text(event.error[:LONGEST])
            )


def _outcome(outcome: Outcome, redaction: Redaction) -> Outcome:
    match outcome:
        case Done():
            return outcome._replace(output=redaction.record(outcome.output))
        case Dead():
            return outcome._replace(detail=redaction.text(outcome.detail[:LONGEST]))
        case Skipped():
            return outcome


class Watcher:
    """Takes the events of a run, in its event loop.

    The state is on disk half a second after an event at the latest. A disk that fails costs the
    view of the run, never the run.
    """

    def __init__(
        self,
        project: Project,
        folder: RunFolder,
        task_id: str,
        listen: Callable[[Event, RunState], None],
    ) -> None:
        self._project = project
        self._folder = folder
        self._listen = listen
        self._has_begun = False
        self._later: asyncio.TimerHandle | None = None
        known = folder.state()
        started_at = known.started_at if known is not None else 0
        self.state = RunState(run_id=folder.run_id, task=task_id, started_at=started_at)
        self._log = _opened(folder)

    def emit(self, event: Event) -> None:
        """Take an event."""
        self._has_begun = True
        event = masked(event, self._project.redaction)
        now = self._project.app.clock.now()
        self.state = apply(self.state, event, int(now.timestamp() * 1000))
        with suppress(OSError):
            self._write(event, now.isoformat(timespec="milliseconds"))
        self._tell(event)
        self._listen(event, self.state)

    def close(self) -> None:
        """Write the state as it is, and close the log. Nothing is written of a run not begun."""
        if self._has_begun:
            self._write_state()
        if self._log is not None:
            os.close(self._log)

    def _write(self, event: Event, at: str) -> None:
        if self._log is not None and not isinstance(event, AgentProgress):
            line = json.dumps({"at": at, **event_record(event)}, default=str) + "\n"
            os.write(self._log, line.encode())
        if isinstance(event, RunStarted | RunDone | Asked):
            self._write_state()
        elif self._later is None:
            self._later = asyncio.get_running_loop().call_later(WRITE_EVERY_S, self._write_state)

    def _write_state(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        with suppress(OSError):
            self._folder.write_state(self.state)

    def _tell(self, event: Event) -> None:
        match event:
            case RunStarted(resumed=resumed):
                how = "resumed" if resumed else "started"
            case Asked(is_answered=False):
                how = "waiting"
            case RunDone(status=status):
                how = status
            case _:
                return
        changed = WorkflowChanged(
            task_id=self.state.task,
            how=how,
            run_id=self.state.run_id,
            workflow=self.state.name,
            error=self.state.error,
        )
        with suppress(OSError, SidingError):
            self._project.events.emit(changed)


def _opened(folder: RunFolder) -> int | None:
    """Return the log of a run, open for appending; None if the disk has none."""
    try:
        return os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as the log has it: its type in the field's own words, and its fields."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__)[1:]
    fields = {key: value for key, value in event._asdict().items() if value not in ("", None, ())}
    if "outcome" in fields:
        result = as_record(fields.pop("outcome"))
        output = result.pop("output", None)
        shown = output if isinstance(output, str) else json.dumps(output)
        fields["result"] = {**result, "preview": shown[:400]}
    for name_of_values in ("used", "work"):
        if name_of_values in fields:
            fields[name_of_values] = {
                k: v for k, v in fields[name_of_values]._asdict().items() if v
            }
    if fields.get("resume") is not None:
        fields["resume"] = fields["resume"]._asdict()
    return {"type": name, **fields}
