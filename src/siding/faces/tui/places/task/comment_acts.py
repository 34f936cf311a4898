"""Comments from the tab of the patch: write one on lines, write it anew, take it away, send all."""

from siding.comments.comment import Placed
from siding.comments.comments import Sent, Taker, Way
from siding.faces.tui.places.task.changes import From, Since
from siding.faces.tui.places.task.commenting import (
    Lines,
    Refused,
    ToSend,
    comment_on,
    send_all,
    take_away,
    to_send_of,
    write_anew,
)
from siding.faces.tui.places.task.reading import Opened, PatchRead
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.source import At, PatchSource
from siding.faces.tui.places.task.tab import Tab
from siding.faces.tui.places.task.tree import COMMENT
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.list import ListView
from siding.faces.tui.rows.patch import PatchView
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import inert
from siding.ground.errors import counted

_NOBODY = "nobody"  # the choice where no agent can be given them


class CommentActs(Tab):
    """The part of the tab that is about comments."""

    lines: PatchView
    list: ListView
    source: PatchSource
    since: Since
    loaded: PatchRead | None
    has_range: bool
    writes = 0  # comments that are being written
    is_to_send = False  # sent is asked for meanwhile

    def _at(self) -> At | None:
        """Return what is under the cursor of the patch."""
        item = self.lines.cursor
        return self.source.at(item) if 0 <= item < len(self.source) else None

    def act_comment(self) -> None:
        """Comment on the line under the cursor, or on the lines of the range."""
        items = list(self.lines.chosen_range)
        found = self.source.lines_of(items)
        if self.since.kind in (From.OF_STEP, From.BETWEEN, From.ATTEMPT):
            self.page.port.say("comments are on the present change; i shows it")
            return
        if found is None:
            self.page.port.say("a comment is on lines of one file: put the cursor on one")
            return
        number, is_old, first, last = found
        rows = [self.source[item] for item in items]
        texts = [
            row.text
            for row in rows
            if row.kind in ("same", "add", "delete")
            and (row.old if is_old else row.new) is not None
        ]
        lines = Lines(self.source.part(number).path, is_old, first, last, texts)
        self._ask(lines, "")

    def _ask(self, lines: Lines, text: str) -> None:
        where = f"{lines.path}:{lines.first}" + (
            f"-{lines.last}" if lines.last > lines.first else ""
        )
        opened = self.page.opened

        def then(said: str) -> None:
            if said.strip():
                self.writes += 1
                self.page.port.work(
                    lambda: comment_on(opened, lines, said),
                    then=written,
                    failed=self._is_not_written,
                )

        def written(done: object) -> None:
            if isinstance(done, Refused):
                hint = f"\n{done.error.hint}" if done.error.hint else ""
                self._is_not_written()
                self._ask(lines, done.said)
                self.page.port.say(f"{done.error.message}{hint}", "error")
                return
            self.has_range = False
            self.lines.end_range()
            self.read()
            self._is_written()

        self.page.ask_text(f"comment on {where}", then, text=text)

    def _is_written(self) -> None:
        self.writes -= 1
        if self.is_to_send and not self.writes:
            self.act_send()

    def _is_not_written(self) -> None:
        self.writes -= 1
        self.is_to_send = False

    def _comment_here(self) -> str:
        if self.list.has_focus:
            kind, _colon, rest = (self.list.key or "").partition(":")
            return rest if kind == COMMENT else ""
        at = self._at()
        return at.comment if at is not None else ""

    def act_edit(self) -> None:
        """Write the comment under the cursor anew."""
        wanted, opened = self._comment_here(), self.page.opened
        placed = next((p for p in self._placed() if p.comment.id == wanted), None)
        if placed is None:
            self.page.port.say("no comment is here: put the cursor on one")
            return

        def then(said: str) -> None:
            self.page.port.work(
                lambda: write_anew(opened, wanted, said), then=lambda _none: self.read()
            )

        self.page.ask_text(f"comment {wanted}", then, text=placed.comment.said)

    def act_delete(self) -> None:
        """Take the comment under the cursor away."""
        wanted, opened = self._comment_here(), self.page.opened
        if not wanted:
            self.page.port.say("no comment is here: put the cursor on one")
            return
        choice = [Choice([(f"take comment {wanted} away", "bad")], "yes")]
        self.page.choose(
            "A comment that is taken away is gone",
            choice,
            lambda _key: self.page.port.work(
                lambda: take_away(opened, wanted), then=lambda _none: self.read()
            ),
        )

    def act_send(self) -> None:
        """Choose the agent that is sent all drafts, also one that is still being written."""
        opened: Opened = self.page.opened
        self.is_to_send = self.writes > 0
        if not self.is_to_send:
            self.page.port.work(lambda: to_send_of(opened), then=self._ask_taker)

    def _ask_taker(self, to_send: ToSend) -> None:
        drafts, found = to_send
        if not drafts:
            self.page.port.say("no comment is a draft; c writes one")
            return
        opened = self.page.opened
        stale = sum(each.is_stale for each in drafts)
        note = f", {stale} of them stale: their lines were changed since" if stale else ""
        what = f"{counted(len(drafts), 'comment')}{note}"
        choices = [Choice(_offer(each, what), each.run.id) for each in found]
        if not found:
            text = f"no agent lives here that can be given {what}: copy the prompt"
            choices = [Choice([(text, TEXT)], _NOBODY)]

        def then(key: str) -> None:
            run = "" if key == _NOBODY else key
            self.page.port.work(lambda: send_all(opened, run), then=self._sent)

        self.page.choose("They become the next prompt of the agent", choices, then)

    def _sent(self, sent: Sent) -> None:
        many = counted(len(sent.comments), "comment")
        name = "" if sent.run is None else inert(sent.run.name or sent.run.id)
        if sent.way is Way.TYPED:
            self.page.port.say(f"sent {many} to {name}")
        elif name:
            self.page.port.say(f"{name} gets {many} {sent.way.words}")
        else:
            self.page.port.copy(sent.prompt)
            self.page.port.say(
                f"no agent lives here that could be sent {many}: the prompt is on the clipboard"
            )
        self.read()

    def _placed(self) -> tuple[Placed, ...]:
        return self.loaded.placed if self.loaded is not None else ()


def _offer(taker: Taker, what: str) -> Pieces:
    """Return the line of an agent that can be given comments: who it is, and how it gets them."""
    agent = inert(taker.run.agent or "")
    return [
        (f"send {what} to ", TEXT),
        (inert(taker.name), "bold"),
        (f"  {agent}, {taker.run.id}: {taker.way.words}", "dim"),
    ]
