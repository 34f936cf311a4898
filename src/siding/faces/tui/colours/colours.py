"""Colours of files, kept by blob and name. Until they are found, a file is plain."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial

from siding.faces.tui.colours.lexer_process import Helper, HelperFailed
from siding.faces.tui.colours.packed import FileColours

LONGEST = 1_000_000  # characters that are coloured; they take about four seconds of the helper
_KEPT_BYTES = 8 << 20
_IDLE_S = 30.0  # after which the helper is ended
_TRIES = 2  # a file on which the helper died so often has no colours

Read = Callable[[], str | None]  # the text of a file; None if it is not there or too long
Key = tuple[str, str]


class Colours:
    """What is asked for in the loop is found beside it. One for the whole screen."""

    def __init__(
        self, env: Mapping[str, str], *, helper: Helper | None = None, idle_s: float = _IDLE_S
    ) -> None:
        self._helper = helper or Helper(env=env)
        self._idle_s = idle_s
        self._kept: OrderedDict[Key, FileColours | None] = OrderedDict()
        self._bytes = 0
        self._failures: dict[Key, int] = {}
        self._asked: dict[Key, asyncio.Task[FileColours | None]] = {}
        self._resting: asyncio.TimerHandle | None = None

    def get(self, blob: str, name: str) -> FileColours | None:
        """Return colours that were found already."""
        key = (blob, _base(name))
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    async def find(self, blob: str, name: str, read: Read) -> FileColours | None:
        """Return the colours of a file; None if it has none. Two who ask at once wait for one.

        `read` is called in a thread. If the one who asks is cancelled, the search goes on.
        """
        key = (blob, _base(name))
        if not blob:
            return None
        if key in self._kept:
            return self.get(blob, name)
        task = self._asked.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._search(key, name, read))
            self._asked[key] = task
            task.add_done_callback(lambda _: self._asked.pop(key, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End the helper, whatever it is at."""
        if self._resting is not None:
            self._resting.cancel()
        self._helper.interrupt()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)
        await asyncio.to_thread(self._helper.end)

    async def _search(self, key: Key, name: str, read: Read) -> FileColours | None:
        try:
            found = await asyncio.to_thread(self._found, name, read)
        except HelperFailed:
            self._failures[key] = self._failures.get(key, 0) + 1
            if self._failures[key] >= _TRIES:
                self._keep(key, None)
            return None
        finally:
            self._rest_later()
        self._keep(key, found)
        return found

    def _found(self, name: str, read: Read) -> FileColours | None:
        text = read()
        if text is None or len(text) > LONGEST or not text.strip():
            return None
        return self._helper.ask(name, text)

    def _keep(self, key: Key, found: FileColours | None) -> None:
        self._kept[key] = found
        self._bytes += _size(found)
        while self._bytes > _KEPT_BYTES and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= _size(gone)

    def _rest_later(self) -> None:
        """End the helper when nothing was asked for a while."""
        if self._resting is not None:
            self._resting.cancel()
        loop = asyncio.get_running_loop()
        self._resting = loop.call_later(self._idle_s, partial(self._rest, loop))

    def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._asked:
            loop.run_in_executor(None, self._helper.end)


def _size(found: FileColours | None) -> int:
    return 200 + (0 if found is None else found.size)


def _base(name: str) -> str:
    """Return what chooses the lexer: the name without its directories."""
    return name.rpartition("/")[2]
