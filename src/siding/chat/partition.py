"""Fold a conversation's story into parts. Pure: it is given lines, and says what has changed.

What was told once is kept by whoever shows it; here is only what may still change: prompts that are
not settled, calls that run, asks that are open. So a conversation of a day needs no more memory
than one of a minute.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from siding.chat.calls import Running, ended, started, waits
from siding.chat.pace import Pace
from siding.chat.parts import (
    CallState,
    Given,
    Gone,
    More,
    Notice,
    Part,
    Plan,
    Put,
    Shift,
    Speech,
    Thinking,
    Whole,
)
from siding.chat.prompts import Fate
from siding.chat.wording import Tone, Words, because, note_of, plan_of, question_of, usage_of
from siding.ground.storage.fields import text, whole, words

MOST = 6_000  # parts that wait to be shown: of a long story, the newest
_MOST_PROMPTS = 500  # whose texts are remembered
_USUAL = "terminal"  # who gives prompts, where that is not worth a word
_FATES = {
    "prompt-taken": Fate.TAKEN,
    "proven": Fate.TAKEN,
    "unsure": Fate.UNSURE,
    "requeued": Fate.WAITS,
    "dropped": Fate.DROPPED,
}


class Partition:
    """Takes the lines of a story, in their order. `shifts` says what has changed since."""

    def __init__(self) -> None:
        self.left_out = 0  # parts that were never shown, as there were too many
        self.pace = Pace()
        self.window = 0  # tokens that the agent's model takes; 0 is not known
        self._due: OrderedDict[str, list[Shift]] = OrderedDict()
        self._prompts: OrderedDict[str, Given] = OrderedDict()
        self._told: set[str] = set()  # prompts that have a part
        self._calls: dict[str, Running] = {}
        self._asks: dict[str, tuple[Words, ...]] = {}
        self._open = ""  # the key of what is being said
        self._plan = ""
        self._plans = 0
        self._used: Mapping[str, Any] = {}

    def learn(self, line: Mapping[str, Any]) -> None:
        """Take a line of before what is shown: the text of a prompt may be needed later."""
        event = text(line.get("event"))
        if event in ("queued", "edited"):
            self._prompt(line)

    def take(self, line: Mapping[str, Any]) -> None:
        """Take the next line."""
        event = text(line.get("event"))
        self.pace = self.pace.after(line)
        step = _STEPS.get(event)
        if step is not None:
            step(self, line)
            return
        if event in _FATES:
            self._settle(line, _FATES[event])
        note = note_of(line)
        if note is not None:
            self._note(f"{event}-{whole(line.get('seq'))}", [note])

    def shifts(self) -> list[Shift]:
        """Return what has changed since this was asked last, in the order in which it began."""
        found = [each for all_ in self._due.values() for each in all_]
        self._due.clear()
        return found

    # What becomes due.

    def _put(self, key: str, part: Part) -> None:
        self._due[key] = [Put(key, part)]
        if len(self._due) > MOST:
            first, shifts = self._due.popitem(last=False)
            self.left_out += any(isinstance(each, Put) for each in shifts)
            self._told.discard(first)

    def _again(self, key: str, part: Part) -> None:
        """Show a part that is there in another way."""
        before = [each for each in self._due.get(key, ())[:1] if isinstance(each, Gone)]
        self._due[key] = [*before, Put(key, part)]

    def _more(self, key: str, piece: str) -> None:
        due = self._due.setdefault(key, [])
        last = due[-1] if due else None
        if isinstance(last, More):
            due[-1] = last._replace(text=last.text + piece)
        else:
            due.append(More(key, piece))

    def _close(self) -> None:
        if self._open:
            self._due.setdefault(self._open, []).append(Whole(self._open))
            self._open = ""

    def _note(self, key: str, lines: Iterable[Words]) -> None:
        self._close()
        self._put(key, Notice(tuple(lines)))

    # Prompts.

    def _prompt(self, line: Mapping[str, Any]) -> None:
        key = text(line.get("prompt"))
        by = text(line.get("by"))
        before = self._prompts.get(key)
        if before is not None:
            self._prompts[key] = before._replace(text=text(line.get("text")))
            return
        self._prompts[key] = Given(
            text(line.get("text")),
            "" if by == _USUAL else by,
            len(words(line.get("files"))),
            steers=line.get("steers") is True,
        )
        if len(self._prompts) > _MOST_PROMPTS:
            old, _given = self._prompts.popitem(last=False)
            self._told.discard(old)

    def _sending(self, line: Mapping[str, Any]) -> None:
        key = text(line.get("prompt"))
        given = self._prompts.get(key, Given(""))
        given = given._replace(steers=line.get("steers") is True, fate=Fate.SENT)
        self._prompts[key] = given
        self._close()
        if key in self._told:  # it was sent before, and waited again
            self._due[f"p-{key}"] = [Gone(f"p-{key}")]
            self._due.move_to_end(f"p-{key}")
            self._due[f"p-{key}"].append(Put(f"p-{key}", given))
        else:
            self._told.add(key)
            self._put(f"p-{key}", given)

    def _settle(self, line: Mapping[str, Any], fate: Fate) -> None:
        key = text(line.get("prompt"))
        given = self._prompts.get(key)
        if given is None or key not in self._told or given.fate is fate:
            return
        if fate is Fate.DROPPED and given.fate is Fate.WAITS:
            return
        self._prompts[key] = given = given._replace(fate=fate)
        self._again(f"p-{key}", given)

    # What the agent says and does.

    def _said(self, line: Mapping[str, Any]) -> None:
        piece, inside = text(line.get("text")), text(line.get("inside"))
        if inside:
            self._inside(inside, piece)
            return
        is_thought = line.get("event") == "thought"
        kind = "t" if is_thought else "s"
        if not self._open.startswith(f"{kind}-"):
            self._close()
            piece = piece.lstrip("\n")
            if not piece:
                return
            self._open = f"{kind}-{whole(line.get('seq'))}"
            self._put(self._open, Thinking("") if is_thought else Speech(""))
        self._more(self._open, piece)

    def _inside(self, call: str, piece: str) -> None:
        """Show what a helper says, thinks and does below the call that has begun it."""
        running = self._calls.get(call)
        if running is not None:
            self._calls[call] = running.printed(piece)
            self._more(f"c-{call}", piece)

    def _tool_started(self, line: Mapping[str, Any]) -> None:
        running = started(line)
        inside = text(line.get("inside"))
        self._calls[running.call] = running
        if inside in self._calls:
            self._inside(inside, f"\n· {running.shown.name} {running.shown.about}\n")
            return
        self._close()
        self._put(f"c-{running.call}", running.shown)

    def _tool_output(self, line: Mapping[str, Any]) -> None:
        running = self._calls.get(text(line.get("call")))
        if running is not None and not running.inside:
            self._inside(running.call, text(line.get("text")))

    def _tool_ended(self, line: Mapping[str, Any]) -> None:
        running = self._calls.pop(text(line.get("call")), None)
        if running is not None and not running.inside:
            self._again(f"c-{running.call}", ended(running, line))

    def _planned(self, line: Mapping[str, Any]) -> None:
        self._close()
        if self._plan:
            self._due.pop(self._plan, None)
            self._due[self._plan] = [Gone(self._plan)]
        self._plans += 1
        self._plan = f"plan-{self._plans}"
        self._put(self._plan, Plan(tuple(plan_of(line))))

    # What it asks.

    def _asked(self, line: Mapping[str, Any]) -> None:
        running = self._calls.get(text(line.get("call")))
        above = "" if running is None else running.title
        lines = tuple(question_of(line, above))
        self._asks[text(line.get("ask"))] = lines
        self._note(f"a-{text(line.get('ask'))}", lines)
        if running is not None and not running.inside:
            self._calls[running.call] = running = waits(running, line)
            self._again(f"c-{running.call}", running.now())

    def _answered(self, line: Mapping[str, Any]) -> None:
        ask = text(line.get("ask"))
        lines = self._asks.pop(ask, ())
        note = note_of(line) or Words("nobody needs to answer it any more")
        said = note._replace(said=f"  {note.said}{_chosen(line)}")
        self._again(f"a-{ask}", Notice((*lines, said)))
        for call, running in self._calls.items():
            if running.ask == ask:
                self._calls[call] = running.goes_on(text(line.get("at")))
                self._again(f"c-{call}", self._calls[call].now())
                break

    # Turns, and all else.

    def _turn_started(self, line: Mapping[str, Any]) -> None:
        self._plan = ""
        if line.get("origin") == "itself":
            seq = whole(line.get("seq"))
            self._note(f"n-{seq}", [Words("it has begun a turn by itself")])

    def _turn_ended(self, line: Mapping[str, Any]) -> None:
        how = text(line.get("how"))
        lines = []
        if how != "done":
            lines.append(Words(f"the turn was {how}{because(line)}", Tone.WARN))
        used = self.pace.said(), usage_of(self._used)
        said = " · ".join(each for each in used if each)
        if said:
            lines.append(Words(said))
        self._used = {}
        self._cut_off()
        if lines:
            self._note(f"n-{whole(line.get('seq'))}", lines)
        self._close()

    def _cut_off(self) -> None:
        """Show calls that have no end as such: their turn is over."""
        for running in self._calls.values():
            if not running.inside:
                cut = running.now()._replace(state=CallState.FAILED, result="it has not ended")
                self._again(f"c-{running.call}", cut)
        self._calls.clear()

    def _keep_used(self, line: Mapping[str, Any]) -> None:
        self._used = line
        self.window = whole(line.get("window")) or self.window

    def _told_before(self, line: Mapping[str, Any]) -> None:
        """Show what was said on the agent's own screen, as its transcript has it."""
        key, said = f"o-{whole(line.get('seq'))}", text(line.get("text"))
        self._close()
        match text(line.get("who")):
            case "person":
                self._put(key, Given(said, fate=Fate.TAKEN))
            case "tool":
                self._put(key, Notice((Words(f"· {said}", Tone.CALL),)))
            case _:
                self._put(key, Speech(said))
                self._due[key].append(Whole(key))


def _chosen(line: Mapping[str, Any]) -> str:
    """Return what was chosen of questions, as the end of a line."""
    found = line.get("choices")
    chosen = [str(each) for each in found.values()] if isinstance(found, Mapping) else []
    return f": {', '.join(chosen)}" if chosen else ""


_STEPS: Mapping[str, Callable[[Partition, Mapping[str, Any]], None]] = {
    "queued": Partition._prompt,
    "edited": Partition._prompt,
    "sending": Partition._sending,
    "text": Partition._said,
    "thought": Partition._said,
    "tool-started": Partition._tool_started,
    "tool-output": Partition._tool_output,
    "tool-ended": Partition._tool_ended,
    "planned": Partition._planned,
    "asked": Partition._asked,
    "answered": Partition._answered,
    "ask-gone": Partition._answered,
    "turn-started": Partition._turn_started,
    "turn-ended": Partition._turn_ended,
    "used": Partition._keep_used,
    "told": Partition._told_before,
}
