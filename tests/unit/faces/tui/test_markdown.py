"""Markdown that streams in: in whatever pieces it comes, the blocks are the same."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.tui.markdown import Block, Kind, Run, Splitter, inline, split

CORPUS = """# Title of it #

A paragraph that
goes on \\
and on, with **bold** and `code`.
- no blank before the list
- second
  goes on
    - deeper

- after a blank
1. one
2) two

Underlined
==========
and again
---

> quoted
> more
lazy

| a | b |
|---|:-:|
| 1 | 2 |

***

```python title
x = "# no heading"

- no list
~~~
````
after
~~~~
``` inside ```
~~~
~~~~
last words without an end"""

LINES = st.sampled_from(
    [*CORPUS.split("\n"), "", "```", "~~~", "  ", "\tx", "a\r", "---", "| - | - |"]
)


def fed(text: str, size: int) -> list[Block]:
    splitter = Splitter()
    found: list[Block] = []
    for at in range(0, len(text), size):
        found += splitter.feed(text[at : at + size])
    return found + splitter.end()


@pytest.mark.parametrize("size", [1, 7, 12, 10_000])
def test_blocks_do_not_depend_on_how_the_text_is_cut(size: int) -> None:
    assert fed(CORPUS, size) == split(CORPUS)


@given(st.lists(LINES, max_size=12).map("\n".join), st.integers(1, 12))
def test_nor_do_those_of_any_other_text(text: str, size: int) -> None:
    assert fed(text, size) == split(text)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_what_is_open_is_what_the_end_would_make_of_it(text: str) -> None:
    splitter = Splitter()
    splitter.feed(text)
    shown = splitter.open
    assert splitter.open == shown, "looking changes nothing"
    assert splitter.end() == shown


def test_each_kind_is_known() -> None:
    found = split(CORPUS)
    assert Counter(each.kind.value for each in found) == {
        "heading": 3,
        "text": 3,
        "item": 6,
        "blank": 7,
        "quote": 2,
        "table": 3,
        "rule": 1,
        "fence": 4,
        "code": 6,
    }
    assert found[0] == Block(Kind.HEADING, "Title of it", level=1)
    assert found[2].text == "A paragraph that goes on and on, with **bold** and `code`."
    assert [each.text for each in found if each.kind is Kind.ITEM][:2] == [
        "- no blank before the list",
        "- second goes on",
    ]
    assert {each.code for each in found if each.kind is Kind.CODE} == {1, 2}


def test_a_line_of_code_is_final_when_it_ends_and_is_given_once() -> None:
    splitter = Splitter()
    given_away = [len(splitter.feed(piece)) for piece in ("``", "`\nx", " = 1", "\n", "y")]
    assert given_away == [0, 1, 0, 1, 0]
    assert [each.text for each in splitter.open] == ["y"]
    assert [each.text for each in splitter.end()] == ["y"]


def test_code_keeps_its_indent_and_loses_a_carriage_return() -> None:
    assert [each.text for each in split("```\r\n    x  \r\n```\r\n")] == ["", "    x  ", ""]
    assert split("para\r\n\r\nnext\r\n")[0].text == "para"


def test_a_list_that_never_ends_is_not_read_again_and_again() -> None:
    splitter = Splitter()
    longest = 0
    for number in range(200):
        splitter.feed(f"- item {number}\n\n  more of it\n\n")
        longest = max(longest, len(splitter.open))
    assert longest <= 1


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("a **b** c", [("a ", ""), ("b", "bold"), (" c", "")]),
        (
            "*a* _b_ ***c***",
            [("a", "italic"), (" ", ""), ("b", "italic"), (" ", ""), ("c", "bold-italic")],
        ),
        ("**a *b* c**", [("a ", "bold"), ("b", "bold-italic"), (" c", "bold")]),
        ("snake_case_name 2 * 3 * 4", [("snake_case_name 2 * 3 * 4", "")]),
        ("`a*b*` ``c`d``", [("a*b*", "code"), (" ", ""), ("c`d", "code")]),
        ("[here](https://evil.example)", [("here", ""), (" (https://evil.example)", "link")]),
        (
            "![](x.png) <https://a.example>",
            [("x.png", "link"), (" ", ""), ("https://a.example", "link")],
        ),
        (r"\*a\* ~~b~~ **open", [("*a* ", ""), ("b", "strike"), (" **open", "")]),
    ],
)
def test_a_line_has_runs(text: str, runs: list[tuple[str, str]]) -> None:
    assert inline(text) == [Run(*run) for run in runs]


@given(st.text("ab *_`~[]()!\\<>", max_size=40))
def test_no_letter_of_a_line_is_lost(text: str) -> None:
    shown = "".join(run.text for run in inline(text))
    assert [each for each in shown if each in "ab"] == [each for each in text if each in "ab"]
