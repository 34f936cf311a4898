"""The keys of a place: what is sent by every terminal, two after the other, settings, help."""

import pytest

from siding.faces.tui.keys import (
    EVERYWHERE,
    SEQUENCE_S,
    Key,
    KeyTable,
    fitting,
    is_sendable,
    spoken,
)

_KEYS = (
    Key("next", ("n", "down"), "the next that waits", "next"),
    Key("stop", ("x x",), "stop what runs", "stop"),
    Key("go", ("g x",), "go there"),
    Key("back", ("q",), "leave this list"),
)


def _pressed(table: KeyTable, *keys: str, at: float = 0.0) -> list[str]:
    found = [table.press(key, at) for key in keys]
    return [each.act for each in found if each is not None]


def test_one_key_and_two_after_the_other_run_acts() -> None:
    table = KeyTable("some", _KEYS)
    assert _pressed(table, "n", "x", "x", "g", "h", "x", "n", "x") == [
        "next",
        "stop",
        "go_home",
        "next",
    ]
    assert table.is_waiting(0.0) == "x"
    assert table.is_waiting(SEQUENCE_S + 0.1) == ""
    assert table.press("x", SEQUENCE_S + 0.1) is None, "the first one was too long ago"
    table.forget()
    assert table.press("x", SEQUENCE_S + 0.2) is None


def test_an_act_of_the_place_comes_before_the_same_one_everywhere() -> None:
    table = KeyTable("some", _KEYS)
    assert [each.says for each in table.entries if each.act == "back"] == ["leave this list"]
    assert table.press("escape", 0.0) is None
    (everywhere,) = (each for each in EVERYWHERE if each.act == "back")
    assert KeyTable("other", ()).press("escape", 0.0) == everywhere


def test_settings_give_an_act_other_keys() -> None:
    wanted = {"some.next": ("N", "shift+enter", "q"), "stop": ("g",), "other.go": ("z",)}
    table = KeyTable("some", _KEYS, wanted)
    assert _pressed(table, "n", "N", "g") == ["next", "stop"]
    assert table.key_of("go") == "", "`g x` can be typed no more: `g` acts at once"
    assert table.problems == (
        "the key 'shift+enter' for some.next cannot be sent by every terminal",
    )
    taken = KeyTable("some", _KEYS, {"go": ("n", "x")})
    assert [each[-16:] for each in taken.problems] == ["is taken already"] * 2


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        *((key, True) for key in ("a", "?", "é", "f12", "ctrl+p", "ctrl+]", "alt+x", "shift+tab")),
        *((key, False) for key in ("ctrl+1", "shift+enter", "ctrl+shift+p", "ctrl+i", "ctrl+m")),
        *((key, False) for key in ("ctrl+h", "ctrl+s", "f13", "ctrl+enter", "super+k", "", "ab")),
    ],
)
def test_only_what_every_terminal_can_send_is_a_key(key: str, is_one: bool) -> None:
    assert is_sendable(key) is is_one


def test_keys_are_called_as_they_are_written() -> None:
    assert [spoken(*each) for each in (("question_mark", "?"), ("space", " "), ("f5", None))] == [
        "?",
        "space",
        "f5",
    ]
    assert spoken("ctrl+right_square_bracket", "\x1d") == "ctrl+]"


def test_the_help_filters_by_words_and_the_key_itself_comes_first() -> None:
    table = KeyTable("some", _KEYS)
    assert [each.act for each in table.filtered("THAT next")] == ["next"]
    assert table.filtered("q")[0].act == "back"
    assert table.filtered("nothing of this") == []


def test_the_last_hint_is_always_there() -> None:
    labels = ["n next", "x x stop", "? keys"]
    assert [fitting(labels, columns) for columns in (30, 23, 14, 13, 6, 5)] == [3, 2, 2, 1, 1, 0]
