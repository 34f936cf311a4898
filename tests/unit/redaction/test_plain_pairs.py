"""What is judged in one step is judged as it would be closely."""

from itertools import product
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import counted
from siding.redaction.pairs import beginning_of_name
from siding.redaction.plain_pairs import plain_pair
from siding.redaction.redactor import Redactor

PLAIN = Redactor()
BEFORE = (b"", b"x\\", b"[redacted:", b"://")
NAMES = (b"password", b"DB_PASSWORD", b"token", b"max_tokens", b"x_key")
BETWEEN = (b"=", b"==", b": ", b'": "', b"='", b'="', b" = ")
VALUES = (
    b"hunter22",
    b"12345678",
    b"v1234567",
    b"0x12345678",
    b"11221122",
    b"myPassword1",
    b"xxxx1234",
    b"oauth2",
    b"ghp_" + b"aB3" * 12,
    b"AKIAGOO3JILEUUYPJSXO",
    b"0123abcd",
    b"aB3" * 30,
)
BEHIND = (b"\n", b' = "x"', b'"', b"'", b"")


def test_a_plain_pair_is_judged_as_closely_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [b"".join(parts) for parts in product(BEFORE, NAMES, BETWEEN, VALUES, BEHIND)]
    counted.add(len(texts))
    looked = Mock(wraps=plain_pair)
    monkeypatch.setattr("siding.redaction.evaluate.plain_pair", looked)
    masked = [PLAIN.mask(text) for text in texts]
    assert looked.call_count > len(texts) / 2
    monkeypatch.setattr("siding.redaction.evaluate.plain_pair", lambda *_: None)
    assert [text for text, one in zip(texts, masked, strict=True) if PLAIN.mask(text) != one] == []
    hidden = [text for text, one in zip(texts, masked, strict=True) if text != one]
    assert len(texts) / 10 < len(hidden) < len(texts) * 9 / 10


@given(st.lists(st.sampled_from([b"a", b"Z", b"-", b" ", b"\\", b"n", b"="]), max_size=8))
def test_a_name_begins_behind_what_is_no_part_of_one(pieces: list[bytes]) -> None:
    """Also at the beginning of the data, whatever its end is."""
    data = b"".join(pieces)
    for at in range(len(data)):
        left = beginning_of_name(data, at)
        # Of a name only the first letters count here, and where it begins.
        before = data[:at]
        expected = len(before.rstrip(b"aZ-n"))
        is_letter = 0 < expected < len(data) and data[expected : expected + 1] == b"n"
        if is_letter and data[expected - 1 : expected] == b"\\":
            expected += 1
        assert left == expected
