"""What waits for the agent, above the field in which the next prompt is typed."""

from siding.chat.talk import Talk, Waiting
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import inert
from siding.ground.namedtuples import NamedTuple

_MOST = 5  # rows


class Queued(NamedTuple):
    """One prompt that waits, or of which nobody knows whether it was taken."""

    waiting: Waiting
    is_unsure: bool = False
    number: int = 0


class QueueList(Rows):
    """One row a prompt. Keys change the one under the cursor."""

    DEFAULT_CSS = "QueueList { height: 0; display: none; }"

    def __init__(self) -> None:
        super().__init__(id="queue")
        self.prompts: list[Queued] = []

    def show(self, talk: Talk) -> None:
        """Show what waits now. The cursor stays on its prompt."""
        chosen = self.chosen
        found = [Queued(each, is_unsure=True) for each in talk.unsure]
        found += [Queued(each, number=n) for n, each in enumerate(talk.queue, start=1)]
        if found == self.prompts:
            return
        self.prompts = found
        self.display = bool(found)
        self.styles.height = min(_MOST, len(found))
        self.replaced(len(found))
        ids = [each.waiting.prompt for each in found]
        if chosen is not None and chosen.waiting.prompt in ids:
            self.cursor = ids.index(chosen.waiting.prompt)

    @property
    def chosen(self) -> Queued | None:
        """The prompt under the cursor."""
        return self.prompts[self.cursor] if 0 <= self.cursor < len(self.prompts) else None

    def on_focus(self) -> None:
        """Have a cursor while keys come here."""
        if self.prompts:
            self.stand_on(max(0, min(self.cursor, len(self.prompts) - 1)))

    def on_blur(self) -> None:
        """Have none."""
        self.stand_on(-1)

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the row of a prompt."""
        found = self.prompts[item]
        head = "unsure  " if found.is_unsure else f"queued {found.number} "
        said: Pieces = [(head, "warn" if found.is_unsure else "dim"), (self.text_of(item), TEXT)]
        return [fitted(said, width, end=self.look.mark("ellipsis"))]

    def measure(self, item: int, width: int) -> int:
        """Return 1: a prompt is one row here."""
        del item, width
        return 1

    def text_of(self, item: int) -> str:
        """Return the words of a prompt."""
        waiting = self.prompts[item].waiting
        pictures = f" (+{len(waiting.files)} pictures)" if waiting.files else ""
        return inert(" ".join(waiting.text.split())) + pictures
