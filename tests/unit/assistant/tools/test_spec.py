"""An input that does not fit its tool: the model is told each problem, and what would fit."""

from typing import Any

from siding.assistant.tools.port import ToolSpec
from siding.assistant.tools.spec import checked, failed

SPEC = ToolSpec(
    "Plant",
    "Plants.",
    {
        "type": "object",
        "properties": {f"f{n}": {"type": "integer"} for n in range(8)},
        "required": ["f0"],
        "additionalProperties": False,
    },
)


def told(**given: Any) -> list[str]:
    """Return the lines that a model gets for an input."""
    result = checked(SPEC, given)
    assert result is not None
    assert result.is_error
    return str(result.content).splitlines()


def test_an_input_that_fits_is_let_through() -> None:
    assert checked(SPEC, {"f0": 1, "f7": 2}) is None


def test_each_problem_names_its_field_and_the_fields_are_listed() -> None:
    first, *problems, fields = told(f1="x", other=1)
    assert first == "The input of Plant does not fit; nothing was done."
    assert sorted(problems) == [
        '- `f1`: expected integer, got "x"',
        "- the field `f0` is missing",
        "- there is no field `other`",
    ]
    assert fields.startswith("Fields: f0 (integer), f1 (integer, optional), ")


def test_of_many_problems_five_are_told_and_the_others_counted() -> None:
    assert len(told(**{f"f{n}": [] for n in range(5)})) == 1 + 5 + 1
    _, *problems, _ = told(**{f"f{n}": [] for n in range(8)})
    assert [each.split(":")[0] for each in problems[:5]] == [f"- `f{n}`" for n in range(5)]
    assert problems[5:] == ["- and 3 more problems"]


def test_what_is_no_json_object_is_said_to_be_none() -> None:
    assert told(_invalid="{oops")[1].startswith("- it is not a JSON object: ")


def test_a_call_that_could_not_be_done_shows_its_first_line_cut() -> None:
    result = failed("no\nsecond line")
    assert (result.content, result.shown, result.is_error) == ("no\nsecond line", "no", True)
    assert len(failed("x" * 500).shown) == 120
    assert failed("long", shown="short").shown == "short"
