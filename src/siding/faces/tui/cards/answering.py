"""A place in which asks are answered: it has the pane, has cards read, and gives the keys to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from siding.faces.tui.cards.card import Card, CardAct, Wanted, wrapped
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.cards.decision_card import DecisionCard
from siding.faces.tui.cards.pane import AnswerPane
from siding.faces.tui.place import Place
from siding.feed.addresses import Address
from siding.feed.model import Ask, AskKind
from siding.ground.errors import SidingError

if TYPE_CHECKING:
    from siding.faces.tui.cards.card_of import ShownEffect

_EFFECT_AFTER_S = 0.5


class Answering(Place):
    """Base of places with an answer card. The subclass yields `self.pane` in its body."""

    def __init__(self, address: Address | None = None) -> None:
        super().__init__(address)
        self.pane = AnswerPane()
        self._codes: Codes | None = None
        self._offered = ""  # the id of the ask whose card is shown or being read

    # What a subclass says.

    def answer(self, ask: Ask, wanted: Wanted) -> str:
        """Carry an answer out, in a thread; return a sentence about it."""
        raise NotImplementedError

    def attach(self, ask: Ask) -> None:
        """Go to the screen of the agent that asks."""

    # What it may use.

    def offer(self, ask: Ask) -> None:
        """Show the card of an ask. It is read in a thread, and shown if it still is the one."""
        if ask.id == self._offered:
            if self.pane.asking is not None and self.pane.asking.id == ask.id:
                self.pane.asking = ask
            return
        self._offered = ask.id
        if self.pane.card is not None:
            self.pane.show_rows([])
        app, codes = self.port.siding, self.codes

        def read() -> Card | str:
            from siding.faces.tui.cards.card_of import card_of

            try:
                return card_of(app, ask, codes)
            except SidingError as error:
                return f"{error.message}\n{error.hint or ''}".strip()

        self.port.work(read, then=partial(self._read, ask))

    def withdraw(self) -> None:
        """Show no card."""
        self._offered = ""

    @property
    def codes(self) -> Codes:
        """The codes of this place."""
        if self._codes is None:
            app = self.port.siding
            self._codes = Codes(app.random_bytes, self.pane.now)
        return self._codes

    def act_answer(self) -> None:
        """Arm the card."""
        if not self.pane.chord():
            self.port.say("nothing asks here")

    def typed(self) -> None:
        """Note that a key or a paste came: what was not for the card keeps it from taking more."""
        if self.focused is not self.pane:
            self.pane.typed()

    def _read(self, ask: Ask, card: Card | str) -> None:
        if self._offered != ask.id:
            return
        if isinstance(card, str):
            self.pane.show_rows(wrapped(card, max(20, self.size.width), "warn"))
        else:
            self.pane.show_card(ask, card)
            self._follow_effect(ask)

    def _follow_effect(self, ask: Ask) -> None:
        """Show the effect of a command when it is known: it is tried while the card is there."""
        if ask.kind is AskKind.PERMISSION and self._offered == ask.id:
            from siding.faces.tui.cards.card_of import effect_of_ask

            read = partial(effect_of_ask, self.port.siding, ask)
            self.port.work(read, then=partial(self._take_effect, ask))

    def _take_effect(self, ask: Ask, effect: ShownEffect) -> None:
        card = self.pane.card
        if isinstance(card, DecisionCard) and card.ask == ask.id:
            if card.show_effect(effect.lines):
                self.pane.refresh(layout=True)
            if effect.is_pending:
                self.set_timer(_EFFECT_AFTER_S, partial(self._follow_effect, ask))

    def on_answer_pane_told(self, event: AnswerPane.Told) -> None:
        """Say what the card says."""
        self.port.say(event.text)

    def on_answer_pane_answered(self, event: AnswerPane.Answered) -> None:
        """Carry out what a person has answered."""
        ask, wanted = event.ask, event.wanted
        if wanted.act is CardAct.OPEN:
            self.pane.carried_out(ask.id)
            self.port.open_address(ask.address)
        elif wanted.act is CardAct.ATTACH:
            self.pane.carried_out(ask.id)
            self.attach(ask)
        else:
            self.port.work(partial(self._answered, ask, wanted), then=self.port.say)

    def _answered(self, ask: Ask, wanted: Wanted) -> str:
        try:
            return self.answer(ask, wanted)
        finally:
            pump: MessagePump = self
            pump.call_later(self.pane.carried_out, ask.id)
