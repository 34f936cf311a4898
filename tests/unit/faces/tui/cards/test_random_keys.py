"""Random keys while cards come and go: no answer that is not after its own chord.

The chord is in the alphabet, and so are pastes of answers, the terminal losing and getting the
focus, and cards that are answered elsewhere. The clock is the test's; keys are posted, and the loop
gets its turn now and then, so that keys wait in queues while cards change. `run.py prove` types ten
thousand.
"""

import asyncio
import random
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

import left_to_prove
from siding.faces.tui.cards.answering import Answering
from siding.faces.tui.cards.pane import CHORD, AnswerPane
from siding.faces.tui.keys import Key
from siding.feed.model import AskKind
from unit.faces.tui.apps import app_in
from unit.faces.tui.cards.decisions import Clock, ask, card, options
from unit.faces.tui.cards.hands import JudgedPane, RandomHand

KEYS = 10_000 if left_to_prove.ALL else 1_200
_KINDS = (AskKind.QUESTION, AskKind.PERMISSION, AskKind.GATE)


class Desk(Answering):
    """A place with a text field and a card."""

    KEYS: ClassVar[tuple[Key, ...]] = (Key("answer", (CHORD, "tab"), "answer"),)

    def __init__(self) -> None:
        super().__init__()
        self.pane: JudgedPane = JudgedPane(Clock())
        self.field = Input()
        self.cards = 0

    def body(self) -> ComposeResult:
        yield self.field
        yield self.pane

    def may_leave(self) -> bool:
        return False

    def on_answer_pane_answered(self, event: AnswerPane.Answered) -> None:
        """Carry nothing out."""
        event.prevent_default()
        self.pane.carried_out(event.ask.id)

    def show(self) -> None:
        """Show a new card."""
        self.cards += 1
        kind = random.Random(self.cards).choice(_KINDS)
        shown = card(options("run", "refuse"), kind=kind)
        self.pane.show_card(ask(f"ask{self.cards}", kind), shown)

    def hide(self) -> None:
        """Let the card be answered elsewhere."""
        self.pane.show_rows([])


async def typed_at_random(home: Path, seed: int, keys: int) -> Desk:
    """Return the desk after so many keys."""
    desk = Desk()
    app = app_in(home, desk)
    async with app.run_test() as pilot:
        hand = RandomHand(app, desk.pane.clock, seed, {desk.show: 0.03, desk.hide: 0.01})
        for number in range(keys):
            await hand.step()
            if number % 50 == 0:
                await pilot.pause()
        await pilot.pause()
    return desk


def test_no_answer_without_its_own_chord(tmp_path: Path) -> None:
    desk = asyncio.run(typed_at_random(tmp_path, 1, KEYS))
    assert desk.pane.wrong == []
    assert len(desk.pane.answers) > KEYS // 400  # else it proves nothing
