"""A conversation on a screen: what a viewer shows of it, in portions, as it goes on.

Reading blocks, so it is for a thread. Of a long story the newest part is read; `siding chat show`
has the rest.
"""

import os
import select
import threading
from contextlib import suppress

from siding.chat.beside import Helper, Helpers
from siding.chat.pace import Pace
from siding.chat.partition import Partition
from siding.chat.parts import Shift
from siding.chat.state import after
from siding.chat.store import Chat
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.chat.watching import Watch
from siding.ground.namedtuples import NamedTuple

MOST_BYTES = 8 << 20  # of a story that are read at first, from its end
_LOOKS_S = 1.0  # where no host says that there is more; whoever shows it may say so


class Portion(NamedTuple):
    """What is new. `talk` is where the conversation stands now."""

    talk: Talk
    shifts: tuple[Shift, ...]
    pace: Pace
    left_out: int = 0  # parts of before that are not shown
    is_cut: bool = False  # the story begins before what is shown
    has_host: bool = False
    window: int = 0  # tokens that its model takes; 0 is not known
    helpers: tuple[Helper, ...] = ()  # that work beside it, and the newest that have


class StoryView:
    """One viewer of one conversation. All but `wake` and `close` is for one thread."""

    def __init__(self, chat: Chat, *, most_bytes: int = MOST_BYTES) -> None:
        self._chat = chat
        self._most = most_bytes
        self._partition = Partition()
        self._helpers = Helpers()
        self._talk = Talk()
        self._watch: Watch | None = None
        self._is_cut = False
        self._bell = os.pipe()
        self._lock = threading.Lock()
        self._is_closed = False

    def look(self) -> Portion:
        """Return what is new since the last time, all that is shown for the first time."""
        if self._watch is None:
            self._watch = self._begun()
        watch = self._watch
        watch.connect()
        for line in watch.records():
            self._talk = after(self._talk, line) if _seq(line) > self._talk.seq else self._talk
            self._partition.take(line)
            self._helpers.take(line)
        has_host = watch.has_host or self._chat.has_host()
        talk = self._talk if has_host else self._talk.left_behind()
        part = self._partition
        shifts = tuple(part.shifts())
        return Portion(
            talk,
            shifts,
            part.pace,
            part.left_out,
            self._is_cut,
            has_host,
            part.window,
            self._helpers.found(is_live=has_host),
        )

    def wait(self, seconds: float) -> None:
        """Wait until there may be more, somebody wakes this, or so long."""
        watch = self._watch
        fds = [self._bell[0]]
        if watch is not None and watch.has_host:
            fds.append(watch.fileno())
        else:
            seconds = min(seconds, _LOOKS_S)
        ready = select.select(fds, [], [], seconds)[0]
        if self._bell[0] in ready:
            os.read(self._bell[0], 64)

    def wake(self) -> None:
        """Have `wait` return now. From any thread."""
        with self._lock:
            if not self._is_closed:
                with suppress(BlockingIOError):
                    os.write(self._bell[1], b".")

    def close(self) -> None:
        """Let go of the files. Nothing else is called then."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            for each in self._bell:
                os.close(each)
        if self._watch is not None:
            self._watch.close()

    def _begun(self) -> Watch:
        """Begin with the newest of the story, and with where the conversation stood before."""
        size = self._chat.story.stat().st_size
        if size <= self._most:
            return Watch(self._chat)
        self._is_cut = True
        self._talk = self._chat.talk()
        reader = StoryReader(self._chat.story)
        try:
            offset = _line_after(reader, size - self._most)
            for line in reader.records_of(("queued", "edited")):
                if reader.offset > offset:
                    break
                self._partition.learn(line)
        finally:
            reader.close()
        return Watch(self._chat, offset)


def _line_after(reader: StoryReader, offset: int) -> int:
    """Return where the first line begins that does so behind an offset."""
    reader.offset = offset
    next(reader.lines(), b"")
    found, reader.offset = reader.offset, 0
    return found


def _seq(line: object) -> int:
    found = line.get("seq") if isinstance(line, dict) else 0
    return found if isinstance(found, int) else 0
