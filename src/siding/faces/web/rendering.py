"""Render templates. Every value they print is first made inert, then escaped."""

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Undefined
from markupsafe import Markup, escape

from siding.asking.views import moment_iso
from siding.faces.web.text import duration, inert, size
from siding.ground.errors import counted
from siding.ground.ids import run_or_step
from siding.ground.namedtuples import NamedTuple
from siding.usage.brief import brief, tokens_of
from siding.workflows.acts.views import format_dollars, format_duration, format_token_count


class Page(NamedTuple):
    """A page to render.

    `watch` is the id of the task whose changes reload the page, "*" for any change in the project,
    "" for none.
    """

    template: str
    title: str
    values: dict[str, Any]
    watch: str = "*"


def _made_inert(value: object) -> object:
    if isinstance(value, Markup) or value is None or isinstance(value, (bool, int, float)):
        return "" if value is None else value
    return inert(str(value))


def _moment(value: str) -> Markup:
    """Return a <time> element for an ISO time; the page's script shows it as "3 minutes ago"."""
    if not value:
        return Markup('<span class="faint">-</span>')
    return Markup('<time datetime="{0}">{0}</time>').format(inert(value))


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=Undefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_made_inert,
)
_ENVIRONMENT.filters |= {
    "moment": _moment,
    "run_or_step": run_or_step,
    "duration": duration,
    "size": size,
    "counted": counted,
    "pretty": _pretty,
    "tokens": tokens_of,
    "token_count": format_token_count,
    "dollars": format_dollars,
    "took": format_duration,
    "at_ms": lambda milliseconds: _moment(moment_iso(milliseconds)),
    "used": lambda step: brief(step.usage),
}


def render(page: Page) -> bytes:
    """Return a page as a piece of HTML."""
    values = {**page.values, "page": page}
    text = _ENVIRONMENT.get_template(page.template).render(values)
    return text.encode("utf-8", "backslashreplace")


def escaped(text: str) -> str:
    """Return text made inert and escaped, for HTML that does not come from a template."""
    return str(escape(inert(text)))
