"""The field in which a prompt is typed. What its keys mean is with `writing.py`."""

from collections.abc import Callable

from textual.events import Key, Paste, Resize
from textual.widgets import TextArea

from siding.faces.tui.places.task.field import Field
from siding.faces.tui.text import inert

_TALLEST = 8  # rows of text


class Composer(Field):
    """A text of as many rows as it needs, up to eight."""

    DEFAULT_CSS = """
    Composer, Composer:focus {
        height: 2; border: none; border-top: solid ansi_default;
        border-title-color: ansi_default; border-title-background: ansi_default;
        padding: 0 0 0 1; background: transparent;
    }
    Composer .text-area--cursor-line { background: transparent; }
    """

    def __init__(
        self,
        takes: Callable[[Key], bool],
        pasted: Callable[[str], str],
        changed: Callable[[], None],
    ) -> None:
        super().__init__(id="composer")
        self.cursor_blink = False
        self._takes, self._pasted, self._changed = takes, pasted, changed

    def takes(self, event: Key) -> bool:
        """Ask whoever knows what keys mean here."""
        return self._takes(event)

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        self.put(self._pasted(inert(text, lines=True)))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Say that the text is another one."""
        event.stop()
        self._changed()

    def put(self, text: str) -> None:
        """Put a text where the cursor is, in place of what is selected."""
        found = self.replace(text, *self.selection)
        self.move_cursor(found.end_location)

    def write(self, text: str) -> None:
        """Have this text, with the cursor at its end."""
        self.text = text
        self.move_cursor(self.document.end)

    @property
    def before_cursor(self) -> str:
        """What stands before the cursor in its line."""
        row, column = self.cursor_location
        return str(self.document[row])[:column]

    @property
    def is_on_first_row(self) -> bool:
        return bool(self.wrapped_document.location_to_offset(self.cursor_location).y == 0)

    @property
    def is_on_last_row(self) -> bool:
        at = self.wrapped_document.location_to_offset(self.cursor_location).y
        return bool(at >= self.wrapped_document.height - 1)

    def fit(self) -> None:
        """Be as high as the text is."""
        rows = max(1, min(_TALLEST, self.wrapped_document.height))
        self.styles.height = rows + 1

    def on_resize(self, _event: Resize) -> None:
        """Wrap anew."""
        self.fit()
