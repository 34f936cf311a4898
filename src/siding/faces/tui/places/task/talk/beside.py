"""What works beside the conversation, below the field: choosing it, showing it, ending it."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from siding.chat.beside import Helper
from siding.faces.tui.acts.beside import end_entry
from siding.faces.tui.places.task.talk.port import TalkPort
from siding.faces.tui.rows.styles import Look
from siding.faces.tui.rows.transcript import Transcript
from siding.faces.tui.selector.entries import all_entries
from siding.faces.tui.selector.model import MAIN
from siding.faces.tui.selector.widget import AgentSelector
from siding.feed.model import RowKind


class Beside(Vertical):
    """The selector of a conversation. Its words are in the story, so that this goes there."""

    DEFAULT_CSS = "Beside { height: auto; }"

    def __init__(self, tab: TalkPort, story: Transcript) -> None:
        super().__init__(id="below-composer")
        self._tab, self._story = tab, story
        self.selector = AgentSelector()
        self._helpers: Sequence[Helper] = ()

    def compose(self) -> ComposeResult:
        yield self.selector

    @property
    def has_keys(self) -> bool:
        return self.selector.has_focus

    def use(self, look: Look) -> None:
        """Draw with other colours."""
        self.selector.use(look)

    def take(self, helpers: Sequence[Helper]) -> None:
        """Show what the story says of helpers now."""
        if helpers != self._helpers:
            self._helpers = helpers
            self.look()

    def look(self) -> None:
        """Show what there is now, of the story and of the feed."""
        feed, opened = self._tab.page.port.feed, self._tab.page.opened
        named = (RowKind.TASK, opened.project.layout.root.name, str(opened.task.id))
        rows = (each.key for each in feed.rows if (each.kind, each.project, each.id) == named)
        self.selector.take(all_entries(feed, next(rows, ""), self._helpers))

    def clear(self) -> None:
        """Forget a conversation that is left."""
        self._helpers = ()
        self.selector.clear()

    def take_keys(self) -> bool:
        """Take the keys, if something works beside; tell whether it does."""
        return self.selector.take_keys()

    def leave_view(self) -> bool:
        """Go back to the end of the story; tell whether a helper was shown."""
        return self.selector.leave_view()

    def on_agent_selector_left(self, message: AgentSelector.Left) -> None:
        """Give the keys back."""
        message.stop()
        self._tab.to_field()

    def on_agent_selector_viewed(self, message: AgentSelector.Viewed) -> None:
        """Show what was chosen: in the story, or where it has a place."""
        message.stop()
        entry, port = message.entry, self._tab.page.port
        if message.key == MAIN or entry is None:
            self._story.go_to_end()
        elif entry.address:
            self.selector.shown_elsewhere()
            port.open_address(entry.address)
        elif entry.part and self._story.has(entry.part):
            self._story.show_part(entry.part)
        else:
            self.selector.shown_elsewhere()
            port.say(
                "its call is no longer on the screen; `siding chat show` has the whole story"
                if entry.part
                else "what an agent has in the background prints nothing here; ask the agent for it"
            )

    def on_agent_selector_stopped(self, message: AgentSelector.Stopped) -> None:
        """End what can be ended alone; else say why not."""
        message.stop()
        app, entry = self._tab.page.port.siding, message.entry
        self._tab.asked(lambda: end_entry(app, entry))
