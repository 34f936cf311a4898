"""Lines of a conversation without their secrets stay lines, and JSON where they were JSON."""

import json
from typing import Any

import pytest

from siding.record.place.redaction import Redaction
from siding.sessions.masking import mask_line

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" * 3


def masked(value: Any) -> Any:
    """Return what a line of JSON is without its secrets; it has to be one line of JSON still."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    found = mask_line(Redaction({}), line)
    assert found.endswith(b"\n")
    assert found.count(b"\n") == 1
    return json.loads(found)


def test_what_holds_no_secret_stays_byte_for_byte() -> None:
    for line in (b'{"a": 1}\n', b"no json at all\n", b"\xff\xfe\n", b""):
        assert mask_line(Redaction({}), line) == line


@pytest.mark.parametrize(
    "value",
    [
        {"text": f"use {TOKEN} here", "n": 1},
        {"a": [{"b": f"{TOKEN}"}, "größer"]},
        {"password": "correct-horse-battery", "n": None},
        {"first": KEY, "second": "stays"},  # a key without an end
        {"first": [KEY, {"x": "stays"}], "n": [1, True, None, 2.5]},
        {KEY: "stays"},
        {
            "first": KEY.split("\n")[0],
            KEY.split("\n")[1] + "x": "stays",
            "n": 1,
        },  # over two strings
    ],
)
def test_a_line_of_json_stays_one_and_loses_the_secret_alone(value: Any) -> None:
    said = json.dumps(masked(value), ensure_ascii=False)
    assert "[redacted:" in said
    for secret in (TOKEN, KEY.split("\n")[1], "correct-horse-battery"):
        assert secret not in said
    for kept in ("stays", "größer", "here"):
        assert (kept in said) == (kept in json.dumps(value, ensure_ascii=False))


def test_a_line_that_is_no_json_is_masked_as_it_is() -> None:
    assert mask_line(Redaction({}), f"not json: {TOKEN}\n".encode()) == (
        b"not json: [redacted:github-token]\n"
    )


def test_masking_does_not_depend_on_what_is_recorded() -> None:
    assert TOKEN.encode() not in mask_line(Redaction({}, enabled=False), f"{TOKEN}\n".encode())
