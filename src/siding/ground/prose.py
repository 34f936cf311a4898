"""Render Markdown from outside as harmless HTML: no raw HTML, images, or links to click on.

A person trusts a link in what a model wrote and clicks on it. So its address is shown as text.
"""

from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import Any

LONGEST = 100_000  # characters


def _plain(code: str, _language: str) -> str:
    return escape(code)


def html_of(text: str, *, code: Callable[[str, str], str] = _plain) -> str:
    """Return Markdown as HTML; text beyond LONGEST characters is cut.

    What draws nothing (control characters) has to be spelled out before. `code` returns the HTML of
    a block of code, given its text and its language.
    """
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n\n…"
    try:
        return str(_parser().render(shown, {"code": code, "links": []}))
    except RecursionError:
        return f"<pre>{escape(shown)}</pre>"


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _link_open(_renderer: Any, tokens: Any, index: int, _options: Any, env: Any) -> str:
    env["links"].append(str(tokens[index].attrGet("href") or ""))
    return '<span class="link">'


def _link_close(_renderer: Any, _tokens: Any, _index: int, _options: Any, env: Any) -> str:
    address = env["links"].pop() if env["links"] else ""
    return f'</span> <span class="address">({escape(address)})</span>'


def _cell(_renderer: Any, tokens: Any, index: int, _options: Any, _env: Any) -> str:
    return f"<{tokens[index].tag}>"  # without its style attribute, which our pages refuse


def _fence(_renderer: Any, tokens: Any, index: int, _options: Any, env: Any) -> str:
    token = tokens[index]
    language = token.info.strip().split(" ")[0]
    return f"<pre><code>{env['code'](token.content.rstrip(chr(10)), language)}</code></pre>"


_RULES = {
    "link_open": _link_open,
    "link_close": _link_close,
    "fence": _fence,
    "th_open": _cell,
    "td_open": _cell,
}
