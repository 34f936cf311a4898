"""The card of a question: its items one after the other, a note to each, and what is recorded.

A question with one item and one answer is answered by one key. Several items, and a choice of
several options, are shown once more before they are recorded. A gate and a permission need the code
that the card shows, but a refusal needs none: whoever writes to this terminal can only refuse.
"""

from enum import StrEnum
from typing import Any

from siding.asking.views import DecisionView, ItemView, OptionView
from siding.faces.tui.cards.act_card import code_rows, locked, typed_code
from siding.faces.tui.cards.card import (
    FOREIGN,
    LEAVES,
    OURS,
    CardAct,
    Line,
    Reply,
    Wanted,
    wrapped,
)
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.text import cut, inert
from siding.feed.model import AskKind

REFUSALS = frozenset({"refuse", "end", "no"})  # answers that let nothing happen
WHY = "no, and say why"
_CONTEXT_ROWS = 12


class Mode(StrEnum):
    """What a key is for."""

    CHOOSE = "choose"
    WRITE = "write"  # a free text
    NOTE = "note"
    REVIEW = "review"
    CODE = "code"


class DecisionCard:
    """One decision, and what was chosen so far."""

    def __init__(
        self,
        ask: str,
        kind: AskKind,
        decision: DecisionView,
        codes: Codes,
        *,
        effect: tuple[str, ...] = (),
    ) -> None:
        self._ask = ask
        self._kind = kind
        self._decision = decision
        self._codes = codes
        self._effect = effect  # what the command that is asked about would do
        self._at = 0
        self._marked = self._first_marked()
        self._chosen: dict[int, tuple[str, ...]] = {}
        self._notes: dict[int, str] = {}
        self._texts = {item.id: Line() for item in decision.items if item.kind == "text"}
        self._note = Line()
        self._pending = ""
        self._refuses_after_note = False
        self._mode = self._usual_mode()

    @property
    def ask(self) -> str:
        return self._ask

    def show_effect(self, lines: tuple[str, ...]) -> bool:
        """Show what the command would do; return whether that is something else than before."""
        is_new, self._effect = lines != self._effect, lines
        return is_new

    @property
    def takes_text(self) -> bool:
        return self._mode in (Mode.WRITE, Mode.NOTE, Mode.CODE)

    def rest(self) -> None:
        self._pending = ""
        self._codes.drop()
        if self._mode is Mode.CODE:
            self._mode = self._usual_mode()

    def key(self, key: str, character: str | None) -> Reply:
        pending, self._pending = self._pending, ""
        if key == "escape":
            return self._escape()
        if key == "ctrl+x":
            if pending == key:
                return Reply(Wanted(CardAct.CANCEL))
            self._pending = key
            return Reply(said="ctrl+x again takes the question back, and whoever waits is told")
        if key == "shift+tab":
            return self._back()
        match self._mode:
            case Mode.CHOOSE:
                return self._choose(key)
            case Mode.WRITE:
                return self._write(key, character)
            case Mode.NOTE:
                return self._write_note(key, character)
            case Mode.REVIEW:
                return self._finish() if key == "enter" else FOREIGN
            case Mode.CODE:
                return self._code(key, character)

    # What a key does.

    def _escape(self) -> Reply:
        """Leave what a second key would have done; from there, leave the card. Nothing is said."""
        if self._mode in (Mode.NOTE, Mode.CODE):
            self._codes.drop()
            self._refuses_after_note = False
            self._mode = self._usual_mode()
            return OURS
        self.rest()
        return LEAVES

    def _back(self) -> Reply:
        self._codes.drop()
        self._at = max(0, self._at - (self._mode in (Mode.CHOOSE, Mode.WRITE)))
        self._arrive()
        return OURS

    def _choose(self, key: str) -> Reply:
        item = self._item
        if key.isdecimal():
            return self._numbered(item, int(key))
        if key in ("up", "k", "down", "j"):
            step = -1 if key in ("up", "k") else 1
            self._marked = max(0, min(self._marked + step, len(item.options) - 1))
            return OURS
        if key == "space" and item.kind == "multiple":
            return self._toggle(item, self._marked)
        if key == "enter":
            return self._enter(item)
        if key == "e":
            self._note = Line(self._notes.get(item.id, ""))
            self._mode = Mode.NOTE
            return OURS
        if key == "r":
            return self._recommended()
        if key == "o":
            return Reply(Wanted(CardAct.OPEN))
        return FOREIGN

    def _numbered(self, item: ItemView, number: int) -> Reply:
        options = len(item.options)
        if self._says_why and number == options + 1:
            self._note, self._mode = Line(self._notes.get(item.id, "")), Mode.NOTE
            self._refuses_after_note = True
            return OURS
        if not 1 <= number <= min(options, 9):
            return Reply(said=f"there is no choice {number}")
        self._marked = number - 1
        if item.kind == "multiple":
            return self._toggle(item, number - 1)
        return self._take(item, (item.options[number - 1].value,))

    def _toggle(self, item: ItemView, at: int) -> Reply:
        value, before = item.options[at].value, self._chosen.get(item.id, ())
        after = [each for each in before if each != value]
        if value not in before:
            after.append(value)
        order = [option.value for option in item.options]
        self._chosen[item.id] = tuple(sorted(after, key=order.index))
        return OURS

    def _enter(self, item: ItemView) -> Reply:
        if item.kind == "single":
            return self._take(item, (item.options[self._marked].value,))
        values = self._chosen.get(item.id, ())
        if not item.least <= len(values) <= item.most:
            return Reply(said=f"choose {range_of(item)} of them")
        return self._take(item, values)

    def _recommended(self) -> Reply:
        """Take what is recommended where nothing is chosen yet; then it is shown once more."""
        found: dict[int, tuple[str, ...]] = {}
        for item in self._decision.items:
            values = self._chosen.get(item.id) or recommended(item)
            if not values:
                return Reply(said=f"nothing is recommended for {item.id}")
            found[item.id] = values
        self._chosen = found
        self._at = len(self._decision.items) - 1
        self._mode = Mode.REVIEW
        return OURS

    def _write(self, key: str, character: str | None) -> Reply:
        item = self._item
        if key == "enter":
            text = self._texts[item.id].text.strip() or item.suggested
            if not text:
                return Reply(said="type an answer first")
            return self._take(item, (text,))
        return OURS if self._texts[item.id].key(key, character) else FOREIGN

    def _write_note(self, key: str, character: str | None) -> Reply:
        if key != "enter":
            return OURS if self._note.key(key, character) else FOREIGN
        item, text = self._item, self._note.text.strip()
        if text:
            self._notes[item.id] = text
        else:
            self._notes.pop(item.id, None)
        self._mode = self._usual_mode()
        if self._refuses_after_note:
            self._refuses_after_note = False
            if not text:
                return Reply(said="say why, or choose the answer without")
            return self._take(item, (self._refusal,))
        return Reply(said="the note goes with the answer" if text else "no note")

    def _take(self, item: ItemView, values: tuple[str, ...]) -> Reply:
        """Keep the answer to an item and go on; a question of one answer is finished with it."""
        self._chosen[item.id] = values
        items = self._decision.items
        if len(items) == 1 and item.kind != "multiple":
            return self._finish()
        if self._at + 1 < len(items):
            self._at += 1
            self._arrive()
        else:
            self._mode = Mode.REVIEW
        return OURS

    def _arrive(self) -> None:
        self._mode = self._usual_mode()
        self._marked = self._first_marked()

    def _finish(self) -> Reply:
        missing = [each.id for each in self._decision.items if each.id not in self._chosen]
        if missing:
            return Reply(said=f"{missing[0]} has no answer yet: shift+tab goes back")
        if not self._needs_code:
            return Reply(self._answer())
        if not self._codes.new():
            self._mode = self._usual_mode()
            return Reply(said=locked(self._codes))
        self._mode = Mode.CODE
        return OURS

    def _code(self, key: str, character: str | None) -> Reply:
        reply = typed_code(self._codes, key, character)
        if not self._codes.shown:
            self._mode = self._usual_mode()
        return Reply(self._answer()) if reply is None else reply

    def _answer(self) -> Wanted:
        return Wanted(CardAct.ANSWER, tuple(self._document(item) for item in self._decision.items))

    def _document(self, item: ItemView) -> dict[str, Any]:
        values = self._chosen[item.id]
        chosen = list(values) if item.kind == "multiple" else values[0]
        document: dict[str, Any] = {"id": item.id, "chosen": chosen}
        if item.id in self._notes:
            document["note"] = self._notes[item.id]
        return document

    # What is so.

    @property
    def _item(self) -> ItemView:
        return self._decision.items[self._at]

    def _usual_mode(self) -> Mode:
        return Mode.WRITE if self._item.kind == "text" else Mode.CHOOSE

    def _first_marked(self) -> int:
        options = self._item.options
        return next((at for at, each in enumerate(options) if each.recommended), 0)

    @property
    def _refusal(self) -> str:
        """The option of a permission that lets nothing happen; "" if there is none."""
        values = [option.value for option in self._item.options]
        return next((value for value in values if value in REFUSALS), "")

    @property
    def _says_why(self) -> bool:
        """Whether there is a choice more: a refusal that says why."""
        single = self._kind is AskKind.PERMISSION and len(self._decision.items) == 1
        return single and bool(self._refusal) and len(self._item.options) < 9

    @property
    def _needs_code(self) -> bool:
        if self._kind is AskKind.GATE or self._decision.gate:
            return True
        chosen = {value for values in self._chosen.values() for value in values}
        return self._kind is AskKind.PERMISSION and not chosen <= REFUSALS

    @property
    def _agrees(self) -> str:
        if self._decision.gate:
            return f"opens the gate of phase {self._decision.gate}"
        labels = [
            option.label
            for item in self._decision.items
            for option in item.options
            if option.value in self._chosen.get(item.id, ())
        ]
        return f"answers {', '.join(labels)!r}" if labels else "records the answer"

    # How it is drawn.

    def rows(self, width: int) -> list[Pieces]:
        many = len(self._decision.items)
        if self._mode is Mode.REVIEW:
            return self._review(width)
        item = self._item
        place = f"{self._at + 1}/{many} " if many > 1 else ""
        rows = wrapped(item.title, width, "bold", first=(place, "dim") if place else None)
        context = wrapped(item.context.strip(), width, "dim", first=("│ ", "dim"))
        if item.context.strip():
            rows += context[:_CONTEXT_ROWS]
            if len(context) > _CONTEXT_ROWS:
                more = len(context) - _CONTEXT_ROWS
                rows.append([(cut(f"│ and {more} more rows: o opens all", width), "dim")])
        if item.location is not None:
            where = f"{item.location.file}:{item.location.start}-{item.location.end}"
            rows.append([(cut(inert(where), width), "link")])
        for line in self._effect:
            rows += wrapped(line, width, "warn")
        for at, option in enumerate(item.options):
            rows += self._option(item, at, option, width)
        if self._says_why:
            rows += wrapped(WHY, width, "text", first=(f"   {len(item.options) + 1} ", "code"))
        rows += self._typed(item, width)
        return rows

    def _option(self, item: ItemView, at: int, option: OptionView, width: int) -> list[Pieces]:
        chosen = option.value in self._chosen.get(item.id, ())
        box = ("[x]" if chosen else "[ ]") if item.kind == "multiple" else ("*" if chosen else " ")
        number = str(at + 1) if at < 9 else "·"
        mark = ">" if at == self._marked and self._mode is Mode.CHOOSE else " "
        facts = [] if option.score is None else [f"score {option.score:g}"]
        facts += ["recommended"] if option.recommended else []
        told = f"  ({', '.join(facts)})" if facts else ""
        first = f"{mark}{box} {number} "
        rows = wrapped(f"{option.label}{told}", width, "text", first=(first, "code"))
        for sign, look, texts in (("+", "good", option.pros), ("-", "bad", option.cons)):
            for text in texts:
                rows += wrapped(text, width, "text", first=(f"      {sign} ", look))
        return rows

    def _typed(self, item: ItemView, width: int) -> list[Pieces]:
        """Return the rows of what is typed: an answer, a note, a code."""
        rows: list[Pieces] = []
        if item.kind == "text":
            end = "_" if self._mode is Mode.WRITE else ""
            rows += wrapped(self._texts[item.id].text + end, width, "bold", first=("» ", "code"))
            if item.suggested:
                rows += wrapped(f"enter alone takes: {item.suggested}", width, "dim")
        if self._mode is Mode.NOTE:
            rows += wrapped(f"{self._note.text}_", width, "bold", first=("note » ", "code"))
        elif item.id in self._notes:
            rows += wrapped(self._notes[item.id], width, "dim", first=("note: ", "dim"))
        if self._mode is Mode.CODE:
            rows += code_rows(self._codes, self._agrees, width)
        return rows

    def _review(self, width: int) -> list[Pieces]:
        rows: list[Pieces] = []
        for item in self._decision.items:
            labels = {option.value: option.label for option in item.options}
            said = ", ".join(labels.get(each, each) for each in self._chosen.get(item.id, ()))
            rows += wrapped(item.title, width, "dim", first=(f"{item.id}. ", "dim"))
            rows += wrapped(said or "none of them", width, "bold", first=("   ", "text"))
            if item.id in self._notes:
                rows += wrapped(self._notes[item.id], width, "dim", first=("   note: ", "dim"))
        return rows

    def hints(self) -> str:
        match self._mode:
            case Mode.WRITE:
                return "enter records · ctrl+j new line · esc leaves it open"
            case Mode.NOTE:
                return "enter keeps the note · esc drops it"
            case Mode.REVIEW:
                return "enter records these answers · shift+tab goes back · esc leaves it open"
            case Mode.CODE:
                return "type the letters · esc goes back"
            case Mode.CHOOSE:
                several = "digits mark, enter goes on" if self._item.kind == "multiple" else "digit"
                return f"{several} · e note · ctrl+x ctrl+x takes it back · esc leaves it open"


def range_of(item: ItemView) -> str:
    """Return how many options of a multiple choice are chosen, in words."""
    return str(item.least) if item.least == item.most else f"{item.least} to {item.most}"


def recommended(item: ItemView) -> tuple[str, ...]:
    """Return what is recommended for an item; empty if nothing is."""
    if item.kind == "text":
        return (item.suggested,) if item.suggested else ()
    return tuple(option.value for option in item.options if option.recommended)
