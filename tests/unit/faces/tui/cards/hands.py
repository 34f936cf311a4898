"""A hand that types at random, and a judge of the answers that comes of it.

The judge knows the chords and what was on the screen, and not the card: an answer is right only
after a chord of its own, with the focus, and not too early.
"""

import asyncio
import random
from collections.abc import Callable

from textual.events import AppBlur, AppFocus, Blur, Event, Key, Paste
from textual.message import Message

from siding.faces.tui.app import SidingApp
from siding.faces.tui.cards.card import Card
from siding.faces.tui.cards.pane import CHORD, AnswerPane
from siding.feed.model import Ask
from unit.faces.tui.cards.decisions import Clock

_LETTERS = "abefghijknorsuxy"
_NAMED = ("enter", "escape", "space", "up", "down", "tab", "shift+tab", "backspace", "ctrl+x")


class JudgedPane(AnswerPane):
    """A pane whose answers are judged when their key is taken."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(now=clock)
        self.clock = clock
        self.shown_at: dict[str, float] = {}
        self.chorded: tuple[str, float] | None = None  # the ask that was shown, and when
        self.answers: list[str] = []
        self.wrong: list[str] = []

    def chord(self) -> bool:
        took = super().chord()
        self.chorded = (self.arming.shown, self.clock.at) if took else None
        return took

    def show_card(self, ask: Ask, card: Card) -> None:
        if self.asking is None or self.asking.id != ask.id or self.card is None:
            self.shown_at[ask.id] = self.clock.at
            self.chorded = None
        super().show_card(ask, card)

    def on_blur(self, event: Blur) -> None:
        del event  # the one of the base gets it, too
        self.chorded = None

    def post_message(self, message: Message) -> bool:
        if isinstance(message, AnswerPane.Answered):
            self._judge(message.ask.id)
        return super().post_message(message)

    def _judge(self, name: str) -> None:
        now = self.clock.at
        chord, self.chorded = self.chorded, None  # one chord, one answer
        self.answers.append(name)
        if not self.has_focus:
            self.wrong.append(f"{name}: without the focus")
        if chord is None:
            self.wrong.append(f"{name}: no chord")
        elif chord[0] != name:
            self.wrong.append(f"{name}: the chord was for {chord[0]}")
        elif now - chord[1] < 0.15 or now - self.shown_at[name] < 0.4:
            self.wrong.append(f"{name}: too early")


class RandomHand:
    """Types at random, and lets other things happen now and then: `happens` has their chances."""

    def __init__(
        self,
        app: SidingApp,
        clock: Clock,
        seed: int,
        happens: dict[Callable[[], None], float],
    ) -> None:
        self._app, self._clock = app, clock
        self._random = random.Random(seed)
        self._happens = happens

    async def step(self) -> None:
        """Do one thing, then let the loop have its turn, or not."""
        self._clock.at += self._random.choice((0.005, 0.02, 0.08, 0.16, 0.3, 0.6))
        chance = self._random.random()
        for happen, part in self._happens.items():
            if chance < part:
                happen()
                break
            chance -= part
        else:
            self._post(self._event())
        for _ in range(self._random.randrange(7)):
            await asyncio.sleep(0)

    def _event(self) -> Event:
        chance = self._random.random()
        if chance < 0.02:
            return self._random.choice((AppBlur, AppFocus))()
        if chance < 0.04:
            return Paste("1\n2\ny1\x191")
        if chance < 0.09:
            return Key(CHORD, None)
        if chance < 0.55:
            letter = self._random.choice("123123459")
        elif chance < 0.82:
            letter = self._random.choice(_LETTERS)
        else:
            name = self._random.choice(_NAMED)
            return Key(name, " " if name == "space" else None)
        return Key(letter, letter)

    def _post(self, event: Event) -> None:
        self._app.post_message(event)
