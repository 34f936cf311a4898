"""A conversation's story as lines for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from siding.faces.cli.chat import pieces
from siding.faces.cli.chat.pieces import Line
from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.chat.talk import Talk

USUAL = "terminal"  # who says something, where that is not worth a word


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
        match line.get("event"):
            case "queued":
                self._prompts[_said(line, "prompt")] = line
            case "edited":
                prompt = _said(line, "prompt")
                self._prompts[prompt] = {**self._prompts.get(prompt, {}), **line}
            case "asked":
                self._asks[_said(line, "ask")] = line
                self._edits.pop(_said(line, "call"), None)
                if pieces.records_in(line, "edits"):
                    self._shown.add(_said(line, "call"))
            case "tool-started":
                self._titles[_said(line, "call")] = _said(line, "title")
                self._edits[_said(line, "call")] = pieces.records_in(line, "edits")
            case "used":
                self._used = line

    def tell(self, line: Mapping[str, Any]) -> None:
        event = _said(line, "event")
        if event == "thought" and not self._is_live:
            self._thought.append(_said(line, "text"))
            return
        self._fold()
        if event in ("text", "thought"):
            self._say(event, _said(line, "text"))
            return
        self.learn(line)
        for said, style in self._lines(event, line):
            self._end_line()
            self._print(said, style)

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
                yield from pieces.plan(line)
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
        edits = pieces.records_in(line, "edits") or edits
        if call in self._shown and not failed:
            self._shown.discard(call)  # as it was asked for
        elif edits and not failed:
            yield from pieces.patches(edits, self._workspace)
        else:
            yield from pieces.output(_said(line, "text"), "red" if failed else "dim")

    def _turn_ended(self, line: Mapping[str, Any]) -> Iterator[Line]:
        how = _said(line, "how")
        if how != "done":
            yield f"  the turn was {how}{_because(line)}", "yellow"
        used, self._used = pieces.usage(self._used), {}
        if used:
            yield f"  {used}", "dim"


_said = pieces.text_in


def _because(line: Mapping[str, Any]) -> str:
    return f": {_said(line, 'reason')}" if line.get("reason") else ""


def _answered(line: Mapping[str, Any]) -> str:
    yes = "allowed" if line.get("allows") else "refused"
    lasts = _said(line, "lasts")
    if lasts:
        how_long = pieces.LASTS.get(lasts, lasts)
        is_now = _said(line, "by") != "siding"
        who = f"by {_said(line, 'by') or 'somebody'}, and from now on" if is_now else "as before"
        return f"  {yes} {who}: it may {_said(line, 'may')}, {how_long}"
    return f"  {yes} by {_said(line, 'by') or 'somebody'}{_because(line)}"


def _ended(line: Mapping[str, Any]) -> str:
    status = line.get("exit_code")
    why = _said(line, "reason") or (f"exit status {status}" if status else "")
    return f"  the agent has ended{f' ({why})' if why else ''}"


def _told(line: Mapping[str, Any]) -> str:
    mark = {"person": "> ", "tool": "· "}.get(_said(line, "who"), "")
    return f"{mark}{_said(line, 'text')}"


def _took(line: Mapping[str, Any]) -> str:
    left = line.get("left_out")
    where = f"; {left} earlier messages: siding session show {_said(line, 'session')}"
    return f"  taken over from run {_said(line, 'run')}{where if left else ''}"


def _kept(line: Mapping[str, Any]) -> str:
    found = line.get("running")
    running = ", ".join(map(str, found)) if isinstance(found, list) else ""
    return f"  the agent was not ended: this runs in the background: {running}"


# What is said of an event, "" for nothing, and its style.
_TOLD: Mapping[str, tuple[Callable[[Mapping[str, Any]], str], str]] = {
    "tool-started": (lambda line: f"· {_said(line, 'title') or _said(line, 'name')}", "cyan"),
    "answered": (_answered, "dim"),
    "troubled": (lambda line: f"! {_said(line, 'message')}", "red"),
    "recorded": (lambda line: f"  recorded as step {line.get('step')}", "dim"),
    "compacted": (lambda _line: "  the conversation was made shorter", "dim"),
    "held": (lambda line: f"  what waits is held{_because(line)}", "yellow"),
    "unsure": (lambda _line: "  nobody knows whether the agent has taken this prompt", "yellow"),
    "ended": (_ended, "dim"),
    "told": (_told, ""),
    "took": (_took, "yellow"),
    "hand-over-asked": (lambda _line: "  its own screen is wanted", "dim"),
    "handed-over": (lambda _line: "  it is on the agent's own screen", "yellow"),
    "handed-back": (lambda line: f"  the own screen is closed{_because(line)}", "yellow"),
    "hold-kept": (_kept, "yellow"),
    "switch-asked": (lambda line: f"  {_said(line, 'agent')} is to go on", "dim"),
    "switched": (lambda line: f"  {_said(line, 'agent')} goes on", "yellow"),
}
