"""Ten thousand random keys while cards come and go: no answer that is not after its own chord.

The chord is in the alphabet, and so are pastes of answers, the terminal losing and getting the
focus, and cards that are answered elsewhere. The clock is the test's; keys are posted, and the loop
gets its turn now and then, so that keys wait in queues while cards change.
"""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.events import AppBlur, AppFocus, Blur, Event, Key, Paste
from textual.message import Message
from textual.widgets import Input

from siding.faces.tui.app import SidingApp
from siding.faces.tui.cards.answering import Answering
from siding.faces.tui.cards.pane import CHORD, AnswerPane
from siding.faces.tui.keys import Key as Entry
from siding.feed.addresses import Address
from siding.feed.model import AskKind
from unit.faces.tui.apps import app_in
from unit.faces.tui.cards.decisions import Clock, ask, card, options

KEYS = 10_000
_LETTERS = "abefghijknorsuxy"
_NAMED = ("enter", "escape", "space", "up", "down", "tab", "shift+tab", "backspace", "ctrl+x")
_KINDS = (AskKind.QUESTION, AskKind.PERMISSION, AskKind.GATE)


class JudgedPane(AnswerPane):
    """A pane whose answers are judged when they are given."""

    judge: Callable[[str], None]

    def post_message(self, message: Message) -> bool:
        if isinstance(message, AnswerPane.Answered):
            self.judge(message.ask.id)
        return super().post_message(message)

    def on_blur(self, event: Blur) -> None:
        del event  # the one of the base gets it, too
        self.judge("")


class Desk(Answering):
    """A place with a text field and a card, which notes the chords and the answers."""

    KEYS: ClassVar[tuple[Entry, ...]] = (Entry("answer", (CHORD, "tab"), "answer"),)

    def __init__(self, address: Address | None = None) -> None:
        super().__init__(address)
        self.clock = Clock()
        self.pane = pane = JudgedPane(now=self.clock)
        pane.judge = self.judge
        self.field = Input()
        self.shown_at: dict[str, float] = {}
        self.chord: tuple[str, float] | None = None  # the ask that was shown, and when
        self.answers: list[str] = []
        self.wrong: list[str] = []

    def body(self) -> ComposeResult:
        yield self.field
        yield self.pane

    def may_leave(self) -> bool:
        return False

    def act_answer(self) -> None:
        self.pane.chord()

    def on_answer_pane_answered(self, event: AnswerPane.Answered) -> None:
        """Carry nothing out."""
        event.prevent_default()
        self.pane.carried_out(event.ask.id)

    def judge(self, name: str) -> None:
        """Hold an answer against what the test knows, when its key is taken; "" is a blur."""
        now = self.clock.at
        chord, self.chord = self.chord, None  # one chord, one answer; none after a blur
        if not name:
            return
        self.answers.append(name)
        if not self.pane.has_focus:
            self.wrong.append(f"{name}: without the focus")
        if chord is None:
            self.wrong.append(f"{name}: no chord")
        elif chord[0] != name:
            self.wrong.append(f"{name}: the chord was for {chord[0]}")
        elif now - chord[1] < 0.15 or now - self.shown_at[name] < 0.4:
            self.wrong.append(f"{name}: too early")

    def show(self, name: str, kind: AskKind) -> None:
        """Show a new card."""
        self.shown_at[name] = self.clock.at
        self.chord = None
        self.pane.show_card(ask(name, kind), card(options("run", "refuse"), kind=kind, gate=""))


class Hand:
    """Types at random, and lets cards come and go."""

    def __init__(self, app: SidingApp, desk: Desk, seed: int) -> None:
        self._app, self._desk = app, desk
        self._random = random.Random(seed)
        self._cards = 0

    def step(self) -> None:
        """Do one thing."""
        desk, chance = self._desk, self._random.random()
        desk.clock.at += self._random.choice((0.005, 0.02, 0.08, 0.16, 0.3, 0.6))
        if chance < 0.03:
            self._cards += 1
            desk.show(f"ask{self._cards}", self._random.choice(_KINDS))
        elif chance < 0.04:
            desk.chord = None
            desk.pane.show_rows([])  # answered elsewhere
        elif chance < 0.06:
            self._post(AppBlur() if self._random.random() < 0.5 else AppFocus())
        elif chance < 0.08:
            self._post(Paste("1\n2\ny1\x191"))
        elif chance < 0.12:
            self._post(Key(CHORD, None))
        else:
            self._post(self._key())

    def _key(self) -> Key:
        chance = self._random.random()
        if chance < 0.5:
            letter = self._random.choice("123123459")
        elif chance < 0.8:
            letter = self._random.choice(_LETTERS)
        else:
            name = self._random.choice(_NAMED)
            return Key(name, " " if name == "space" else None)
        return Key(letter, letter)

    def _post(self, event: Event) -> None:
        self._app.post_message(event)

    async def wait(self) -> None:
        """Let the loop have its turn, or not."""
        for _ in range(self._random.randrange(7)):
            await asyncio.sleep(0)


async def typed_at_random(home: Path, seed: int, keys: int) -> Desk:
    """Return the desk after so many keys."""
    desk = Desk()
    app = app_in(home, desk)
    async with app.run_test() as pilot:
        chord = desk.pane.arming.chord

        def noted() -> bool:
            took = chord()
            desk.chord = (desk.pane.arming.shown, desk.clock.at) if took else None
            return took

        desk.pane.arming.chord = noted  # type: ignore[method-assign]
        hand = Hand(app, desk, seed)
        for number in range(keys):
            hand.step()
            await hand.wait()
            if number % 50 == 0:
                await pilot.pause()
        await pilot.pause()
    return desk


def test_no_answer_without_its_own_chord(tmp_path: Path) -> None:
    desk = asyncio.run(typed_at_random(tmp_path, 1, KEYS))
    assert desk.wrong == []
    assert len(desk.answers) > 20  # else it proves nothing
    assert any(name in desk.shown_at for name in desk.answers)
