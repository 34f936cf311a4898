"""Take secrets out of what is shown and kept of a run: its events, of whatever kind."""

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
from siding.workflows.outcome import Dead, Done, Outcome, Skipped

LONGEST = 2000  # characters of a text


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
