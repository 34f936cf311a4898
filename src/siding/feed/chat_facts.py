"""What a row needs to know of a conversation, without what conversations load."""

from typing import TYPE_CHECKING

from siding.asking.views import InboxEntry
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.chat.talk import Talk

# By the directory of a conversation: stamps of its files, and how it stood then.
Known = dict[str, "tuple[tuple[object, ...], Talk]"]


class ChatFacts(NamedTuple):
    """A conversation of a task. Times are ISO 8601, "" if unknown."""

    id: str
    agent: str
    title: str  # the first line of its first prompt
    run: str  # in which a host holds its agent now; "" if none does
    since: str  # since when it stands so
    what: str = ""  # what it does, or why it does nothing, in one line
    is_at_work: bool = False  # a turn runs, or its agent starts
    is_ended: bool = False  # somebody had its agent ended, and nothing waits
    has_ended: bool = False  # its agent has, and nobody killed its host
    queued: int = 0  # prompts that wait for their turn
    decisions: tuple[str, ...] = ()  # as which what its agent asks was put to a person
    needs: InboxEntry | None = None  # what a person has to do for it to go on
    broke: InboxEntry | None = None  # its turn failed, or its agent ended by a failure
    host: int = 0  # the process that holds its agent; 0 for none
    problem: str = ""  # a sentence, if it cannot be read; then it has no row

    @property
    def asks(self) -> tuple[InboxEntry, ...]:
        """What it asks itself, besides what its agent asks."""
        return tuple(each for each in (self.needs, self.broke) if each is not None)
