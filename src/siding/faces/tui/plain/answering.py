"""Answer in plain mode what waits: a question, a permission, a gate, and what asks for an act."""

import secrets

from siding.asking.lookup import get
from siding.asking.views import DecisionView
from siding.effect.effect import Effect, EffectState
from siding.effect.store import effect_of_entry, patch_of, shown_lines
from siding.faces.tui.acts.answers import carry_out
from siding.faces.tui.cards.act_card import ActCard, Choice, Guard
from siding.faces.tui.cards.card import CardAct, Wanted
from siding.faces.tui.cards.card_of import card_of, project_of
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.plain import reading
from siding.faces.tui.plain.talk import NOTHING, Talk
from siding.faces.tui.text import inert
from siding.feed.model import Ask, AskKind
from siding.record.place.wiring import App

_ANSWERABLE = (AskKind.QUESTION, AskKind.PERMISSION, AskKind.GATE)
_CODED = (AskKind.PERMISSION, AskKind.GATE)
_FILES, _LINES = 20, 20  # that are said of an effect
_PAGE = 20
_LOOK_S = 0.5
_CANCEL, _EFFECT = "cancel", "e"
_ON_SCREENS = (CardAct.OPEN, CardAct.ATTACH)


class Answering:
    """Says what is asked, and takes the answer."""

    def __init__(self, app: App, talk: Talk) -> None:
        self._app = app
        self._talk = talk
        # Only what a card draws with a code; here a code is said, and asked for once.
        self._codes = Codes(app.random_bytes, lambda: 0.0)

    def answer(self, ask: Ask) -> None:
        """Have an ask answered. Raises Leave, Stopped, SidingError and OSError."""
        if ask.kind in _ANSWERABLE and ask.entry.session_id and ask.entry.page:
            self._decision(ask)
        else:
            self._act(ask)

    # A question, a permission, a gate.

    def _decision(self, ask: Ask) -> None:
        decision = get(project_of(self._app, ask.entry), ask.entry.session_id)
        self._talk.say_all(reading.question_lines(decision))
        effect = effect_of_entry(self._app, ask.entry)
        if effect is not None:
            self._say_effect(effect)
        answers = self._chosen(ask, decision, has_effect=effect is not None)
        if answers is None:
            return
        if ask.kind in _CODED and not self._is_code_typed("this permits something"):
            self._talk.say("that is another code; nothing was recorded")
            return
        wanted = Wanted(CardAct.ANSWER, tuple(answers))
        self._talk.say(inert(carry_out(self._app, ask, wanted)))

    def _chosen(
        self, ask: Ask, decision: DecisionView, *, has_effect: bool
    ) -> list[dict[str, object]] | None:
        """Return the answer to each item; None if the person gives none."""
        answers: list[dict[str, object]] = []
        for item in decision.items:
            self._talk.say_all(reading.item_lines(item))
            also = "; e says the effect" if has_effect else ""
            asked = reading.asks_for(item) + also
            typed = self._talk.ask(asked)
            while has_effect and typed == _EFFECT:
                self._whole_effect(ask)
                typed = self._talk.ask(asked)
            if typed == _CANCEL and item.options:
                self._take_back(ask)
                return None
            if typed == "b" and item.options:
                self._talk.say("not answered; it still waits")
                return None
            chosen = reading.chosen_of(item, typed)
            if chosen is None:
                self._talk.say("that is no answer; nothing was recorded")
                return None
            answers.append({"id": item.id, "chosen": chosen})
        return answers

    def _take_back(self, ask: Ask) -> None:
        """Cancel a question: who asked is told that nobody answers."""
        reason = self._talk.ask("this takes the question back; say why, or nothing to keep it")
        if not reason:
            self._talk.say("not answered; it still waits")
            return
        if ask.kind in _CODED and not self._is_code_typed("this ends what waits"):
            self._talk.say("that is another code; nothing was recorded")
            return
        self._talk.say(inert(carry_out(self._app, ask, Wanted(CardAct.CANCEL, reason=reason))))

    def _say_effect(self, effect: Effect) -> None:
        shown = shown_lines(effect, files=_FILES, patch=_LINES)
        self._talk.say_all(map(inert, shown))

    def _whole_effect(self, ask: Ask) -> None:
        """Say an effect, with its patch by pages; wait for one that is being found out."""
        effect = effect_of_entry(self._app, ask.entry)
        if effect is not None and effect.state is EffectState.PENDING:
            self._talk.say("the effect is not known yet: waiting for it; Enter ends that")
            while effect is not None and effect.state is EffectState.PENDING:
                if self._talk.has_line(_LOOK_S):
                    self._talk.line()
                    self._talk.say("no longer waiting for the effect")
                    return
                effect = effect_of_entry(self._app, ask.entry)
        if effect is None:
            self._talk.say("the question is answered already, or its effect cannot be read")
            return
        self._talk.say_all(map(inert, shown_lines(effect, files=_FILES, patch=0)))
        if effect.state is EffectState.STALE:
            self._talk.say(f"siding decide effect {inert(ask.entry.session_id)} counts it again")
        patch = patch_of(effect)
        if patch:
            self._talk.pages(
                map(inert, patch.rstrip("\n").split("\n")),
                page=_PAGE,
                nothing="there is no patch",
                end="end of the patch",
            )

    # What asks for an act: a conflict, a failure, hooks, a workflow, an agent's own screen.

    def _act(self, ask: Ask) -> None:
        card = card_of(self._app, ask, self._codes)
        self._talk.say(reading.ask_line(ask))
        if not isinstance(card, ActCard):
            return
        self._talk.say_all(f"  {inert(line)}" for line in card.lines)
        self._talk.say(f"outside of here: {inert(ask.entry.command)}")
        choices = [each for each in card.choices if each.act not in _ON_SCREENS]
        if not choices:
            return
        for number, choice in enumerate(choices, 1):
            self._talk.say(f"{number}: {inert(choice.label)}")
        typed = self._talk.ask("a number, or nothing to leave it")
        if not typed.isdecimal() or not 1 <= int(typed) <= len(choices):
            self._talk.say(NOTHING)
            return
        choice = choices[int(typed) - 1]
        if not self._agrees(choice):
            self._talk.say(NOTHING)
            return
        wanted = Wanted(choice.act, reason=choice.value)
        self._talk.say(f"done: {inert(carry_out(self._app, ask, wanted))}")

    def _agrees(self, choice: Choice) -> bool:
        match choice.guard:
            case Guard.NOTHING:
                return True
            case Guard.TWICE:
                said = f"{choice.names}: type yes, the whole word, to do it"
                return self._talk.ask_anew(inert(said)) == "yes"
            case Guard.CODE:
                return self._is_code_typed(choice.names)

    def _is_code_typed(self, what: str) -> bool:
        code = f"{secrets.randbelow(10_000):04}"
        return self._talk.ask_anew(f"{what}: type the code {' '.join(code)}") in (
            code,
            " ".join(code),
        )
