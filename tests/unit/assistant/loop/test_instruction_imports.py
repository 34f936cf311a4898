"""Which words of an instruction file are imports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.loop.instructions import imports_of, resolved, spellings

from .trees import HOME, ROOT


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@docs/style.md", ["docs/style.md"]),
        ("See @./a.md and @../b.md.", ["./a.md", "../b.md."]),
        ("- @~/own.md\n- @/etc/x", ["~/own.md", "/etc/x"]),
        ("> @quoted.md", ["quoted.md"]),
        ("* a\n  * @deep/in-a-list.md", ["deep/in-a-list.md"]),
        ("@with\\ blank.md", ["with blank.md"]),
        ("@a.md#part-two", ["a.md"]),
        ("@a.md @a.md @b.md @a.md", ["a.md", "b.md"]),
        ("@.claude/rules.md", [".claude/rules.md"]),
    ],
)
def test_what_is_an_import(text: str, found: list[str]) -> None:
    assert list(imports_of(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "ada@example.org",
        "@",
        "@@twice",
        "@#1 @%x @(a)",
        "@/",
        "@~/",
        "`@a.md`",
        "``a ` @a.md``",
        "```\n@a.md\n```",
        "~~~sh\n@a.md\n",
        "    @a.md",
        "- a list\n\n  ```\n  @a.md\n  ```",
        "> ```\n> @a.md\n> ```",
        "<!--\n@a.md\n-->",
    ],
)
def test_what_is_none(text: str) -> None:
    assert imports_of(text) == ()


@given(st.text("`~@ab. \n>-#*\\<", max_size=80))
def test_what_is_said_in_a_fence_is_never_imported(text: str) -> None:
    """Whatever it is: a fence that is longer than any inside is ended by nothing in there."""
    fence = "`" * (text.count("`") + 3)
    assert imports_of(f"{fence}\n{text}\n{fence}\n@after.md") == ("after.md",)


@given(st.text(max_size=200))
def test_every_text_has_an_answer_without_repetitions(text: str) -> None:
    found = imports_of(text)
    assert len(set(found)) == len(found)
    assert all(f"@{name.split(' ')[0]}" in text for name in found if "\\" not in text)


def test_a_name_at_the_end_of_a_sentence_is_looked_for_without_its_end() -> None:
    assert list(spellings("docs/style.md).")) == ["docs/style.md).", "docs/style.md"]
    assert list(spellings("docs/style.md")) == ["docs/style.md"]
    assert list(spellings("...")) == ["..."]


def test_where_an_import_leads() -> None:
    inside = ROOT / "docs"
    assert resolved("a.md", inside, HOME) == ROOT / "docs" / "a.md"
    assert resolved("../a.md", inside, HOME) == ROOT / "a.md"
    assert resolved("~/a.md", inside, HOME) == HOME / "a.md"
    assert str(resolved("/etc/a.md", inside, HOME)) == "/etc/a.md"
