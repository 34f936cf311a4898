"""What is written can be read back; what is not JSON is refused with a reason, never a crash."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.errors import NotStorable
from siding.ground.storage.writes import MAX_DEPTH, encode_document, encode_line

# Lone surrogates included: a file name that is not UTF-8 becomes one.
ANY_TEXT = st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(ANY_TEXT, VALUES, max_size=6)


def nested(depth: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth - 1):
        value = [value]
    return {"a": value}


@given(OBJECTS)
def test_every_object_comes_back_from_a_line_and_from_a_document(data: dict[str, Any]) -> None:
    as_json_has_it = json.loads(json.dumps(data))  # two surrogates that pair up become one letter
    line = encode_line(data)
    assert b"\n" not in line
    assert line.decode("utf-8")
    assert parse_object(line) == as_json_has_it
    assert parse_object(encode_document(data)) == as_json_has_it


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert encode_line({"name": "a\udcff\\"}) == rb'{"name":"a\udcff\\"}'
    assert parse_object(rb'{"name":"a\udcff\\"}') == {"name": "a\udcff\\"}


def test_a_document_is_indented_and_ends_with_a_newline() -> None:
    assert encode_document({"ä": [1]}) == '{\n  "ä": [\n    1\n  ]\n}\n'.encode()


def circle() -> dict[str, Any]:
    data: dict[str, Any] = {}
    data["self"] = data
    return data


@pytest.mark.parametrize(
    "data",
    [
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": 10**5000},
        nested(MAX_DEPTH + 1),
        nested(100_000),
        circle(),
    ],
    ids=["nan", "infinity", "long int", "deep", "very deep", "circle"],
)
def test_what_no_reader_would_read_back_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(NotStorable):
        encode_line(data)
    with pytest.raises(NotStorable):
        encode_document(data)


def test_the_deepest_object_that_is_written_is_read_back() -> None:
    deepest = nested(MAX_DEPTH)
    assert parse_object(encode_line(deepest)) == deepest


def test_many_brackets_that_are_not_deep_are_no_depth() -> None:
    wide = {"files": [[] for _ in range(10 * MAX_DEPTH)], "text": "[" * 10 * MAX_DEPTH}
    assert parse_object(encode_line(wide)) == wide


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not JSON"),
        (b"nonsense", "not JSON"),
        (b'{"a": 1', "not JSON"),
        (b'{"a": 1}}', "not JSON"),
        (b'{"a": 1}\0', "not JSON"),
        (b'{"a": "\x01"}', "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b"null", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b'"s"', "not a JSON object"),
        (b'{"a": NaN}', "contains NaN"),
        (b'{"a": -Infinity}', "contains -Infinity"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too long"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too deeply"),
        (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "too deeply"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
    ],
)
def test_what_is_not_a_json_object_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(NotJson, match=reason) as refused:
        parse_object(raw)
    assert refused.value.is_cut_off == (raw in (b"", b'{"a": 1'))  # more would make it whole


@pytest.mark.parametrize(
    "raw", [b'\xef\xbb\xbf{"a": 1}', b'{"a": 1}\r\n', b' \t{"a": 1}', b'{"a": 0, "a": 1}']
)
def test_what_every_reader_takes_is_taken(raw: bytes) -> None:
    assert parse_object(raw) == {"a": 1}


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_reason(raw: bytes) -> None:
    try:
        value: Any = parse_object(raw)
    except NotJson as error:
        value = {"reason": str(error)}
    assert isinstance(value, dict)
    assert value.get("reason") != ""
