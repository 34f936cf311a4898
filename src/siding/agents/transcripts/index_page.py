"""Write a list of conversations as one HTML page, which leads to the page of each."""

from collections.abc import Iterable, Iterator, Sequence

from siding.agents.transcripts.page import document, shown
from siding.ground.namedtuples import NamedTuple

GENERATOR = "siding session pages"  # by this a page of ours is known


class IndexEntry(NamedTuple):
    """A conversation in the list. `about` are words such as its client; `parts` its subagents."""

    file: str  # its page, in the same directory
    name: str
    when: str
    about: Sequence[str]
    parts: Sequence[tuple[str, str]] = ()  # file and name of each


def index_page(title: str, entries: Iterable[IndexEntry]) -> Iterator[str]:
    """Yield the page in pieces. Everything from a conversation is escaped and shown as text."""
    head = f'<meta name=generator content="{GENERATOR}">\n'
    yield from document(title, map(_entry, entries), head=head)


def _entry(entry: IndexEntry) -> str:
    about = " · ".join(shown(each) for each in entry.about if each)
    parts = "".join(f"<li>{_link(*part)}</li>" for part in entry.parts)
    below = f"<ul>{parts}</ul>" if parts else ""
    when = f"<time>{shown(entry.when)}</time>"
    return (
        f"<article class=user><h2>{_link(entry.file, entry.name)}</h2>"
        f"<p class=call>{when} {about}</p>{below}</article>\n"
    )


def _link(file: str, name: str) -> str:
    return f'<a href="{shown(file)}">{shown(name)}</a>'
