"""A terminal whose screen is drawn, so that a test reads what a person sees."""

import codecs
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from siding.ground.process.command import WindowSize
from siding.ground.process.emulator import TextScreen
from terminal import Terminal

WHERE_IS_THE_CURSOR = b"\x1b[6n"


class DrawnTerminal(Terminal):
    """Watches the screen of a program, and types."""

    patience_s = 60.0

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        rows: int = 30,
        columns: int = 100,
    ) -> None:
        super().__init__(argv, cwd=cwd, env=env, rows=rows, columns=columns)
        self._screen = TextScreen(WindowSize(rows=rows, columns=columns))
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._drawn = 0

    @property
    def screen(self) -> str:
        """What is on the screen now."""
        new = self.seen[self._drawn :]
        self._drawn = len(self.seen)
        self._screen.feed(self._text.decode(new))
        if WHERE_IS_THE_CURSOR in new:  # a terminal answers; it need not be right
            self.type(b"\x1b[1;1R")
        return "\n".join(self._screen.lines())

    def until(self, is_so: Callable[[], bool]) -> None:
        """Watch the screen until something is so."""
        assert self.is_soon(is_so, self.patience_s), self.screen

    def until_shown(self, *texts: str) -> None:
        """Watch until all of these are on the screen together."""
        self.until(lambda: all(text in self.screen for text in texts))

    def is_soon(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Watch the screen for so long at most; tell whether something came to be so."""
        end = time.monotonic() + seconds
        while not is_so():
            shown = self.screen
            if time.monotonic() > end:
                return False
            if not self._read(time.monotonic() + 0.2):
                has_ended = self.process.poll() is not None  # asked first
                assert is_so() or not has_ended, shown
        return True
