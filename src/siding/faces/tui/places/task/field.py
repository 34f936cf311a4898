"""A field of text in which every key that edits text does that, and reaches nothing else.

Textual asks its bindings last of all, after the place had the key: a place that has an act on
`left` would take it from the field.
"""

from textual.events import Key
from textual.widgets import TextArea

# Keys of ours, and those of Textual that mean something else to a person here.
_NOT_OURS = frozenset({"ctrl+c", "ctrl+y", "ctrl+v", "super+c", "super+y"})
EDITS = {
    key: binding.action
    for binding in TextArea.BINDINGS
    if not isinstance(binding, tuple)
    for key in binding.key.split(",")
    if key not in _NOT_OURS
}


class Field(TextArea):
    """A text that a person edits. A subclass says in `takes` which keys mean something else."""

    takes_text = True
    DEFAULT_CSS = """
    Field:dark .text-area--cursor, Field:light .text-area--cursor, Field:ansi .text-area--cursor {
        color: ansi_default; background: ansi_default; text-style: reverse;
    }
    Field .text-area--selection {
        color: ansi_default; background: ansi_default; text-style: reverse;
    }
    """

    def on_unmount(self) -> None:
        """Have the app forget it: Textual does so when the theme changes, which it never does here.

        Else each task that was looked at would be held by the app.
        """
        for watchers in getattr(self.app, "__watchers", {}).values():
            watchers[:] = [each for each in watchers if each[0] is not self]

    def takes(self, event: Key) -> bool:
        """Do what a key means here; tell whether it meant something."""
        del event
        return False

    async def _on_key(self, event: Key) -> None:
        if self.takes(event):
            event.stop()
            event.prevent_default()
        elif event.key in EDITS:
            event.stop()
            event.prevent_default()
            await self.run_action(EDITS[event.key])
        else:
            await super()._on_key(event)
