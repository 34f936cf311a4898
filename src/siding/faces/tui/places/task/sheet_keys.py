"""The sheet of the task's screen, and what its keys do."""

from collections.abc import Callable, Sequence

from siding.faces.tui.places.task.acting import Acting
from siding.faces.tui.places.task.going_on import GoingOn
from siding.faces.tui.places.task.sheet import Choice, Sheet
from siding.faces.tui.places.task.wider import Wider
from siding.feed.addresses import Address


class SheetKeys(GoingOn):
    """The part of the place that shows plans and choices. The subclass says who else has keys."""

    acting: Acting
    wider: Wider

    def __init__(self, address: Address | None = None) -> None:
        super().__init__(address)
        self.sheet = Sheet()
        self._then: Callable[[str], None] | None = None

    def give_keys_back(self) -> None:
        """Give the keys to what had them before the sheet."""
        raise NotImplementedError

    def choose(self, title: str, choices: Sequence[Choice], then: Callable[[str], None]) -> None:
        """Have the person choose one of several lines."""
        self.acting.forget()
        self._then = then
        self.open_sheet([Choice([(title, "heading")]), *choices])

    # The sheet

    def open_sheet(self, lines: Sequence[Choice]) -> None:
        """Show lines above the foot; keys go to them until they are closed."""
        self.sheet.open(lines)
        self.foot.show_hints(self.key_table.hints())

    def show_lines(self, lines: Sequence[Choice]) -> None:
        """Show lines that nothing is done with."""
        self.acting.forget()
        self._then = None
        self.open_sheet(lines)

    def close_sheet(self) -> None:
        """Close the sheet; keys go to the tab again."""
        self.acting.forget()
        self._then = None
        self.sheet.close()
        self.foot.show_hints(self.key_table.hints())
        self.give_keys_back()

    def act_sheet_close(self) -> None:
        self.wider.closed()
        self.close_sheet()

    def act_sheet_enter(self) -> None:
        if self.acting.is_open:
            self.acting.enter()
            return
        then, key = self._then, self.sheet.chosen
        if then is not None and key:
            self.close_sheet()
            then(key)

    def act_sheet_down(self) -> None:
        if self.sheet.chosen:
            self.sheet.move(1)
        else:
            self.sheet.scroll_rows(1)

    def act_sheet_up(self) -> None:
        if self.sheet.chosen:
            self.sheet.move(-1)
        else:
            self.sheet.scroll_rows(-1)

    def act_sheet_force(self) -> None:
        self.acting.force()

    def act_sheet_merge(self) -> None:
        self.acting.merge()

    def act_sheet_give_up(self) -> None:
        self.acting.give_up()

    def act_sheet_again(self) -> None:
        self.acting.again()

    def act_sheet_yes(self) -> None:
        self.wider.answer("y")

    def act_sheet_no(self) -> None:
        self.wider.answer("n")

    def act_sheet_skip(self) -> None:
        self.wider.answer("s")
