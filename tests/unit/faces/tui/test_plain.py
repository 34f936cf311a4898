"""What is typed in plain mode is an answer only where it is one of those that were said."""

import pytest

from siding.asking.views import ItemView, OptionView
from siding.faces.tui.plain.reading import changes, chosen_of, counts, item_lines, row_line
from siding.feed.model import State
from unit.faces.tui.apps import feed, row


def _item(kind: str, *, least: int = 1, most: int = 1, suggested: str = "") -> ItemView:
    options = tuple(
        OptionView(
            value=value, label=f"say {value}", score=None, pros=(), cons=(), recommended=False
        )
        for value in ("yes", "no", "later")
    )
    return ItemView(
        id=1,
        title="go on?\x1b[31m",
        kind=kind,
        context="",
        location=None,
        options=() if kind == "text" else options,
        least=least,
        most=most,
        suggested=suggested,
        values=(),
        note="",
    )


@pytest.mark.parametrize(
    ("typed", "single", "several"),
    [
        ("2", "no", ["no"]),
        (" 3 ", "later", ["later"]),
        ("1 3", None, ["yes", "later"]),
        ("1,2", None, ["yes", "no"]),
        ("1 1", None, ["yes"]),
        ("1 2 3", None, None),
        ("0", None, None),
        ("4", None, None),
        ("-1", None, None),
        ("yes", None, None),
        ("", None, None),
    ],
)
def test_numbers_that_were_said_are_answers(
    typed: str, single: str | None, several: list[str] | None
) -> None:
    assert chosen_of(_item("single"), typed) == single
    assert chosen_of(_item("multiple", most=2), typed) == several


def test_a_text_is_taken_as_it_is_and_nothing_only_where_something_is_suggested() -> None:
    assert chosen_of(_item("text"), "  1 ") == "1"
    assert chosen_of(_item("text"), "\n") is None
    assert chosen_of(_item("text", suggested="main"), "") == "main"


def test_lines_say_what_they_are_and_nothing_that_moves_the_cursor() -> None:
    assert item_lines(_item("single"))[:2] == ["item 1: go on?\\x1b[31m", "1: say yes"]
    waits = row("a", State.WAITS)
    assert row_line(waits._replace(what="a\rb")) == "waits: p, task a: a\\rb"
    assert counts(feed(waits, row("b", State.RESTS)), everything=False) == "1 wait"
    assert counts(feed(row("b", State.RESTS)), everything=True) == "1 rest"
    assert changes(feed(waits), feed(waits)) == []
    assert changes(feed(row("a")), feed(waits)) == ["waits: p, task a"]
    assert changes(feed(waits), feed()) == ["gone: p, task a"]
