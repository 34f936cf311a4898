"""Whatever JSON comes: a request, an answer or a file on disk is understood or named as wrong."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from siding.asking.decisions.answers import check_answers
from siding.asking.decisions.input_object import InvalidRequest
from siding.asking.decisions.record import (
    Decision,
    DecisionState,
    Origin,
    open_document,
    record_document,
)
from siding.asking.decisions.request import check_request
from siding.asking.decisions.store import DecisionStore
from siding.ground.errors import SidingError
from siding.record.phases.plan import BadPlan, plan_from
from siding.record.phases.store import status_from

from .asking import requests, simple

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def damaged(draw: st.DrawFn, documents: st.SearchStrategy[dict[str, Any]]) -> Any:
    """A document in which one value, anywhere, was replaced or taken out."""
    document = draw(documents)
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return document
        key = draw(st.sampled_from(keys))
        deeper = isinstance(place[key], dict | list) and draw(st.booleans())
        if not deeper:
            break
        place = place[key]
    if isinstance(place, dict) and draw(st.booleans()):
        del place[key]
    else:
        place[key] = draw(JSON)
    return document


def named(*texts: str | None) -> None:
    """What is wrong, and the way out, are said."""
    assert all(texts), texts


@given(JSON | damaged(requests()))
def test_a_request_is_understood_or_named_as_wrong(value: Any) -> None:
    try:
        checked = check_request(value)
    except InvalidRequest as error:
        named(error.message, error.hint)
        return
    assert check_request(open_document(_decision(checked.request))).request == checked.request


@given(JSON)
def test_an_answer_is_understood_or_named_as_wrong(value: Any) -> None:
    request = check_request(simple()).request
    try:
        check_answers(request, value)
    except InvalidRequest as error:
        named(error.message, error.hint)


@settings(max_examples=250)
@given(st.sampled_from(["open", "record", "pending"]), st.data())
def test_a_file_is_read_or_named_as_damaged(where: str, data: st.DataObject) -> None:
    decision = _decision(check_request(simple()).request)
    whole = open_document(decision)
    if where == "record":
        whole = record_document(decision._replace(state=DecisionState.CANCELLED))
    document = data.draw(JSON | damaged(st.builds(lambda: json.loads(json.dumps(whole)))))
    with tempfile.TemporaryDirectory() as directory:
        store = DecisionStore(Path(directory))
        name = {"open": "open/s.json", "record": "s.json", "pending": "pending.json"}[where]
        (Path(directory) / "open").mkdir()
        (Path(directory) / name).write_text(json.dumps(document))
        for look in (lambda: store.load("s"), store.newest, store.open_ids, store.closed_ids):
            try:
                look()
            except SidingError as error:
                named(error.message)


@given(JSON)
def test_a_status_and_a_plan_are_read_or_named_as_wrong(value: Any) -> None:
    if isinstance(value, dict):
        try:
            status_from({"history": [], **value})
        except ValueError as error:
            named(str(error))
    try:
        plan_from(value)
    except BadPlan as error:
        named(str(error))


def _decision(request: Any) -> Decision:
    origin = Origin(session_id="s", created_at="2026-01-01T00:00:00+00:00")
    return Decision(origin=origin, request=request, state=DecisionState.OPEN)
