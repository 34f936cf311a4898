"""Which turn of Claude Code runs, what began it, and what of ours the client has not taken yet.

The client runs what it is sent in the order that it likes: a prompt that comes while a tool runs
goes into the turn, one that comes in a text waits for its end, and a shell that ends begins a turn
that nobody prompted. Here it is known which of them is which. Nothing is sent from here.

Newer versions name the prompts of a turn as it begins (`user_message_uuids`). Older ones do not,
and do not say that they have taken a command of their own (``/context``): its result says so.
"""

from collections.abc import Collection

from siding.agents.talking.port import (
    Event,
    How,
    Origin,
    Parts,
    PromptTaken,
    TurnEnded,
    TurnStarted,
)


class Turns:
    def __init__(self) -> None:
        self.running = False
        self.prompt = ""  # the one that was sent, until the turn that takes it has ended
        self.taken = False  # that one
        self.waiting: dict[str, Parts] = {}  # steers that are not sent: no tool has run since
        self.sent: list[str] = []  # steers that were sent, and are not taken
        self._left: list[str] = []  # steers that the client has given back
        self._by_itself = False  # the turn that runs
        self._ending: TurnEnded | None = None  # held back until it is known what is left
        self._unprompted = False  # something has ended that makes older versions begin a turn
        self._ours: set[str] = set()  # prompts that the holder knows nothing of: a compaction

    # -- What is sent ------------------------------------------------------------------------------

    def prompted(self, prompt: str, *, is_ours: bool = False) -> None:
        self.prompt, self.taken = prompt, False
        if is_ours:
            self._ours.add(prompt)

    def steered(self, prompt: str) -> None:
        self.waiting.pop(prompt, None)
        self.sent.append(prompt)

    # -- What the client says ----------------------------------------------------------------------

    def notified(self) -> None:
        """A shell or a helper has ended."""
        self._unprompted = not self.running

    def begins(self, prompts: Collection[str] | None) -> list[Event]:
        """A turn has begun, or goes on; `prompts` of newer versions are what it begins with."""
        found = self._let_end()
        if not self.running:
            found += self._begun(self._which(prompts))
        self._unprompted = False
        return found

    def took(self, prompt: str) -> list[Event]:
        """The client has said that a prompt of ours is in a turn."""
        if prompt == self.prompt and not self.taken:
            found = self._let_end()
            if not self.running:
                found += self._begun(prompt)
            self.taken = True
            return [*found, *self._said(prompt)]
        if prompt not in self.sent:
            return []
        found = self._let_end()
        self.sent.remove(prompt)
        if not self.running:  # it came too late for its turn, and has one of its own
            self.prompt, self.taken = prompt, True
            found += self._begun(prompt)
        return [*found, PromptTaken(prompt=prompt)]

    def given_back(self, prompt: str, *, is_back: bool) -> list[Event]:
        """The client has answered whether it still had a prompt that was withdrawn."""
        if prompt == self.prompt:
            if not is_back or self.taken:
                return []
            self.prompt = ""
            return [] if self.running else [TurnEnded(how=How.STOPPED)]
        if prompt not in self.sent:
            return []
        self.sent.remove(prompt)
        if is_back:
            self._left.append(prompt)
        elif not self.prompt or self.taken:
            ends = self._ending is not None and not self.sent
            found = self._let_end() if ends else []
            if not self.running:
                self.prompt, self.taken = prompt, False  # it begins a turn just now
            return found if ends else [PromptTaken(prompt=prompt)]
        return self._let_end() if not self.sent else []

    def ends(self, how: How, reason: str, *, by_itself: bool, is_sure: bool) -> list[Event]:
        """A turn has ended. `is_sure`: it would have been said if our prompt were not in it."""
        found: list[Event] = []
        itself = self._by_itself or by_itself
        if self.prompt and not self.taken and not itself:
            if is_sure or how is How.FAILED:
                self.prompt = ""
            else:
                self.taken = True
                found += self._said(self.prompt)
        if not self.running and not self.prompt and not found:
            return []
        self._ending = TurnEnded(how=how, reason=reason)
        return found if self.sent else [*found, *self._let_end()]

    # -- One after the other -----------------------------------------------------------------------

    def _which(self, prompts: Collection[str] | None) -> str:
        """Return the prompt that a turn begins with; "" if it begins by itself."""
        if prompts is None and self._unprompted:
            return ""
        own = [*([] if self.taken or not self.prompt else [self.prompt]), *self.sent]
        return next((each for each in own if prompts is None or each in prompts), "")

    def _begun(self, prompt: str) -> list[Event]:
        self.running = True
        self._by_itself = not prompt
        if prompt in self.sent:  # it came too late for its turn
            self.sent.remove(prompt)
            self.prompt, self.taken = prompt, False
        origin = Origin.PROMPT if prompt else Origin.ITSELF
        return [TurnStarted(prompt="" if prompt in self._ours else prompt, origin=origin)]

    def _let_end(self) -> list[Event]:
        """Say that a turn has ended, if that was held back."""
        if self._ending is None:
            return []
        left = (*self._left, *self.waiting)
        found: list[Event] = [self._ending._replace(left=left)]
        self._ending = None
        self._left.clear()
        self.waiting.clear()
        self.running = self._by_itself = False
        if self.taken:
            self.prompt, self.taken = "", False
        return found

    def _said(self, prompt: str) -> list[Event]:
        return [] if prompt in self._ours else [PromptTaken(prompt=prompt)]
