"""Templates: whatever they print is escaped, and made inert first, without their asking."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, Undefined
from markupsafe import Markup, escape

from siding.web.inert import inert
from siding.web.words import counted, duration, size


class Page(NamedTuple):
    """A page to be rendered. `watch`: the tasks it shows, "*" for anything of the project."""

    template: str
    title: str
    values: dict[str, Any]
    watch: str = "*"


def _made_inert(value: object) -> object:
    if isinstance(value, Markup) or value is None or isinstance(value, (bool, int, float)):
        return "" if value is None else value
    return inert(str(value))


def _moment(value: str) -> Markup:
    """Return a moment that the browser says in its own words, and keeps up to date."""
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
    "duration": duration,
    "size": size,
    "counted": counted,
    "pretty": _pretty,
}


def render(page: Page) -> bytes:
    """Return a page as a piece of HTML."""
    values = {**page.values, "page": page}
    text = _ENVIRONMENT.get_template(page.template).render(values)
    return text.encode("utf-8", "backslashreplace")


def escaped(text: str) -> str:
    """Return text for HTML that is put together by hand: inert, then escaped."""
    return str(escape(inert(text)))
