"""A field of another type than expected counts as missing."""

from collections.abc import Callable
from typing import Any

import pytest

from siding.ground.storage import fields
from siding.record.ledger.figures import DiffFigures

VALUES: list[Any] = [None, True, 0, 7, 1.5, "", "a", [], ["a", 3, {}], {}, {"a": 1}]


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (fields.mapping, [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {"a": 1}]),
        (fields.mappings, [[], [], [], [], [], [], [], [], [{}], [], []]),
        (fields.words, [(), (), (), (), (), (), (), (), ("a", "3", "{}"), (), ()]),
        (fields.strings, [(), (), (), (), (), (), (), (), ("a",), (), ()]),
        (fields.text_or_none, [None, None, None, None, None, None, "a", *[None] * 4]),
        (fields.whole, [0, True, 0, 7, 0, 0, 0, 0, 0, 0, 0]),
        (fields.whole_or_none, [None, None, 0, 7, *[None] * 7]),
    ],
)
def test_what_is_read_of_any_value(read: Callable[[object], Any], expected: list[Any]) -> None:
    assert [read(value) for value in VALUES] == expected


def test_text_is_what_stands_there() -> None:
    assert [fields.text(value) for value in (None, "", "a", 3)] == ["", "", "a", "3"]


def test_only_what_says_something_is_written() -> None:
    kept = {"false": False, "nought": 0, "text": "t", "list": [0]}
    empty: dict[str, Any] = {"none": None, "blank": "", "array": [], "object": {}, "tuple": ()}
    assert fields.said(**kept, **empty) == kept


def test_figures_come_back_and_are_nought_where_nothing_is_said() -> None:
    figures = DiffFigures(files=1, additions=2, deletions=3, file_list=("a",))
    assert DiffFigures.from_record(figures.as_record()) == figures
    assert figures.as_record()["file_list"] == ["a"]
    assert DiffFigures() == DiffFigures.from_record(None) == DiffFigures(0, 0, 0, ())
