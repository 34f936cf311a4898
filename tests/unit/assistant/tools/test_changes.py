"""The hunks that a change of a file is told with: applied to what was there, they give what is."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.tools.files.changes import patch

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "}"]), max_size=24)


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def applied(before: list[str], hunks: list[dict[str, Any]]) -> list[str]:
    """Return the lines with the hunks in, each of which must be where it says and as long."""
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk["oldStart"] - 1
        made += before[at:start]
        assert hunk["newStart"] - 1 == len(made)
        old = [line[1:] for line in hunk["lines"] if line[0] != "+"]
        new = [line[1:] for line in hunk["lines"] if line[0] != "-"]
        assert before[start : start + len(old)] == old
        assert (hunk["oldLines"], hunk["newLines"]) == (len(old), len(new))
        made += new
        at = start + len(old)
    return made + before[at:]


@given(LINES, LINES)
def test_the_hunks_lead_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    assert applied(before, patch(text(before), text(after))) == after


def test_equal_texts_have_no_hunk_and_a_change_has_three_lines_around_it() -> None:
    lines = [str(number) for number in range(20)]
    assert patch(text(lines), text(lines)) == []
    (first,) = patch(text(lines), text(["x", *lines[1:]]))
    assert first["lines"] == ["-0", "+x", " 1", " 2", " 3"]
    (middle,) = patch(text(lines), text([*lines[:9], "x", *lines[10:]]))
    assert middle["lines"] == [" 6", " 7", " 8", "-9", "+x", " 10", " 11", " 12"]
    (last,) = patch(text(lines), text([*lines, "x"]))
    assert last["lines"] == [" 17", " 18", " 19", "+x"]


def test_changes_whose_lines_around_meet_are_one_hunk() -> None:
    lines = [str(number) for number in range(30)]

    def hunks(*changed: int) -> int:
        new = ["x" if number in changed else line for number, line in enumerate(lines)]
        return len(patch(text(lines), text(new)))

    assert (hunks(5, 12), hunks(5, 13)) == (1, 2)
