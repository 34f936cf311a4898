"""A person in front of an agent: its interactive screen, on a terminal, in `siding run`."""

import time
from collections.abc import Callable, Sequence

from agents.conftest import AgentAtWork
from drawn_terminal import DrawnTerminal
from sandbox import SIDING
from siding.agents.start_questions import start_questions

AGAIN_S = 5


class AtTerminal(DrawnTerminal):
    """Reads the screen of an agent, and types."""

    patience_s = 120.0  # opencode takes most of a minute to begin on a busy machine

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
            rows=40,
            columns=110,
        )
        self._agent = agent

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
            assert time.monotonic() - begun < self.patience_s, self.screen

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
        return self.is_soon(then, AGAIN_S)
