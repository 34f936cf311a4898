"""Lines that are said and lines that are typed. What is typed is taken by whole lines alone."""

import os
import select
import termios
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TextIO

from siding.faces.tui.text import in_ascii, inert
from siding.ground.errors import SidingError

_CHUNK = 64 << 10
_LONGEST = 1 << 20  # bytes of a line
_QUIET_S = 5.0  # between two lines that say what is being done
NOTHING = "nothing was done"


class Leave(Exception):
    """The person leaves, or nothing more can be read."""


class Stopped(Exception):
    """The person has pressed ctrl+c: what was asked is not answered."""


class Talk:
    """What is said and typed, over two streams."""

    def __init__(self, typed: TextIO, shown: TextIO, *, is_ascii: bool = False) -> None:
        self._fd = typed.fileno()
        self._shown = shown
        self._is_ascii = is_ascii  # the locale has no more
        self._waiting = b""  # what was typed and not taken yet
        self._is_over = False
        self._doing, self._told_at = "", 0.0

    def say(self, text: str) -> None:
        """Say a line."""
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self._shown.write(in_ascii(text) if self._is_ascii else text)
        self._shown.flush()

    def say_all(self, lines: Iterable[str]) -> None:
        """Say several lines."""
        for line in lines:
            self.say(line)

    def doing(self, what: str) -> None:
        """Say what is being done that takes long: not each change of it."""
        now = time.monotonic()
        if what and what != self._doing and now - self._told_at > _QUIET_S:
            self._doing, self._told_at = what, now
            self.say(f"working: {inert(what)}")

    def ask(self, what: str) -> str:
        """Ask for a line; return it without its blanks. Raises Leave and Stopped."""
        try:
            self._write(f"{what}> ")
        except KeyboardInterrupt:  # at once, when it was read
            raise self._stopped() from None
        word = self.line().strip()
        if word == "q":
            raise Leave
        return word

    def ask_anew(self, what: str) -> str:
        """Ask for a line that agrees to what was just said.

        What was typed at a terminal before it was said agrees to nothing.
        """
        if os.isatty(self._fd):
            self._waiting = b""
            with suppress(termios.error):
                termios.tcflush(self._fd, termios.TCIFLUSH)
        return self.ask(what)

    def line(self) -> str:
        """Return the next line that was typed. Raises Leave where there is none any more."""
        try:
            while b"\n" not in self._waiting:
                if self._is_over or not self._take():
                    if self._waiting:
                        self.say("")
                        self.say(f"the last line was not ended with Enter; {NOTHING} with it")
                        self._waiting = b""
                    else:
                        self.say("")
                    raise Leave
        except KeyboardInterrupt:
            raise self._stopped() from None
        line, _newline, self._waiting = self._waiting.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _stopped(self) -> Stopped:
        """Forget what was typed, as ctrl+c means to."""
        self._waiting = b""
        self.say("")
        return Stopped()

    def has_line(self, within_s: float) -> bool:
        """Tell whether a line was typed, or nothing more can be; wait so long for it."""
        try:
            if b"\n" not in self._waiting and select.select([self._fd], [], [], within_s)[0]:
                self._take()
        except KeyboardInterrupt:
            self.say("")
            raise Stopped from None
        return self._is_over or b"\n" in self._waiting

    def guarded(self, act: Callable[[], None]) -> bool:
        """Do something; say how it failed, and go on. Return whether it came to its end."""
        try:
            act()
        except Stopped:
            self.say(NOTHING)
        except KeyboardInterrupt:
            self.say("")
            self.say("interrupted; what it had begun is finished or taken back by the next act")
        except SidingError as error:
            self.say(f"error: {inert(error.message)}")
            if error.hint:
                self.say(f"what to do: {inert(error.hint)}")
        except OSError as error:
            self.say(f"error: {inert(str(error))}")
        else:
            return True
        return False

    def pages(self, lines: Iterable[str], *, page: int, nothing: str, end: str) -> None:
        """Say lines by pages; Enter asks for more."""
        said = 0
        for line in lines:
            if said and said % page == 0 and self.ask("Enter for more, b to stop") == "b":
                return
            self.say(line)
            said += 1
        self.say(end if said else nothing)

    def _take(self) -> bool:
        """Read what was typed; False at its end."""
        try:
            data = os.read(self._fd, _CHUNK)
        except OSError:  # the terminal is gone
            data = b""
        self._is_over = not data
        self._waiting += data
        if len(self._waiting) > _LONGEST and b"\n" not in self._waiting:
            self._waiting = b""
            self.say("that line is too long and was not taken")
        return bool(data)
