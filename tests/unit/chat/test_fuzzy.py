"""Names in the order in which somebody who types expects them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.chat.fuzzy import fitting

NAMES = [
    "src/chat/machine.py",
    "src/main.py",
    "src/",
    "src/domain/main_menu.py",
    "lib/src/map.py",
    "docs/manual.md",
    "README.md",
    "Makefile",
    "a^]b-c.txt",
]


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("src/ma", "src/main.py"),
        ("main", "src/main.py"),
        ("MAIN.PY", "src/main.py"),
        ("make", "Makefile"),
        ("menu", "src/domain/main_menu.py"),
        ("smach", "src/chat/machine.py"),
        ("rdme", "README.md"),
        ("src", "src/"),
        ("^]-", "a^]b-c.txt"),
    ],
)
def test_the_name_that_is_meant_comes_first(typed: str, best: str) -> None:
    assert fitting(NAMES, typed, 3)[0] == best


def test_with_nothing_typed_what_is_least_deep_comes_first() -> None:
    assert fitting(NAMES, "", 2) == ["Makefile", "README.md"]
    assert fitting(NAMES, "zzz", 5) == []


def _has(name: str, typed: str) -> bool:
    rest = iter(name.lower())
    return all(letter in rest for letter in typed.lower())


@given(st.lists(st.text("aAbB/^]-.", max_size=8)), st.text("abB/^]-.", min_size=1, max_size=4))
def test_all_that_fits_is_found_and_nothing_else(names: list[str], typed: str) -> None:
    expected = sorted(name for name in names if _has(name, typed))
    assert sorted(fitting(names, typed, 100)) == expected
