"""The rows of a patch as the screen counts them: titles, hunks, lines, comments, folds. No Textual.

Of a line nothing is kept but where its hunk begins: its text is read from the patch on the disk
when it is drawn. So a patch of 100,000 lines costs what its hunks cost.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from siding.faces.tui.colours.packed import FileColours
from siding.faces.tui.places.task.changes import Change, Since
from siding.faces.tui.rows.patch import PatchRow
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look
from siding.faces.tui.text import Span as StyleSpan
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.record.recording.patch_hunks import HunkAt, hunks_of
from siding.record.recording.recorded_patches import (
    MARK_EVERY,
    FilePart,
    Row,
    rows_of,
)

_KEPT = 48  # windows of rows
_STATUS = {"A": "new", "D": "deleted", "R": "renamed", "C": "copied", "T": "other type"}


class Note(NamedTuple):
    """A comment at its place: `line` is the last one that it is about; 0 if that is not found."""

    id: str
    is_old: bool
    line: int
    title: str
    text: str


class File(NamedTuple):
    """What the screen knows of a file besides its patch.

    `mark` is the name of a mark, "" for none; so are those of `hunk_marks`, in their order.
    `folded` shows the title alone, `opened` are the folds that show their lines.
    """

    mark: str = ""
    hunk_marks: Sequence[str] = ()
    comments: Sequence[Note] = ()
    folded: bool = False
    opened: frozenset[int] = frozenset()
    hides: frozenset[int] = frozenset()  # hunks in which only white space changed


class Segment(NamedTuple):
    """Items that follow each other. `first` is the first row of the patch, or of the file's lines.

    `kind` is file, note, fold, open (the lines of a fold), rows, or comment.
    """

    kind: str
    file: int
    hunk: int
    first: int
    size: int
    ref: int = 0


class At(NamedTuple):
    """What is at an item: its file, hunk (-1 in front of all), and row of the patch (-1: none)."""

    kind: str
    file: int
    hunk: int
    row: int
    comment: str = ""
    fold: int = -1


class Shape:
    """The files of a change with their hunks. Made once, in a thread."""

    def __init__(self, change: Change) -> None:
        self.change = change
        span = change.span
        self.hunks: list[list[HunkAt]] = [
            [] if span is None else hunks_of(span, part) for part in change.parts
        ]
        self._windows: OrderedDict[tuple[int, int], list[Row]] = OrderedDict()

    def row(self, file: int, number: int) -> Row:
        """Return a row of the patch. Raises OSError if it is gone from the cache."""
        window, place = divmod(number, MARK_EVERY)
        found = self._windows.get((file, window))
        if found is None:
            assert self.change.span is not None
            part = self.change.parts[file]
            found = rows_of(self.change.span, part, window * MARK_EVERY, MARK_EVERY)
            self._windows[(file, window)] = found
            if len(self._windows) > _KEPT:
                self._windows.popitem(last=False)
        else:
            self._windows.move_to_end((file, window))
        return found[place]

    def row_near(self, file: int, line: int, *, is_old: bool) -> int:
        """Return the row from which on a line of one side stands, if it does: in its window."""
        marks = self.change.parts[file].marks
        numbers = [mark.old if is_old else mark.new for mark in marks]
        at = bisect_right(numbers, line) - 1
        return marks[at].row if at >= 0 else 0

    def row_of_line(self, file: int, line: int, *, is_old: bool) -> int:
        """Return the row of a line of one side; -1 if none is it. Reads a window or two."""
        first, end = self.row_near(file, line, is_old=is_old), self.change.parts[file].rows
        for number in range(first, min(end, first + 2 * MARK_EVERY)):
            row = self.row(file, number)
            found = row.old if is_old else row.new
            if row.kind != "hunk" and found is not None and found >= line:
                return number if found == line else -1
        return -1

    def gap(self, file: int, hunk: int) -> tuple[int, int, int]:
        """Return the lines before a hunk that the patch leaves out: old and new start, how many.

        The hunk after the last one stands for the end of the file: how many is -1, unknown.
        """
        hunks = self.hunks[file]
        old = new = 1
        if hunk:
            before = hunks[hunk - 1]
            old, new = _end(before.old, before.old_count), _end(before.new, before.new_count)
        if hunk == len(hunks):
            return old, new, -1
        here = hunks[hunk]
        return old, new, max(0, _begin(here.new, here.new_count) - new)

    def rows_in(self, file: int, hunk: int) -> tuple[int, int]:
        """Return the first row of a hunk, its header, and the row after its last one."""
        hunks = self.hunks[file]
        last = hunk + 1 == len(hunks)
        return hunks[hunk].row, self.change.parts[file].rows if last else hunks[hunk + 1].row


def _begin(start: int, count: int) -> int:
    """Return the first line of a hunk's side; git says the line before for one without lines."""
    return start if count else start + 1


