"""What a key does on the card of a question; the answers are those that the store takes."""

from typing import Any

import pytest

from siding.asking.decisions.answers import check_answers
from siding.asking.decisions.request import check_request
from siding.faces.tui.cards.card import CardAct, Reply, Wanted
from siding.faces.tui.cards.decision_card import DecisionCard
from siding.faces.tui.text import cells
from siding.feed.model import AskKind
from unit.faces.tui.cards.decisions import card, decision, options


def pressed(on: DecisionCard, *keys: str) -> Reply:
    """Press keys; what is no name of a key is typed letter by letter. Return the last reply."""
    reply = Reply()
    names = {"enter", "escape", "space", "up", "down", "shift+tab", "ctrl+x", "backspace"}
    for each in keys:
        for key in [each] if each in names else list(each):
            reply = on.key(key, key if len(key) == 1 else " " if key == "space" else None)
    return reply


def answers(reply: Reply) -> dict[int, tuple[str, ...]]:
    """Return the values of each item in an answer, checked as the store does."""
    assert reply.wanted is not None, reply
    assert reply.wanted.act is CardAct.ANSWER
    chosen = {each["id"]: each["chosen"] for each in reply.wanted.answers}
    return {
        number: tuple(value) if isinstance(value, list) else (value,)
        for number, value in chosen.items()
    }


def shown(on: DecisionCard, width: int = 80) -> str:
    return "\n".join("".join(text for text, _ in row) for row in on.rows(width))


def test_one_choice_is_one_key() -> None:
    assert answers(pressed(card(options("keep", "change")), "2")) == {1: ("change",)}


def test_a_number_that_is_no_option_answers_nothing() -> None:
    reply = pressed(card(options("keep", "change")), "3")
    assert reply.wanted is None
    assert "no choice 3" in reply.said


@pytest.mark.parametrize("key", ["0", "9"])
def test_digits_beyond_the_options(key: str) -> None:
    assert pressed(card(options("a", "b")), key).wanted is None


def test_enter_takes_the_marked_one_which_is_the_recommended_at_first() -> None:
    on = card(options("a", "b", "c", recommend="b"))
    assert answers(pressed(on, "enter")) == {1: ("b",)}
    on = card(options("a", "b", "c", recommend="b"))
    assert answers(pressed(on, "down", "enter")) == {1: ("c",)}


def test_several_options_are_shown_once_more_before_they_are_recorded() -> None:
    on = card(options("a", "b", "c", kind="multiple", min=2))
    assert "2 to 3" in pressed(on, "1", "enter").said
    assert pressed(on, "3", "enter").wanted is None
    assert "A, C" in shown(on)
    assert answers(pressed(on, "enter")) == {1: ("a", "c")}


def test_a_second_press_takes_a_mark_away() -> None:
    on = card(options("a", "b", kind="multiple"))
    assert answers(pressed(on, "1", "2", "1", "enter", "enter")) == {1: ("b",)}


def test_items_come_one_after_the_other_and_can_be_gone_back_to() -> None:
    second = {**options("x", "y"), "id": 2}
    on = card(options("a", "b"), second)
    assert pressed(on, "1", "2").wanted is None
    assert pressed(on, "shift+tab", "1").wanted is None  # the second item again
    assert answers(pressed(on, "enter")) == {1: ("a",), 2: ("x",)}


def test_a_free_text_is_typed_and_its_letters_are_no_keys() -> None:
    text = {"id": 1, "title": "say it", "kind": "text"}
    on = card(text)
    assert "type an answer" in pressed(on, "enter").said
    assert answers(pressed(on, "er1", "space", "x", "enter")) == {1: ("er1 x",)}
    on = card({**text, "recommend": "as it was"})
    assert answers(pressed(on, "enter")) == {1: ("as it was",)}


def test_a_note_goes_with_the_answer() -> None:
    on = card(options("a", "b"))
    pressed(on, "e", "why 2", "enter")
    reply = pressed(on, "1")
    assert answers(reply) == {1: ("a",)}
    assert reply.wanted is not None
    assert reply.wanted.answers[0]["note"] == "why 2"


def test_escape_never_answers() -> None:
    for keys in (("escape",), ("e", "no", "escape"), ("escape", "escape")):
        on = card(options("run", "refuse"), kind=AskKind.PERMISSION)
        reply = pressed(on, *keys)
        assert reply.wanted is None


