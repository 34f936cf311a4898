"""Render Markdown from outside for a page of the dashboard, with its blocks of code in colours."""

from markupsafe import Markup

from siding.faces.web.inert import inert
from siding.faces.web.rendering import escaped
from siding.faces.web.syntax import coloured
from siding.ground.prose import LONGEST, html_of

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
