"""The list beside the patch: its files, the comments on it, and since when it is shown. Pure."""

from collections.abc import Sequence

from siding.faces.tui.places.task.changes import From, Since
from siding.faces.tui.places.task.source import PatchSource
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.list import Column, Entry
from siding.faces.tui.rows.styles import TEXT, Look
from siding.faces.tui.text import cells, inert
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

COLUMNS = (Column(1), Column(8, takes_rest=True), Column(7, right=True))
_TAKEN = 14  # columns that the name of a file does not have
FILE, COMMENT, SINCE = "file", "comment", "since"


class Start(NamedTuple):
    """A state since which the patch can be shown, as the person reads it."""

    since: Since
    title: str


class Remark(NamedTuple):
    """A comment in the list. `file` is its number in the patch; -1 if the patch lacks it."""

    id: str
    file: int
    where: str
    state: str
    text: str


def entries(
    source: PatchSource,
    remarks: Sequence[Remark],
    starts: Sequence[Start],
    *,
    width: int,
    look: Look,
) -> list[Entry]:
    """Return the rows of the list, of `width` cells."""
    viewed = sum(source.file(at).mark == "viewed" for at in range(len(source.change.parts)))
    files = f"FILES {viewed}/{len(source.change.parts)} viewed"
    found = [
        _file(source, at, remarks, files, width=width, look=look)
        for at in range(len(source.change.parts))
    ]
    drafts = sum(each.state in ("draft", "stale") for each in remarks)
    title = f"COMMENTS {counted(drafts, 'draft')}" if drafts else "COMMENTS"
    for each in remarks:
        style = "warn" if each.state == "stale" else "comment"
        text = f"{inert(each.where)} {each.state}: {inert(each.text.partition(chr(10))[0])}"
        found.append(Entry(f"{COMMENT}:{each.id}", ([], [(text, style)], []), title))
    for start in starts:
        is_this = start.since == source.change.since
        mark = [(look.mark("cursor") if is_this else " ", "waits")]
        key = f"{SINCE}:{start.since.kind.value}:{start.since.first}"
        style = "bold" if is_this else TEXT
        found.append(Entry(key, (mark, [(inert(start.title), style)], []), "SINCE"))
    return found


def _file(
    source: PatchSource,
    at: int,
    remarks: Sequence[Remark],
    section: str,
    *,
    width: int,
    look: Look,
) -> Entry:
    part, own = source.part(at), source.file(at)
    style = {"viewed": "good", "changed": "warn"}.get(own.mark, TEXT)
    mark: Pieces = [(look.mark(own.mark), style)] if own.mark else []
    count = sum(each.file == at for each in remarks)
    said = f" ({count})" if count else ""
    room = max(8, width - _TAKEN - len(said))
    name: Pieces = [(from_end(inert(part.path), room, look), TEXT), (said, "comment")]
    if part.is_binary:
        figures: Pieces = [("bin", "dim")]
    else:
        figures = [(f"+{part.additions}" if part.additions else "", "good")]
        if part.deletions:
            space = " " if part.additions else ""
            figures.append((f"{space}-{part.deletions}", "bad"))
    return Entry(f"{FILE}:{at}", (mark, name, figures), section)


def from_end(text: str, width: int, look: Look) -> str:
    """Return a path with its end, which says most of it, in at most `width` cells."""
    if cells(text) <= width:
        return text
    dots = look.mark("ellipsis")
    kept = text
    while kept and cells(kept) > width - cells(dots):
        kept = kept[1:]
    head, slash, tail = kept.partition("/")
    if slash and tail and len(head) < width // 3:  # begin with a whole name, if one is near
        kept = f"/{tail}"
    return dots + kept


def since_of(key: str) -> Since | None:
    """Return what an entry's key chooses; None for another kind of entry."""
    kind, _colon, rest = key.partition(":")
    if kind != SINCE:
        return None
    word, _colon, first = rest.partition(":")
    return Since(From(word), first)
