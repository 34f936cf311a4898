"""Markdown from outside becomes HTML that does nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.web.syntax import markdown

ALLOWED = re.compile(
    r"</?(?:p|em|strong|code|pre|ul|ol|li|blockquote|h[1-6]|hr|br|table|thead|tbody|tr|th|td|s)"
    r'(?: start="\d+")? ?/?>|</?span(?: class="(?:link|address|k-[a-z])")?>'
)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=1>",
        "[x](javascript:alert(1))",
        "![x](https://evil.example/x.png)",
        "[x](https://evil.example)",
        "<https://evil.example>",
        "| a |\n|:-:|\n| b |",
        "```html\n<script>1</script>\n```",
        "    <b>indented</b>",
        "[x]: javascript:1\n\n[x]",
        "&lt;script&gt;",
        "\u202e\u2066 reversed",
        "1. a\n\n3) b",
        "a\\\nb  \nc",
        "~~gone~~",
        "<!-- c --> <?php ?> <![CDATA[x]]>",
    ],
)
def test_only_known_tags_without_attributes_come_out(text: str) -> None:
    assert "<" not in ALLOWED.sub("", markdown(text))
    assert "\u202e" not in markdown(text)


def test_code_of_a_language_that_nobody_knows_is_shown_plain() -> None:
    shown = markdown("```nothing-known\na < b\n```")
    assert "<pre><code>a &lt; b</code></pre>" in shown
    assert '<span class="k-n">1</span>' in markdown("```python\nx = 1\n```")


@given(st.text(alphabet="<>[]()!`*_~|#-&;:/\\ \nabc\u202e\"'", max_size=120))
def test_any_text_is_safe(text: str) -> None:
    assert "<" not in ALLOWED.sub("", markdown(text))


def test_where_a_link_leads_is_said_and_not_followed() -> None:
    html = markdown("[the docs](https://example.org/x?a=1&b=2)")
    assert "https://example.org/x?a=1&amp;b=2" in html
    assert "href" not in html
