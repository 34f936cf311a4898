"""The page of a conversation: what a model wrote is Markdown, and harmless."""

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.page import page

SAFE = {
    *("html", "head", "meta", "title", "style", "body", "article", "time", "div", "span", "p"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "code", "em", "strong", "s"),
    *("table", "thead", "tbody", "tr", "th", "td", "blockquote", "hr", "br"),
}
ALLOWED = {"class", "lang", "charset", "http-equiv", "content", "name", "start"}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "![pixel](https://example.org/pixel.png)",
    "<https://example.org> [a]: https://example.org 'x' onload=y",
    "```html onload=alert(1)\n</code></pre><script>\n```",
    "| a |\n|:-:|\n| <b onmouseover=x>b</b> |",
    "> " * 3_000 + "deep",
    "[" * 5_000 + "](x)" * 5_000,
    "\u202eevil\u2066",
]


class Seen(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _value in attrs}


def record(kind: str, text: str) -> dict[str, Any]:
    content = text if kind == "user" else [{"type": "text", "text": text}]
    return {"type": kind, "uuid": "u", "message": {"role": kind, "content": content}}


def of(kind: str, text: str) -> str:
    return "".join(page("a talk", [record(kind, text)]))


def test_what_a_model_wrote_is_markdown() -> None:
    text = of(
        "assistant", "**Done**, see `a.py`:\n\n```python\nx < 1\n```\n\n| a | b |\n|-|-|\n| 1 | 2 |"
    )
    for piece in ("<strong>Done</strong>", "<code>a.py</code>", "x &lt; 1", "<td>2</td>"):
        assert piece in text


def test_what_a_person_typed_stands_as_it_was_typed() -> None:
    assert "<div class=text>**not** bold\n  - and  so\n</div>" in of(
        "user", "**not** bold\n  - and  so\n"
    )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["assistant", "user"])
def test_nothing_of_it_runs_or_is_fetched(text: str, kind: str) -> None:
    seen = Seen(of(kind, text))
    assert seen.tags <= SAFE
    assert seen.attributes <= ALLOWED
    assert "\u202e" not in of(kind, text)


@given(st.text(alphabet="<>&\"'`*_[]()!|-#\n \\:;/jscriptonlad=", max_size=200))
def test_nor_of_any_other_text(text: str) -> None:
    seen = Seen(of("assistant", text))
    assert seen.tags <= SAFE
    assert seen.attributes <= ALLOWED
