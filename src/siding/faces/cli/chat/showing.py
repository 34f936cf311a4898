"""A conversation's story as lines for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from siding.chat.wording import because, note_of, plan_of, records_in, text_in, usage_of
from siding.faces.cli.chat import pieces
from siding.faces.cli.chat.pieces import Line
from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.chat.talk import Talk

USUAL = "terminal"  # who says something, where that is not worth a word


_said = text_in


class Teller:
    """Prints a story, piece by piece: what an agent says goes on where it ended.

    `talk` is where the conversation stands as it begins: how to answer an ask is not said of one
    that was answered. With `is_live` thoughts are shown as they come, else as one line.
    """

    def __init__(self, screen: Screen, talk: Talk, *, is_live: bool, workspace: str = "") -> None:
        self._screen = screen
        self._is_live = is_live
        self._workspace = workspace  # paths are shown from there
        self._known = talk.seq
        self._open_asks = {each.ask for each in talk.asks}
        self._open = ""  # the kind of text whose line is not ended
        self._thought: list[str] = []
        self._prompts: dict[str, Mapping[str, Any]] = {}
        self._asks: dict[str, Mapping[str, Any]] = {}
        self._edits: dict[str, list[Mapping[str, Any]]] = {}  # of calls, that were not shown
        self._shown: set[str] = set()  # calls whose edits the ask has shown
        self._titles: dict[str, str] = {}  # of calls
        self._used: Mapping[str, Any] = {}

    def learn(self, line: Mapping[str, Any]) -> None:
        """Take a line without printing it."""
        self._note(line)
        self._forget(line)

    def _note(self, line: Mapping[str, Any]) -> None:
        match line.get("event"):
            case "queued":
                self._prompts[_said(line, "prompt")] = line
            case "edited":
                prompt = _said(line, "prompt")
                self._prompts[prompt] = {**self._prompts.get(prompt, {}), **line}
            case "asked":
                self._asks[_said(line, "ask")] = line
                self._edits.pop(_said(line, "call"), None)
                if records_in(line, "edits"):
                    self._shown.add(_said(line, "call"))
            case "tool-started":
                self._titles[_said(line, "call")] = _said(line, "title")
                self._edits[_said(line, "call")] = records_in(line, "edits")
            case "used":
                self._used = line

    def _forget(self, line: Mapping[str, Any]) -> None:
        """Drop what no later line needs: a story may be longer than memory."""
        match line.get("event"):
            case "prompt-taken" | "proven" | "dropped":
                self._prompts.pop(_said(line, "prompt"), None)
            case "answered" | "ask-gone":
                self._asks.pop(_said(line, "ask"), None)
            case "tool-ended":
                self._titles.pop(_said(line, "call"), None)
                self._edits.pop(_said(line, "call"), None)

    def tell(self, line: Mapping[str, Any]) -> None:
        event = _said(line, "event")
        if event == "thought" and not self._is_live:
            self._thought.append(_said(line, "text"))
            return
        self._fold()
        if event in ("text", "thought"):
            self._say(event, _said(line, "text"))
            return
        self._note(line)
        for said, style in self._lines(event, line):
            self._end_line()
            self._print(said, style)
        self._forget(line)

    def end(self) -> None:
        """End a line that is open: nothing more comes."""
        self._fold()
        self._end_line()

    def _fold(self) -> None:
        thought, self._thought = "".join(self._thought).strip(), []
        if thought:
            self._end_line()
            first, _, more = thought.partition("\n")
            self._print(f"~ {first[:100]}{' …' if more or len(first) > 100 else ''}", "dim")

    def _end_line(self) -> None:
        if self._open:
            self._screen.print()
            self._open = ""

    def _print(self, said: str, style: str) -> None:
        shown = inert(said, lines=True)
        self._screen.print(self._screen.style(shown, style) if style else shown)

    def _say(self, kind: str, said: str) -> None:
        if self._open != kind:
            self._end_line()
            said = said.lstrip("\n")
        shown = inert(said, lines=True)
        style = "dim" if kind == "thought" else ""
        self._screen.out.write(self._screen.style(shown, style) if style else shown)
        self._screen.out.flush()  # more of the line may come later
        self._open = "" if said.endswith("\n") else kind if said else self._open

    def _lines(self, event: str, line: Mapping[str, Any]) -> Iterator[Line]:
        match event:
            case "sending":
                yield from self._sending(line)
            case "planned":
                yield from pieces.said(plan_of(line), "  ")
            case "asked":
                title = self._titles.get(_said(line, "call"), "")
                yield from pieces.asked(line, title, self._workspace)
            case "put":
                yield from self._put(line)
            case "tool-ended":
                yield from self._tool_ended(line)
            case "turn-ended":
                yield from self._turn_ended(line)
            case _ if event in _TOLD:
                said, style = _TOLD[event]
                found = said(line)
                if found:
                    yield found, style
            case _:
                note = note_of(line)
                if note is not None:
                    mark = "" if note.said.startswith("! ") else "  "
                    yield from pieces.said([note], mark)

    def _sending(self, line: Mapping[str, Any]) -> Iterator[Line]:
        prompt = self._prompts.get(_said(line, "prompt"), {})
        yield "", ""
        first, *more = _said(prompt, "text").split("\n")
        yield f"> {first}", "bold"
        yield from ((f"  {each}", "bold") for each in more)
        by, files = _said(prompt, "by"), prompt.get("files")
        beside = [f"from {by}"] if by not in ("", USUAL) else []
        if isinstance(files, list) and files:
            beside.append(counted(len(files), "picture"))
        beside += ["into the running turn"] if line.get("steers") else []
        if beside:
            yield f"  ({', '.join(beside)})", "dim"

    def _put(self, line: Mapping[str, Any]) -> Iterator[Line]:
        ask = _said(line, "ask")
        if ask in self._open_asks or int(line.get("seq", 0)) > self._known:
            yield from pieces.how_to_answer(self._asks.get(ask, {}), line)

    def _tool_ended(self, line: Mapping[str, Any]) -> Iterator[Line]:
        failed = line.get("failed") is True
        call = _said(line, "call")
        edits = self._edits.pop(call, [])
        edits = records_in(line, "edits") or edits
        if call in self._shown and not failed:
            self._shown.discard(call)  # as it was asked for
        elif edits and not failed:
            yield from pieces.patches(edits, self._workspace)
        else:
            yield from pieces.output(_said(line, "text"), "red" if failed else "dim")

    def _turn_ended(self, line: Mapping[str, Any]) -> Iterator[Line]:
        how = _said(line, "how")
        if how != "done":
            yield f"  the turn was {how}{because(line)}", "yellow"
        used, self._used = usage_of(self._used), {}
        if used:
            yield f"  {used}", "dim"


def _told(line: Mapping[str, Any]) -> str:
    mark = {"person": "> ", "tool": "· "}.get(_said(line, "who"), "")
    return f"{mark}{_said(line, 'text')}"


# What is said of an event here alone, "" for nothing, and its style.
_TOLD: Mapping[str, tuple[Callable[[Mapping[str, Any]], str], str]] = {
    "tool-started": (lambda line: f"· {_said(line, 'title') or _said(line, 'name')}", "cyan"),
    "told": (_told, ""),
}
