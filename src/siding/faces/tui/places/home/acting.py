"""The acts of home: what each would do is shown first, and a second press of its key does it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from siding.faces.tui.cards.answering import Answering
from siding.faces.tui.cards.card import wrapped
from siding.faces.tui.carrying import carried_out
from siding.faces.tui.places.home.doing import Doing, named
from siding.faces.tui.places.home.model import HomeList
from siding.faces.tui.places.home.peek import plan_rows
from siding.faces.tui.rows.lines import Pieces
from siding.feed.addresses import Address
from siding.feed.model import Row

if TYPE_CHECKING:
    from siding.faces.plans.plan import ActPlan
    from siding.faces.tui.acts import tasks


class ActingOnRows(Answering):
    """The part of home that acts on the rows chosen.

    While an act changes a row, the key of another one on that row waits until it has ended.
    """

    def __init__(self, address: Address | None = None) -> None:
        super().__init__(address)
        self.home = HomeList(time.monotonic)
        self.doing = Doing()
        self._told: list[Pieces] | None = None  # a plan, or what happened, until the cursor moves
        self._undoable: Row | None = None  # the task that was applied last, here

    # What home has.

    def _show(self) -> None:
        raise NotImplementedError

    def _show_pane(self) -> None:
        raise NotImplementedError

    # What home may use.

    def take_back(self, act: str) -> None:
        """Take back what waits, for its second press or for another act: a key was pressed.

        A second press of the key of `act` does what waits for that.
        """
        self.port.under_way.forget()
        pending = self.doing.pending
        if pending is not None and pending.act != act:
            self.doing.forget()
            if self._told is not None:
                self._told = None
                self._show_pane()

    def act_stop(self) -> None:
        """Say what a second press ends; end it."""
        from siding.faces.tui.acts import tasks

        self._twice("stop", "ends what runs in", tasks.stop)

    def act_apply(self) -> None:
        """Show what an apply would do; do it."""
        self._planned("apply")

    def act_close(self) -> None:
        """Show what closing would do; do it."""
        self._planned("close")

    def act_undo(self) -> None:
        """Take back what was applied last here, or show what an undo does and do it."""
        from siding.faces.tui.acts import tasks

        if self._undoable is not None and not self.home.selected:
            self._twice("undo", "takes back the apply of", tasks.undo_apply, [self._undoable])
        else:
            self._planned("undo")

    # How they go.

    def _waits(self, act: str, rows: Sequence[Row]) -> bool:
        """Have an act wait for the one that is under way on these rows, if one is; say so."""
        keys = [row.key for row in rows]
        what = self.port.under_way.of(keys)
        if not what:
            return False
        key = self.key_table.key_of(act)

        def begin(is_done: bool) -> None:
            said = self.foot.said
            if not is_done or not self.is_current:
                self.port.say(f"{said}\n{key} was not begun: press it again".lstrip(), "error")
                return
            getattr(self, f"act_{act}")()
            if said and said not in self.foot.said:  # what came of the act before stays
                self.port.say(f"{said}\n{self.foot.said}")

        self.doing.forget()
        self.port.under_way.wait(keys, begin)
        self.port.say(f"{what} goes on: {key} comes after it, any other key leaves that")
        return True

    def _twice(
        self, act: str, does: str, do: Callable[..., str], rows: Sequence[Row] | None = None
    ) -> None:
        rows = self.home.chosen() if rows is None else rows
        if not rows or self._waits(act, rows):
            return
        found = self.doing.press(act, rows)
        if found is None:
            key = self.key_table.key_of(act)
            self.doing.shown(act, rows)
            self.port.say(f"{key} again {does} {named(rows)}")
            return
        self._do(rows, partial(do, self.port.siding), act)

    def _planned(self, act: str) -> None:
        """Show a plan; at the second press carry out exactly what was shown."""
        from siding.faces.tui.acts import tasks

        rows = self.home.chosen()
        if not rows or self._waits(act, rows):
            return
        pending = self.doing.pending
        found = self.doing.press(act, rows)
        app = self.port.siding
        if found is not None and len(rows) == 1:
            digest = found.digest
            self._do(rows, lambda row: tasks.carried_out(app, row, act, digest), act)
        elif found is not None:
            self._do(rows, lambda row: tasks.planned_and_done(app, row, act), act)
        elif len(rows) > 1:
            self.doing.shown(act, rows)
            key = self.key_table.key_of(act)
            self.port.say(f"{key} again: {act}, one after the other, {named(rows)}")
        elif self.doing.pending is pending:
            self.port.say(f"{act}: working out what it would do")
        else:
            show = partial(self._show_plan, act, rows[0])
            not_planned = partial(self.doing.not_shown, act, rows)
            self.port.work(lambda: tasks.planned(app, rows[0], act), then=show, failed=not_planned)

    def _show_plan(self, act: str, row: Row, plan: ActPlan) -> None:
        stays = plan.stops or plan.concerns or plan.nothing
        if not self.doing.shown(act, [row], plan.digest):
            return
        key = self.key_table.key_of(act)
        if stays:
            self.doing.forget()
        again = "" if stays else f"{key} again does it, any other key leaves it"
        width = max(20, self.size.width or 100)
        self._told = plan_rows(row, plan, again, width, self.size.height // 2)
        self._show_pane()

    def _do(self, rows: Sequence[Row], act: Callable[[Row], str], name: str) -> None:
        """Do an act to each row, in a thread; then say what happened to each."""
        from siding.faces.tui.acts import tasks

        port, keys = self.port, [row.key for row in rows]
        what = f"{name} of {named(rows)}"
        self._told = None
        self._show_pane()
        if len(rows) == 1:
            done = partial(self._done, rows[0], name)
            carried_out(port, what, keys, partial(act, rows[0]), done)
            return
        tell = port.siding.tell
        carried_out(
            port,
            what,
            keys,
            lambda: tasks.one_after_the_other(rows, act, tell),
            self._several_done,
        )

    def _done(self, row: Row, name: str, said: str) -> None:
        self.home.selected.discard(row.key)
        self._undoable = row if name == "apply" else None
        undo = f" · {self.key_table.key_of('undo')} undoes it" if name == "apply" else ""
        self.port.say(f"{row.name}: {said}{undo}")

    def _several_done(self, happened: Sequence[tasks.Happened]) -> None:
        width = max(20, self.size.width or 100)
        self.home.selected = {each.row.key for each in happened if each.failed}
        self._told = [
            pieces
            for each in happened
            for pieces in wrapped(
                f"{each.row.name}: {each.said}", width, "bad" if each.failed else "good"
            )
        ]
        self._show()
