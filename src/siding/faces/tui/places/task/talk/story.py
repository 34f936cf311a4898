"""The story of a conversation on the screen: its parts, as rows of a transcript."""

from siding.chat.parts import (
    Call,
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
from siding.chat.wording import Tone, Words
from siding.faces.tui.rows import transcript as rows
from siding.faces.tui.rows.said_lines import GrowingLines, PatchLines
from siding.faces.tui.rows.transcript import Transcript
from siding.ground.errors import counted

MOST, KEPT = 24_000, 20_000  # lines: beyond the first number the oldest go, down to the second
STYLES = {
    Tone.PLAIN: "text",
    Tone.DIM: "dim",
    Tone.CALL: "tool",
    Tone.WARN: "warn",
    Tone.BAD: "bad",
}
_FATES = {
    Fate.SENT: "it is on its way",
    Fate.WAITS: "it waits again",
    Fate.UNSURE: "nobody knows whether the agent has it: w, then a sends it again, d drops it",
    Fate.DROPPED: "dropped",
    Fate.TAKEN: "",
}


class Story:
    """Puts parts into a transcript, and keeps it bounded."""

    def __init__(self, view: Transcript) -> None:
        self.view = view
        self.agent = "agent"
        self.dropped = 0  # parts that were here
        self._growing: dict[str, GrowingLines] = {}
        self._thoughts: set[str] = set()

    def clear(self) -> None:
        """Take everything away: another conversation comes."""
        self.view.clear()
        self.dropped = 0
        self._growing.clear()
        self._thoughts.clear()

    def take(self, shift: Shift) -> None:
        """Show one change."""
        match shift:
            case Put(key, part):
                self._put(key, part)
            case More(key, text):
                self._more(key, text)
            case Whole(key):
                self._growing.pop(key, None)
                if self.view.has(key) and key not in self._thoughts:
                    self.view.ended(key)
                self._thoughts.discard(key)
            case Gone(key):
                self._growing.pop(key, None)
                if self.view.has(key):
                    self.view.drop(key)

    def bound(self) -> None:
        """Let the oldest parts go if there are too many."""
        if self.view.count > MOST:
            self.dropped += self.view.drop_first(KEPT)
            kept = {key for key in self._growing if self.view.has(key)}
            self._growing = {key: self._growing[key] for key in kept}

    def _put(self, key: str, part: Part) -> None:
        if isinstance(part, Thinking):
            self._thoughts.add(key)
        self.view.put(key, self._shown(key, part))

    def _more(self, key: str, text: str) -> None:
        if not self.view.has(key):
            return
        growing = self._growing.get(key)
        if growing is None:
            self.view.more(key, text)
            return
        first = growing.first
        growing.add(text)
        if key in self._thoughts and first != growing.first:
            self.view.put(key, _thought(growing))
        else:
            self.view.grown(key)

    def _shown(self, key: str, part: Part) -> rows.Part:
        match part:
            case Given():
                return rows.Prompt(part.text, part.by or "you", _beside(part))
            case Speech(text):
                return rows.Said(text, self.agent)
            case Thinking(text):
                self._growing[key] = GrowingLines(text)
                return _thought(self._growing[key])
            case Call():
                return self._call(key, part)
            case Plan(steps):
                return _notes(steps)
            case Notice(lines):
                return _notes(lines)

    def _call(self, key: str, call: Call) -> rows.Tool:
        output: GrowingLines | PatchLines | None
        self._growing.pop(key, None)
        if call.is_patch:
            output = PatchLines(call.output)
        elif call.took_ms or call.output or call.result:
            output = GrowingLines("\n".join(call.output)) if call.output else None
        else:
            output = self._growing[key] = GrowingLines()
        took = f"{call.took_ms / 1000:.1f}s" if call.took_ms else ""
        return rows.Tool(call.name, call.about, call.result, took, call.state.value, output)


def _thought(lines: GrowingLines) -> rows.Tool:
    more = " …" if len(lines) > 1 else ""
    return rows.Tool("thinks", f"{lines.first}{more}", state="", output=lines)


def _notes(lines: tuple[Words, ...]) -> rows.Notes:
    return rows.Notes(
        [(text, STYLES[each.tone]) for each in lines for text in each.said.split("\n")]
    )


def _beside(given: Given) -> str:
    said = ["into the running turn"] if given.steers else []
    if given.pictures:
        said.append(counted(given.pictures, "picture"))
    if _FATES[given.fate]:
        said.append(_FATES[given.fate])
    return f"({', '.join(said)})" if said else ""
