"""Render Markdown from outside for a page of the dashboard, with its blocks of code in colours."""

from markupsafe import Markup

from siding.prose import LONGEST, html_of
from siding.web.inert import inert
from siding.web.rendering import escaped
from siding.web.syntax import coloured

__all__ = ["LONGEST", "markdown"]


def markdown(text: str) -> Markup:
    """Return Markdown as harmless HTML; text beyond LONGEST characters is cut."""
    return Markup(html_of(inert(text), code=_code))


def _code(code: str, language: str) -> str:
    lines = code.split("\n")
    rows = coloured(f"x.{_ENDINGS.get(language, language)}", lines)
    return "\n".join(rows or [escaped(line) for line in lines])


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
