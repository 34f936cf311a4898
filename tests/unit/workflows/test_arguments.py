"""Arguments as they are typed, and what a script may return."""

from pathlib import Path
from typing import Any

import pytest

from siding.ground.errors import UsageError
from siding.workflows.acts.request import args_from_words
from unit.workflows.world import run_script


@pytest.mark.parametrize(
    "text",
    ["1.10", "1e3", "true", "null", "NaN", "007", "[1]", '{"a": 1}', '"x"', "", "a=b", ":=1"],
)
def test_a_typed_value_is_the_text_that_was_typed(text: str) -> None:
    assert args_from_words([f"to={text}"], None) == {"to": text}


@pytest.mark.parametrize(
    ("json", "value"),
    [
        ("1.10", 1.1),
        ("true", True),
        ("null", None),
        ('["a"]', ["a"]),
        ('"1.10"', "1.10"),
        (" 2", 2),
    ],
)
def test_a_value_may_be_given_as_json(json: str, value: Any) -> None:
    assert args_from_words([f"to:={json}", "x=1"], None) == {"to": value, "x": "1"}


@pytest.mark.parametrize("word", ["to:=NaN", "to:=", "to:=yes", 'to:=1,"x":2', "to:=1e999"])
def test_what_is_no_json_is_refused_and_the_way_out_named(word: str) -> None:
    with pytest.raises(UsageError, match="is no JSON") as refused:
        args_from_words([word], None)
    assert refused.value.hint == "to=… gives it as a text"


@pytest.mark.parametrize("word", ["to", "=x", ":=1", "a-b=1", "to :=1"])
def test_other_words_are_no_arguments(word: str) -> None:
    with pytest.raises(UsageError, match="is no argument of a workflow"):
        args_from_words([word], None)


def test_a_number_that_json_cannot_hold_costs_no_result(tmp_path: Path) -> None:
    script = "return [await agent('a'), budget.remaining(), {'x': (float('nan'), 1)}]"
    ran = run_script(tmp_path / "journal", script, {"*": "did <prompt>"})
    assert ran.done.value == ["did a", None, {"x": [None, 1]}]
    assert "null stands for them" in str(ran.warnings)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("{'a': [1, agent('x')]}", "JSON cannot hold result['a'][1]: .*is an `await` missing"),
        ("{'a': {1, 2}}", "JSON cannot hold result['a']: "),
    ],
)
def test_what_cannot_be_returned_is_named_with_its_place(
    returned: str, told: str, tmp_path: Path
) -> None:
    ran = run_script(tmp_path / "journal", f"return {returned}", {"*": "x"})
    place, _, more = told.partition(".*")
    assert place in ran.done.error
    assert more in ran.done.error
