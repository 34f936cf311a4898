"""The tab of the patch: its lines, and beside them files, comments, and since when it is shown."""

from typing import ClassVar

from textual.app import ComposeResult

from siding.faces.tui.colours.colours import Colours
from siding.faces.tui.keys import Key
from siding.faces.tui.places.task.anchors import Anchor, anchor_of, far, near
from siding.faces.tui.places.task.changes import Since, text_of
from siding.faces.tui.places.task.comment_acts import CommentActs
from siding.faces.tui.places.task.keys import OF_PATCH
from siding.faces.tui.places.task.patch_loading import Loaded, load, load_first
from siding.faces.tui.places.task.reading import (
    PatchRead,
    files_of,
    hunks_at,
    lines_of_file,
    remarks_of,
)
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.source import At, File, PatchSource
from siding.faces.tui.places.task.tab import TaskPage
from siding.faces.tui.places.task.tree import COLUMNS, COMMENT, FILE, entries, since_of
from siding.faces.tui.places.task.white import white_hunks
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.list import ListView
from siding.faces.tui.rows.patch import PatchView
from siding.faces.tui.rows.styles import TEXT
from siding.ground.errors import counted
from siding.looks.marking import unview, view
from siding.looks.marks import FileSeen
from siding.looks.since import keep_look

_BESIDE = 80  # columns from which the list stands beside the patch
_LIST = 32  # columns of the list