def _end(start: int, count: int) -> int:
    return start + count if count else start + 1


class PatchSource:
    """The rows of a patch, in the form that `PatchView` draws."""

    def __init__(
        self,
        shape: Shape,
        files: Mapping[int, File] | None = None,
        texts: Mapping[int, Sequence[str]] | None = None,
        look: Look = PLAIN_LOOK,
    ) -> None:
        self.shape = shape
        self.change = shape.change
        self.look = look
        self.files = dict(files or {})
        self.texts = dict(texts or {})  # the lines of files that were opened, of their new side
        # of both sides of files: that before the change, and that after it
        self.colours: dict[int, tuple[FileColours | None, FileColours | None]] = {}
        self._segments: list[Segment] = []
        for number in range(len(self.change.parts)):
            self._segments += self._of_file(number)
        if self.change.notes:
            self._segments.append(Segment("note", -1, -1, 0, len(self.change.notes)))
        self._starts = [0]
        for each in self._segments:
            self._starts.append(self._starts[-1] + each.size)

    @classmethod
    def empty(cls) -> "PatchSource":
        """Return the rows of no patch."""
        return cls(Shape(Change(Since(), "", "", "", None, ())))

    def __len__(self) -> int:
        return self._starts[-1]

    def file(self, number: int) -> File:
        return self.files.get(number, File())

    def part(self, number: int) -> FilePart:
        return self.change.parts[number]

    # What the rows are

    def _of_file(self, number: int) -> list[Segment]:
        part, own = self.part(number), self.file(number)
        found = [Segment("file", number, -1, 0, 1)]
        if own.folded:
            return found
        hunks = self.shape.hunks[number]
        notes = len(_notes(part))
        if notes:
            found.append(Segment("note", number, -1, 0, notes))
        placed = {id(note): self._row_of_line(number, note) for note in own.comments}
        for at, note in enumerate(own.comments):
            if placed[id(note)] < 0:
                found.append(self._comment(number, -1, at, note))
        for hunk in range(len(hunks)):
            found += self._gap(number, hunk)
            first, end = self.shape.rows_in(number, hunk)
            if hunk in own.hides:
                found.append(Segment("rows", number, hunk, first, 1))
                continue
            found += self._lines(number, hunk, first, end, placed)
        if hunks and part.status in ("M", "R", "C"):
            found += self._gap(number, len(hunks))
        return found

    def _lines(
        self, number: int, hunk: int, first: int, end: int, placed: Mapping[int, int]
    ) -> list[Segment]:
        """Return the rows of a hunk, cut where comments stand."""
        found: list[Segment] = []
        inside = [
            (row, at, note)
            for at, note in enumerate(self.file(number).comments)
            if first <= (row := placed[id(note)]) < end
        ]
        for row, at, note in sorted(inside, key=lambda each: each[:2]):
            if row >= first:
                found.append(Segment("rows", number, hunk, first, row + 1 - first))
                first = row + 1
            found.append(self._comment(number, hunk, at, note))
        if first < end:
            found.append(Segment("rows", number, hunk, first, end - first))
        return found

    def _comment(self, number: int, hunk: int, at: int, note: Note) -> Segment:
        return Segment("comment", number, hunk, 0, len(_comment_lines(note)), at)

    def _gap(self, number: int, hunk: int) -> list[Segment]:
        old, new, count = self.shape.gap(number, hunk)
        del old
        if hunk in self.file(number).opened and number in self.texts:
            if count < 0:
                count = max(0, len(self.texts[number]) - new + 1)
            return [Segment("open", number, hunk, new, count)] if count else []
        return [Segment("fold", number, hunk, 0, 1)] if count else []

    def _row_of_line(self, number: int, note: Note) -> int:
        """Return the row of the patch that a comment stands below; -1 if none shows its line."""
        if note.line <= 0:
            return -1
        for hunk, each in enumerate(self.shape.hunks[number]):
            start, count = (each.old, each.old_count) if note.is_old else (each.new, each.new_count)
            if not start <= note.line < start + count or hunk in self.file(number).hides:
                continue
            return self.shape.row_of_line(number, note.line, is_old=note.is_old)
        return -1

    # What is at an item

    def segment(self, item: int) -> tuple[Segment, int]:
        """Return the segment of an item, and the item's place in it."""
        at = bisect_right(self._starts, item) - 1
        return self._segments[at], item - self._starts[at]

    def at(self, item: int) -> At:
        """Return what is at an item."""
        segment, place = self.segment(item)
        kind, file, hunk = segment.kind, segment.file, segment.hunk
        if kind == "rows":
            return At("line", file, hunk, segment.first + place)
        if kind == "comment":
            return At(kind, file, hunk, -1, comment=self.file(file).comments[segment.ref].id)
        return At(kind, file, hunk, -1, fold=hunk if kind in ("fold", "open") else -1)

    def __getitem__(self, item: int) -> PatchRow:
        segment, place = self.segment(item)
        file, hunk = segment.file, segment.hunk
        match segment.kind:
            case "file":
                return self._title(file)
            case "note" if file < 0:
                return PatchRow("note", None, None, self.change.notes[place])
            case "note":
                return PatchRow("note", None, None, _notes(self.part(file))[place])
            case "comment":
                note = self.file(file).comments[segment.ref]
                return PatchRow("comment", None, None, _comment_lines(note)[place])
            case "fold":
                return self._fold(file, hunk)
            case "open":
                return self._opened(file, hunk, place)
            case _:
                return self._line(file, hunk, segment.first + place)

    def _title(self, file: int) -> PatchRow:
        part, own = self.part(file), self.file(file)
        arrow = "->" if self.look.is_ascii else "→"
        is_same = part.old_name == part.name
        name = part.path if is_same else f"{part.old_path} {arrow} {part.path}"
        figures = "binary" if part.is_binary else f"+{part.additions} -{part.deletions}"
        word = _STATUS.get(part.status, "")
        folded = counted(part.rows, "row") + " folded" if own.folded and part.rows else ""
        text = "  ".join(filter(None, (name, figures, word, folded)))
        return PatchRow("file", None, None, text + _said(own.mark), mark=self._mark(own.mark))

    def _mark(self, name: str) -> str:
        return self.look.mark(name) if name else ""

    def _fold(self, file: int, hunk: int) -> PatchRow:
        _old, _new, count = self.shape.gap(file, hunk)
        what = "the rest of the file" if count < 0 else counted(count, "line")
        return PatchRow("fold", None, None, f"{what}, enter opens")

    def _opened(self, file: int, hunk: int, place: int) -> PatchRow:
        old, new, _count = self.shape.gap(file, hunk)
        line = new + place
        texts = self.texts[file]
        text = texts[line - 1] if line <= len(texts) else ""
        return PatchRow("same", old + place, line, text, self._spans(file, None, line))

    def _line(self, file: int, hunk: int, number: int) -> PatchRow:
        try:
            row = self.shape.row(file, number)
        except (OSError, IndexError):
            return PatchRow(
                "note", None, None, "this patch is gone from the cache: r reads it again"
            )
        if row.kind == "hunk":
            marks = self.file(file).hunk_marks
            mark = marks[hunk] if hunk < len(marks) else ""
            hidden = "  only white space, w shows it" if hunk in self.file(file).hides else ""
            text = row.text + hidden + _said(mark)
            return PatchRow("hunk", None, None, text, mark=self._mark(mark))
        if row.kind == "note":
            return PatchRow("note", None, None, row.text)
        spans = self._spans(file, row.old, row.new)
        return PatchRow(row.kind, row.old, row.new, self.text(row), spans)

    @staticmethod
    def text(row: Row) -> str:
        """Return the text of a row as it is shown."""
        more = f" … {counted(row.more, 'byte')} more" if row.more else ""
        return row.text + more

    def _spans(self, file: int, old: int | None, new: int | None) -> Sequence[StyleSpan] | None:
        colours = self.colours.get(file)
        if colours is None:
            return None
        side, line = (colours[1], new) if new is not None else (colours[0], old)
        return None if side is None or line is None else side.line(line)

    # Where something is

    def item_of(self, file: int, *, row: int = -1, hunk: int = -1, comment: str = "") -> int:
        """Return the item of a file's title, or of a row, hunk or comment in it; -1 for none."""
        for segment, start in zip(self._segments, self._starts, strict=False):
            if segment.file != file:
                continue
            if comment:
                is_it = segment.kind == "comment"
                if is_it and self.file(file).comments[segment.ref].id == comment:
                    return start
            elif row >= 0:
                if segment.kind == "rows" and segment.first <= row < segment.first + segment.size:
                    return start + row - segment.first
            elif hunk >= 0:
                if segment.kind == "rows" and segment.hunk == hunk:
                    return start
            elif segment.kind == "file":
                return start
        return -1

    def item_of_fold(self, file: int, fold: int, line: int) -> int:
        """Return the item of a fold; while it is open that of a line of it. -1 if it is gone."""
        for segment, start in zip(self._segments, self._starts, strict=False):
            if (segment.file, segment.hunk) == (file, fold) and segment.kind in ("fold", "open"):
                return start + max(0, min(segment.size - 1, line - segment.first))
        return -1

    def lines_of(self, items: Sequence[int]) -> tuple[int, bool, int, int] | None:
        """Return what a comment on these items is about: file, old side?, first and last line.

        None if they are of several files, or no line is among them. Deleted lines alone are of the
        old side; else those of the new side count.
        """
        rows = [
            (at.file, row)
            for item in items
            for at, row in ((self.at(item), self[item]),)
            if row.kind in ("same", "add", "delete")
        ]
        if not rows or len({file for file, _row in rows}) != 1:
            return None
        news = [row.new for _file, row in rows if row.new is not None]
        olds = [row.old for _file, row in rows if row.old is not None]
        is_old = not news
        lines = olds if is_old else news
        return rows[0][0], is_old, min(lines), max(lines)


def _said(mark: str) -> str:
    return "  changed since you viewed it" if mark == "changed" else ""


def _notes(part: FilePart) -> list[str]:
    """Return the rows below a file's title: changed modes, and why there are no lines."""
    found = [each for each in part.notes if not each.startswith("similarity")]
    if part.is_binary:
        found.append("binary: its bytes differ, and there are no lines to show")
    elif not part.rows and part.status in ("A", "D"):
        found.append("an empty file")
    return found


def _comment_lines(note: Note) -> list[str]:
    return [note.title, *(note.text.split("\n") or [""]), "e edit · d delete"]
