"""Whatever an event of a run says, a secret in it is not shown."""

import typing

import pytest

from siding.record.place.redaction import Redaction
from siding.workflows.acts.watcher import masked
from siding.workflows.events import AgentDone, Event, RunDone, RunStarted
from siding.workflows.outcome import Dead, Done, Outcome

KEY = "ghp_" + "a1B2" * 9
# Words of ours, or of the file that the person runs.
NAMES = {"name", "path", "agent_type", "reason", "status", "kind"}
KINDS = typing.get_args(Event)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_text_of_an_event_has_it(kind: type[Event]) -> None:
    hints = typing.get_type_hints(kind)
    texts = {name for name in kind._fields if hints[name] is str and name not in NAMES}
    required = [name for name in kind._fields if name not in kind._field_defaults]
    values = {name: {int: 1, bool: False, str: ""}.get(hints[name]) for name in required}
    values |= {"outcome": Dead()} if "outcome" in kind._fields else {}
    event = kind(**{**values, **dict.fromkeys(texts, f"it is {KEY}")})  # type: ignore[arg-type]
    assert texts or kind is RunStarted
    shown = masked(event, Redaction({}))
    assert KEY not in repr(shown)
    assert all("[redacted:" in getattr(shown, name) for name in texts)


@pytest.mark.parametrize(
    "outcome",
    [
        Done(output=KEY),
        Done(output={"keys": [KEY]}),
        Dead(detail=f"it said {KEY}"),
    ],
)
def test_no_result_has_it(outcome: Outcome) -> None:
    shown = masked(AgentDone(id=1, outcome=outcome), Redaction({}))
    assert KEY not in repr(shown)


def test_neither_has_what_the_script_returns_nor_what_it_is_about() -> None:
    done = masked(RunDone(status="completed", value=[{"a": KEY}]), Redaction({}))
    started = masked(RunStarted(name="w", meta={"description": KEY}), Redaction({}))
    assert KEY not in repr((done, started))


def test_nothing_else_is_changed() -> None:
    done = AgentDone(id=3, outcome=Done(output={"a": [1, None]}), label="x", is_replayed=True)
    assert masked(done, Redaction({})) == done