class PatchTab(CommentActs):
    """Shows a change of the task. `since` says which."""

    NAME = "patch"
    KEYS: ClassVar[tuple[Key, ...]] = OF_PATCH

    def __init__(self, page: TaskPage) -> None:
        super().__init__(page)
        self.lines = PatchView(id="lines")
        self.list = ListView(COLUMNS, id="files")
        self.since = Since()
        self.loaded: PatchRead | None = None
        self.source = PatchSource.empty()
        self._seen: list[FileSeen] = []
        self._files: dict[int, File] = {}
        self._texts: dict[int, list[str]] = {}
        self._hides_white = False
        self._reading = self._again = self._is_read = False
        self._columns = 100
        self.has_range = False
        self._colours: Colours | None = None
        self._asked: set[tuple[str, int]] = set()  # files whose colours were asked for
        self.wanted_hunk: tuple[str, int] | None = None  # to go to once its patch is there

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.lines

    @property
    def rows(self) -> Rows:
        return self.list if self.list.has_focus else self.lines

    def status(self) -> str:
        """Return what is shown, where the cursor is in it, and how much is viewed."""
        if self.loaded is None:
            return "reading"
        change = self.source.change
        known = "" if self.loaded.is_whole else ", recorded steps only"
        if not change.parts:
            return f"{change.title}: no file differs{known}"
        figures = f"+{change.additions} -{change.deletions}"
        return (
            f"{change.title}{known}  {counted(len(change.parts), 'file')} {figures}{self._where()}"
        )

    def _where(self) -> str:
        item = self.lines.cursor
        if not 0 <= item < len(self.source) or (at := self.source.at(item)).file < 0:
            return ""
        hunks = len(self.source.shape.hunks[at.file])
        hunk = f"  hunk {at.hunk + 1} of {hunks}" if at.hunk >= 0 and hunks else ""
        return f"  {self.source.part(at.file).path}{hunk}"

    # Reading

    def read(self) -> None:
        """Read the patch: first as it is recorded, then as it is now."""
        if self._reading:
            self._again = True
            return
        self._reading = True
        opened, since, before = self.page.opened, self.since, self.loaded
        if before is None and since == Since():
            self.page.port.work(lambda: load_first(opened), then=self._take_first)
        files = dict(self._files)

        def work() -> Loaded | None:
            try:
                return load(opened, since, before, files)
            finally:
                self._reading = False

        self.page.port.work(work, then=self._take)

    def _take_first(self, loaded: Loaded | None) -> None:
        if loaded is not None and self.loaded is None and self.since == Since():
            self._show(loaded)

    def _take(self, loaded: Loaded | None) -> None:
        again, self._again = self._again, False
        if loaded is not None and loaded.read.change.since == self.since:
            self._show(loaded)
        if again or loaded is None:
            self.read()

    def _show(self, loaded: Loaded) -> None:
        """Show what was read, at the place where the person was in what was shown before."""
        same = self.loaded is not None and self.loaded.change.span == loaded.read.change.span
        if not same:
            self._texts = {}
            loaded = loaded._replace(
                files={n: file._replace(opened=frozenset()) for n, file in loaded.files.items()}
            )
        is_new = loaded.read.shape is not self.source.shape or loaded.files != self._files
        self.loaded, self._seen = loaded.read, loaded.seen
        if is_new:
            self._put(loaded.files)
        else:
            self.show_list()
            self.page.told()

    def _put(self, files: dict[int, File]) -> None:
        assert self.loaded is not None
        self._files = files
        shape = self.loaded.shape
        if shape is not self.source.shape and self._hides_white:
            self.page.port.work(lambda: white_hunks(shape), then=self._hide_white)
        self._renew(PatchSource(shape, files, self._texts, self.lines.look))

    def _renew(self, source: PatchSource) -> None:
        """Put other rows in the place of those that are shown; cursor and place stay on theirs."""
        old, lines = self.source, self.lines
        cursor, place = anchor_of(old, lines.cursor), lines.place
        above = next((y for y in range(lines.size.height) if lines.item_at(y) == lines.cursor), -1)
        top = anchor_of(old, place.item)
        if source.shape is old.shape:
            source.colours = old.colours
        else:
            self._asked = set()
        self.source = source
        lines.show(source)
        at, first = near(cursor, source), near(top, source)
        lines.stand_on(at.item if at.item >= 0 else min(len(source), 1) - 1)
        if at.item >= 0 and above >= 0:  # the line under the cursor stays where it is on the screen
            lines.go_to_item(at.item, above=above)
        elif first.item >= 0:
            lines.go_to_place(place._replace(item=first.item))
        if cursor is not None and not at.is_sure:
            self._follow(cursor, source, above)
        self.show_list()
        self.page.told()
        self.call_after_refresh(self.on_scrolled_moved)
        if self.wanted_hunk is not None and len(source):
            wanted, self.wanted_hunk = self.wanted_hunk, None
            self.go_to_hunk(*wanted)

    def _follow(self, cursor: Anchor, source: PatchSource, above: int) -> None:
        """Look for what was under the cursor in its whole file; go there if nobody has moved."""
        lines, before = self.lines, self.lines.cursor

        def then(item: int) -> None:
            if self.source is source and lines.cursor == before and item not in (-1, before):
                lines.stand_on(item)
                lines.go_to_item(item, above=max(0, above))

        self.page.port.work(lambda: far(cursor, source), then=then)

    def show_list(self) -> None:
        """Draw the list beside the patch anew."""
        if self.loaded is None:
            return
        width = _LIST if self._columns >= _BESIDE else self._columns
        remarks = remarks_of(self.loaded)
        found = entries(self.source, remarks, self.loaded.starts, width=width, look=self.list.look)
        self.list.show(found)

    def on_scrolled_moved(self) -> None:
        """Ask for the colours of the files that are on the screen."""
        source, height = self.source, self.lines.size.height
        if self.loaded is None or not len(source):
            return
        first = self.lines.item_at(0)
        last = self.lines.item_at(max(0, height - 1))
        items = range(max(0, first), (last if last >= 0 else len(source) - 1) + 1)
        for file in {source.at(item).file for item in items} - {-1}:
            key = (source.part(file).new_blob or source.part(file).old_blob, file)
            if key not in self._asked and not source.part(file).is_binary:
                self._asked.add(key)
                self.run_worker(self._colour(file), exclusive=False)

    async def _colour(self, file: int) -> None:
        """Have both sides of a file coloured, and draw it anew."""
        opened, source = self.page.opened, self.source
        part = source.part(file)
        if self._colours is None:
            self._colours = Colours(opened.project.app.env)
        project, task = opened
        old = await self._colours.find(
            part.old_blob, part.old_name, lambda: text_of(project, task, part, old=True)
        )
        new = await self._colours.find(
            part.new_blob, part.name, lambda: text_of(project, task, part)
        )
        if self.source.shape is source.shape and (old or new):
            self.source.colours[file] = (old, new)
            self.lines.coloured()

    async def on_unmount(self) -> None:
        """End what finds colours."""
        if self._colours is not None:
            await self._colours.close()

    def changed(self) -> None:
        """Read again what grows while the task goes on."""
        if self.since.follows:
            self.read()

    def show_since(self, since: Since) -> None:
        """Show another change."""
        self.since_wanted(since)
        self.lines.focus()

    def since_wanted(self, since: Since) -> None:
        """Read another change, in place of the one that is shown."""
        if since != self.since:
            self.since = since
            self.loaded = None
            self._files, self._texts, self._seen = {}, {}, []
            self._again = self._reading
            self._renew(PatchSource.empty())
            self.read()

    def leaves_list(self) -> bool:
        """Under 80 columns: go from the list to the patch; False if it is shown already."""
        if self._columns >= _BESIDE or self.lines.display:
            return False
        self.act_lines()
        return True

    def entered(self) -> None:
        self.lines.focus()
        self._is_read = True

    def left(self) -> None:
        """Keep what was seen: the next time it is known what has changed since."""
        if self._is_read and self.loaded is not None and self.loaded.is_whole:
            opened = self.page.opened
            self.page.port.work(lambda: keep_look(opened.project, opened.task.id))
        self._is_read = False

    def fit(self, columns: int) -> None:
        """Under 80 columns the list takes the place of the patch while it has the focus."""
        self._columns = columns
        beside = columns >= _BESIDE
        in_list = self.list.has_focus
        self.list.display = beside or in_list
        self.lines.display = beside or not in_list
        self.list.styles.width = _LIST if beside else "1fr"
        self.show_list()

    # Moving

    def act_next_hunk(self) -> None:
        self.lines.jump("hunk", 1)

    def act_previous_hunk(self) -> None:
        self.lines.jump("hunk", -1)

    def act_next_file(self) -> None:
        self.lines.jump("file", 1)

    def act_previous_file(self) -> None:
        self.lines.jump("file", -1)

    def act_range(self) -> None:
        """Begin a range at the cursor, or end the one that there is."""
        ends = len(self.lines.chosen_range) > 1 or self.has_range
        self.has_range = not ends
        self.lines.end_range() if ends else self.lines.begin_range()

    def act_list(self) -> None:
        self.list.display = True
        self.list.focus()
        if self._columns < _BESIDE:
            self.lines.display = False
        if self.list.cursor < 0:
            at = self._at()
            self.list.stand_on_key(f"{FILE}:{max(0, at.file if at else 0)}")

    def act_lines(self) -> None:
        self.lines.display = True
        self.lines.focus()
        if self._columns < _BESIDE:
            self.list.display = False

    def act_open(self) -> None:
        """Open a fold or a folded file; in the list go to what the cursor is on."""
        if self.list.has_focus:
            self._open_entry(self.list.key or "")
            return
        at = self._at()
        if at is None or at.file < 0:
            return
        if at.kind in ("fold", "open"):
            self._toggle_fold(at)
        elif at.kind == "file" and self.source.file(at.file).folded:
            self.act_fold()

    def _open_entry(self, key: str) -> None:
        since = since_of(key)
        kind, _colon, rest = key.partition(":")
        if since is not None:
            self.show_since(since)
        elif kind == FILE:
            self._go_to(self.source.item_of(int(rest)))
        elif kind == COMMENT and self.loaded is not None:
            file = next((r.file for r in remarks_of(self.loaded) if r.id == rest), -1)
            self._go_to(self.source.item_of(file, comment=rest) if file >= 0 else -1)
            if file < 0:
                self.page.port.say("its file is not in this patch")

    def _go_to(self, item: int) -> None:
        if item >= 0:
            self.act_lines()
            self.lines.stand_on(item)
            self.lines.go_to_item(item, above=1)

    def go_to_hunk(self, path: str, hunk: int) -> None:
        """Go to a hunk of a file by its place, from 1 on; to the file if it has no such hunk."""
        for number, part in enumerate(self.source.change.parts):
            if part.path == path:
                item = self.source.item_of(number, hunk=hunk - 1)
                self._go_to(item if item >= 0 else self.source.item_of(number))

    # Folds

    def _toggle_fold(self, at: At) -> None:
        own = self.source.file(at.file)
        opened = own.opened ^ {at.fold}
        if at.file in self._texts or at.fold in own.opened:
            self._change(at.file, own._replace(opened=opened))
            return
        task, loaded = self.page.opened, self.loaded
        assert loaded is not None

        def then(texts: list[str]) -> None:
            if self.loaded is loaded:
                self._texts[at.file] = texts
                self._change(at.file, own._replace(opened=opened))

        self.page.port.work(lambda: lines_of_file(task, loaded, at.file), then=then)

    def _change(self, file: int, own: File) -> None:
        self._put({**self._files, file: own})

    def act_fold(self) -> None:
        """Show a file by its title alone, or whole."""
        at = self._at()
        if at is not None and at.file >= 0:
            own = self.source.file(at.file)
            self.lines.cursor = self.source.item_of(at.file)
            self._change(at.file, own._replace(folded=not own.folded))

    def act_white(self) -> None:
        """Hide hunks in which only white space changed, or show them."""
        self._hides_white = not self._hides_white
        if not self._hides_white:
            self._put({n: each._replace(hides=frozenset()) for n, each in self._files.items()})
        elif self.loaded is not None:
            shape = self.loaded.shape
            self.page.port.work(lambda: white_hunks(shape), then=self._hide_white)

    def _hide_white(self, found: dict[int, frozenset[int]]) -> None:
        if not self._hides_white or self.loaded is None:
            return
        hidden = sum(map(len, found.values()))
        files = {
            n: each._replace(hides=found.get(n, frozenset())) for n, each in self._files.items()
        }
        if files != self._files:
            self._files = files
            self._renew(PatchSource(self.loaded.shape, files, self._texts, self.lines.look))
        self.page.port.say(f"{counted(hidden, 'hunk')} with white space alone hidden; w shows them")

    def act_since(self) -> None:
        """Choose since when the patch is shown."""
        if self.loaded is None:
            return
        starts = {f"{n}": each for n, each in enumerate(self.loaded.starts)}
        choices = [Choice([(each.title, TEXT)], key) for key, each in starts.items()]
        self.page.choose(
            "Show what changed since", choices, lambda key: self.show_since(starts[key].since)
        )

    # Viewed

    def act_viewed(self) -> None:
        """Mark the hunk under the cursor as viewed, or a whole file; again takes the mark off."""
        loaded, at = self.loaded, self._at()
        if self.list.has_focus:
            kind, _colon, rest = (self.list.key or "").partition(":")
            at = At("file", int(rest), -1, -1) if kind == FILE else None
        if loaded is None or at is None or at.file < 0:
            return
        if loaded.patch is None or not loaded.is_whole:
            self.page.port.say("marks are kept for the patch of the whole task, or since a state")
            return
        whole = at.hunk < 0
        chosen = hunks_at(loaded, at.file, -1 if whole else at.hunk)
        own = self.source.file(at.file)
        marks = own.hunk_marks
        mark = own.mark if whole or at.hunk >= len(marks) else marks[at.hunk]
        act, patch, opened = unview if mark == "viewed" else view, loaded.patch, self.page.opened

        def then(seen: list[FileSeen]) -> None:
            if self.loaded is not None and self.loaded.patch == patch:
                self._seen = seen
                self._put(files_of(self.loaded, seen, self._files))
                if mark != "viewed":
                    self.lines.jump("file" if whole else "hunk", 1)

        self.page.port.work(lambda: act(opened.project, opened.task.id, patch, chosen), then=then)
