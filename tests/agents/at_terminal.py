"""A person in front of an agent: its interactive screen, on a terminal, in `siding run`."""

import codecs
import time
from collections.abc import Callable, Sequence

from agents.conftest import AgentAtWork
from sandbox import SIDING
from siding.agents.start_questions import start_questions
from siding.ground.process.command import WindowSize
from siding.ground.process.emulator import TextScreen
from terminal import Terminal

SIZE = WindowSize(rows=40, columns=110)
PATIENCE_S = 120  # opencode takes most of a minute to begin on a busy machine
AGAIN_S = 5
WHERE_IS_THE_CURSOR = b"\x1b[6n"


class AtTerminal(Terminal):
    """Reads the screen of an agent, and types."""

    def __init__(
        self, agent: AgentAtWork, *, options: Sequence[str] = (), alone: Sequence[str] = ()
    ) -> None:
        """`alone` is a command line of the agent that is started without Siding."""
        words = agent.interactive()
        if not alone:
            # It asks nothing, or no turn of it would be recorded; and that is known before.
            assert not start_questions(agent.name, words, agent.task.workspace(), agent.task.env)
        super().__init__(
            alone or [*SIDING, "run", *options, "--", *words],
            cwd=agent.task.repo,
            env=agent.task.env,
            rows=SIZE.rows,
            columns=SIZE.columns,
        )
        self._agent = agent
        self._screen = TextScreen(SIZE)
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
        assert self._is_soon(is_so, PATIENCE_S), self.screen

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in self.screen)

    def says(self, prompt: str, then: Callable[[], bool]) -> None:
        """Type a prompt, and send it: `then` it is known that it arrived.

        It is sent when it is there, as what comes at once looks like pasted; and again if nothing
        comes of it: Gemini CLI may lose the key just after a turn has ended.
        """
        before = self.screen.count(prompt)
        self.type(prompt.encode())
        self.until(lambda: self.screen.count(prompt) > before)
        begun = time.monotonic()
        while not self._sent(then):
            assert time.monotonic() - begun < PATIENCE_S, self.screen

    def interrupts(self) -> None:
        """Press the keys that end the turn under way, until it is on the screen that they have.

        An agent that asks for another one has to.
        """
        before = self.screen.count(self._agent.interrupted)
        for at, key in enumerate(self._agent.interrupts):
            if at:
                self.until_shown("again to interrupt")
            self.type(key)
        self.until(lambda: self.screen.count(self._agent.interrupted) > before)

    def quits(self) -> int:
        """Leave it as a person does; return the exit status."""
        self.says(self._agent.quits, lambda: self.process.poll() is not None)
        return self.finish()

    def _sent(self, then: Callable[[], bool]) -> bool:
        self.type(b"\r")
        return self._is_soon(then, AGAIN_S)

    def _is_soon(self, is_so: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not is_so():
            shown = self.screen
            if time.monotonic() > end:
                return False
            if not self._read(time.monotonic() + 0.2):
                assert is_so() or self.process.poll() is None, shown
        return True
