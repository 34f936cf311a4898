"""A wrong value is named by its place, by what it is, and by what it should be."""

from typing import Any

import pytest

from siding.asking.decisions.input_object import InputObject, InvalidAnswer, InvalidRequest, shown

VALUES: dict[str, Any] = {
    "text": "t",
    "blank": " ",
    "number": 3,
    "yes": True,
    "texts": ["a", "b"],
    "mixed": ["a", 3],
    "nothing": None,
    "objects": [{"a": 1}, {}],
    "odd": [{}, 3],
    "empty": [],
    "long": "x" * 11,
}


def test_values_that_are_as_they_should_be() -> None:
    place = InputObject("top", VALUES)
    assert place.text("text", what="", longest=1) == "t"
    assert place.text_or_empty("text", longest=1) == "t"
    assert place.text_or_empty("gone", longest=1) == ""
    assert place.text_or_empty("blank", longest=1) == " "
    assert place.whole("number", least=3, what="") == 3
    assert place.texts("texts", longest=1) == ("a", "b")
    assert place.texts("gone", longest=1) == place.texts("empty", longest=1) == ()
    assert [each.path for each in place.objects("objects", what="")] == [
        "top.objects[0]",
        "top.objects[1]",
    ]
    assert [place.has(key) for key in ("text", "nothing", "gone")] == [True, False, False]
    assert place.raw("number") == 3
    assert InputObject("", {}).at("x") == "x"


@pytest.mark.parametrize(
    ("how", "key", "more", "message", "hint"),
    [
        ("text", "gone", {"what": "W", "longest": 9}, "gone is missing", 'add "gone": W'),
        ("text", "nothing", {"what": "W", "longest": 9}, "nothing is missing", "add"),
        (
            "text",
            "number",
            {"what": "W", "longest": 9},
            "should be a text, and is 3",
            "in quotes: W",
        ),
        ("text", "blank", {"what": "W", "longest": 9}, "blank is blank", 'fill in "blank": W'),
        ("text", "long", {"what": "W", "longest": 10}, "has 11 characters", "10 is the most"),
        ("text_or_empty", "number", {"longest": 9}, "should be a text, and is 3", "leave it out"),
        ("text_or_empty", "long", {"longest": 10}, "has 11 characters", "10 is the most"),
        ("whole", "gone", {"least": 1, "what": "W"}, "gone is missing", 'add "gone": W'),
        ("whole", "text", {"least": 1, "what": "W"}, "a whole number, and is 't'", "W"),
        ("whole", "yes", {"least": 1, "what": "W"}, "number, and is true or false", "W"),
        ("whole", "number", {"least": 4, "what": "W"}, "should be 4 or more, and is 3", "W"),
        ("texts", "text", {"longest": 9}, "a list of texts, and is 't'", "one"),
        ("texts", "mixed", {"longest": 9}, r"mixed\[1\] should be a text, and is 3", "quotes"),
        ("texts", "texts", {"longest": 0}, r"texts\[0\] has 1 characters", "0 is the most"),
        ("objects", "gone", {"what": "W"}, "gone is missing", 'add "gone": W'),
        ("objects", "text", {"what": "W"}, "should be a list, and is 't'", "W"),
        ("objects", "empty", {"what": "W"}, "empty is empty", "W"),
        ("objects", "odd", {"what": "W"}, r"odd\[1\] should be an object, and is 3", "name"),
    ],
)
@pytest.mark.parametrize("error", [InvalidRequest, InvalidAnswer])
def test_a_wrong_value_is_named(
    how: str,
    key: str,
    more: dict[str, Any],
    message: str,
    hint: str,
    error: type[InvalidRequest],
) -> None:
    place = InputObject("top", VALUES, error=error)
    with pytest.raises(InvalidRequest, match=message) as caught:
        getattr(place, how)(key, **more)
    assert type(caught.value) is error
    assert caught.value.path.startswith(f"top.{key}")
    assert caught.value.message.startswith(caught.value.path)
    assert hint in str(caught.value.hint)


def test_a_problem_of_the_whole_has_no_place() -> None:
    assert InputObject("", {}).wrong("", "is odd", hint="h").message == "is odd"
    assert InputObject("x", {}).wrong("", "is odd", hint="h").path == "x"
    with pytest.raises(InvalidRequest, match="the document should be an object, and is a list"):
        InputObject("", [])


def test_fields_that_mean_nothing_are_listed_with_what_may_be_meant() -> None:
    place = InputObject("items[0]", {"titel": 1, "title": 2, "xyzzy": 3})
    assert place.unknown(["title", "kind"]) == [
        "items[0].titel is not known and was left out; did you mean 'title'?",
        "items[0].xyzzy is not known and was left out",
    ]
    (said,) = InputObject("", {"y" * 300: 1}).unknown([])
    assert said == f"{'y' * 200} is not known and was left out"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (False, "true or false"),
        ({}, "an object"),
        ([1], "a list"),
        (3, "3"),
        ("x" * 58, repr("x" * 58)),
        ("x" * 59, "'" + "x" * 56 + "\u2026"),
    ],
)
def test_a_wrong_value_is_shown_briefly(value: object, text: str) -> None:
    assert shown(value) == text
