"""The list of hazards keeps its word: each has a test, and every test it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/hazards.md"


def rows() -> list[tuple[str, list[str]]]:
    """Return the name of every hazard, and the tests behind it."""
    listed = re.findall(r"^- \*\*(.+?):\*\* (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(hazard, re.findall(r"`(tests/[^`\s]+)`", rest)) for hazard, rest in listed]


def test_every_hazard_names_a_test_that_is_there() -> None:
    for hazard, named in rows():
        assert named, f"{hazard} has no test"
        for test in named:
            path, _, name = test.partition("::")
            text = (ROOT / path).read_text(encoding="utf-8")
            there = re.search(rf"^(def {name}\(|{name} = )", text, re.MULTILINE)
            assert there, f"{hazard}: {test} is not there"


def test_no_hazard_of_git_is_forgotten() -> None:
    assert [hazard for hazard, _ in rows()][:15] == [f"H{number}" for number in range(1, 16)]
