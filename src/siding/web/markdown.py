"""Render Markdown from outside without raw HTML, images or clickable links.

A person trusts a link in an agent's question and clicks on it. So its address is shown as text.
"""

from functools import lru_cache
from typing import Any

from markupsafe import Markup

from siding.web.inert import inert
from siding.web.rendering import escaped
from siding.web.syntax import coloured

LONGEST = 100_000  # characters


def markdown(text: str) -> Markup:
    """Return Markdown as harmless HTML; text beyond LONGEST characters is cut."""
    shown = inert(text[:LONGEST])
    if len(text) > LONGEST:
        shown += "\n\n…"
    try:
        return Markup(_parser().render(shown))
    except RecursionError:
        return Markup("<pre>{}</pre>").format(shown)


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _link_open(_renderer: Any, tokens: Any, index: int, _options: Any, env: Any) -> str:
    env.setdefault("links", []).append(str(tokens[index].attrGet("href") or ""))
    return '<span class="link">'


def _link_close(_renderer: Any, _tokens: Any, _index: int, _options: Any, env: Any) -> str:
    address = env["links"].pop() if env.get("links") else ""
    return str(Markup('</span> <span class="address">({})</span>').format(address))


def _cell(_renderer: Any, tokens: Any, index: int, _options: Any, _env: Any) -> str:
    return f"<{tokens[index].tag}>"  # without its style attribute, which our CSP would refuse


def _fence(_renderer: Any, tokens: Any, index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    language = token.info.strip().split(" ")[0]
    ending = _ENDINGS.get(language, language)
    lines = token.content.rstrip("\n").split("\n")
    rows = coloured(f"x.{ending}", lines) or [escaped(line) for line in lines]
    return f"<pre><code>{chr(10).join(rows)}</code></pre>"


_RULES = {
    "link_open": _link_open,
    "link_close": _link_close,
    "fence": _fence,
    "th_open": _cell,
    "td_open": _cell,
}
_ENDINGS = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "rust": "rs",
    "bash": "sh",
    "shell": "sh",
    "console": "sh",
    "ruby": "rb",
    "golang": "go",
    "yaml": "yml",
}