def test_taking_a_question_back_needs_the_key_twice_in_a_row() -> None:
    on = card(options("a", "b", kind="multiple"))
    assert pressed(on, "ctrl+x", "1", "ctrl+x").wanted is None
    assert pressed(on, "ctrl+x").wanted == Wanted(CardAct.CANCEL)


def test_recommended_for_all_is_shown_once_more() -> None:
    first = options("a", "b", recommend="b")
    second = {**options("x", "y", recommend="x"), "id": 2}
    on = card(first, second)
    assert pressed(on, "r").wanted is None
    assert answers(pressed(on, "enter")) == {1: ("b",), 2: ("x",)}
    without = card(first, {**options("x", "y"), "id": 2})
    assert "nothing is recommended for 2" in pressed(without, "r").said


def test_a_gate_needs_the_letters_that_the_card_shows() -> None:
    on = card(options("yes", "no"), kind=AskKind.GATE, gate="review")
    assert pressed(on, "2").wanted is None  # also a no is an answer to a gate
    assert "2 2 2 2" in shown(on)
    assert "review" in shown(on)
    assert pressed(on, "222").wanted is None
    assert answers(pressed(on, "2")) == {1: ("no",)}


def test_a_permission_needs_the_letters_but_a_refusal_does_not() -> None:
    item = options("run", "refuse")
    on = card(item, kind=AskKind.PERMISSION)
    assert answers(pressed(on, "2")) == {1: ("refuse",)}
    on = card(item, kind=AskKind.PERMISSION)
    assert pressed(on, "1").wanted is None
    assert pressed(on, "3333").wanted is None
    assert answers(pressed(on, "2222")) == {1: ("run",)}


def test_a_refusal_can_say_why() -> None:
    on = card(options("run", "refuse"), kind=AskKind.PERMISSION)
    assert "no, and say why" in shown(on)
    assert "say why" in pressed(on, "3", "enter").said
    reply = pressed(on, "3", "use git rm", "enter")
    assert answers(reply) == {1: ("refuse",)}
    assert reply.wanted is not None
    assert reply.wanted.answers[0]["note"] == "use git rm"


def test_wrong_letters_three_times_end_all_codes_for_a_while() -> None:
    on = card(options("yes", "no"), kind=AskKind.GATE)
    pressed(on, "1", "3333", "4444")
    assert "too many" in pressed(on, "5555").said
    assert "no code" in pressed(on, "1").said
    assert pressed(on, "2222").wanted is None


def test_a_card_that_is_left_forgets_its_code() -> None:
    on = card(options("yes", "no"), kind=AskKind.GATE)
    pressed(on, "1", "222")
    on.rest()
    assert "2 2 2 2" not in shown(on)
    assert pressed(on, "2").wanted is None  # chooses `no`, which shows another code


@pytest.mark.parametrize("width", [20, 60, 300])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    long = {
        "id": 1,
        "title": "a title of many words " * 10,
        "context": "一二三 " * 60 + "\x1b[31m\u202e",
        "options": [
            {"value": "a", "label": "label " * 30, "pros": ["good " * 20], "score": 7},
            {"value": "b", "label": "b", "cons": ["bad"]},
        ],
    }
    on = card(long)
    text = shown(on, width)
    assert all(cells(line) <= width for line in text.splitlines())
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_what_a_card_answers_is_what_the_store_takes() -> None:
    items: list[dict[str, Any]] = [
        options("a", "b"),
        {**options("x", "y", kind="multiple"), "id": 2},
        {"id": 3, "title": "say", "kind": "text"},
    ]
    on = card(*items)
    reply = pressed(on, "1", "1", "2", "enter", "so", "enter", "enter")
    assert reply.wanted is not None
    request = check_request({"task": "t", "source": "s", "items": items}).request
    checked = check_answers(request, list(reply.wanted.answers))
    assert [each.values for each in checked] == [("a",), ("x", "y"), ("so",)]
    assert decision(*items).items


def test_the_effect_of_a_command_stands_above_its_choices_and_is_inert() -> None:
    on = card(options("run", "refuse"), kind=AskKind.PERMISSION)
    assert on.show_effect(("effect: deletes 214 files: build/", "  - a\x1b[2J"))
    assert not on.show_effect(("effect: deletes 214 files: build/", "  - a\x1b[2J"))
    text = shown(on)
    assert text.index("deletes 214 files") < text.index("Refuse")
    assert "\x1b" not in text
