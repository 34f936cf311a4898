"""A conversation's story as lines for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from siding.faces.cli.screen.screen import Screen, inert


class Teller:
    """Prints a story, piece by piece: what an agent says goes on where it ended."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._open = ""  # the kind of text whose line is not ended
        self._prompts: dict[str, str] = {}

    def tell(self, line: Mapping[str, Any]) -> None:
        event = _said(line, "event")
        if event in ("text", "thought"):
            self._say(event, _said(line, "text"))
            return
        if event in ("queued", "edited"):
            self._prompts[_said(line, "prompt")] = _said(line, "text")
        for said, style in self._lines(event, line):
            self.end()
            self._screen.print(self._screen.style(inert(said), style) if style else inert(said))

    def end(self) -> None:
        if self._open:
            self._screen.print()
            self._open = ""

    def _say(self, kind: str, said: str) -> None:
        if self._open and self._open != kind:
            self.end()
        shown = "\n".join(inert(each) for each in said.split("\n"))
        style = "dim" if kind == "thought" else ""
        self._screen.out.write(self._screen.style(shown, style) if style else shown)
        self._screen.out.flush()  # more of the line may come later
        self._open = kind

    def _lines(self, event: str, line: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        told = _TOLD.get(event)
        if event == "sending":
            prompt = self._prompts.get(_said(line, "prompt"), "")
            into = "  (into the running turn)" if line.get("steers") else ""
            first, *more = prompt.split("\n")
            yield f"> {first}{into}", "bold"
            yield from ((f"  {each}", "bold") for each in more)
        elif event == "planned":
            for each in line.get("steps", ()):
                mark = {"completed": "x", "in_progress": ">"}.get(_said(each, "status"), " ")
                yield f"  [{mark}] {_said(each, 'text')}", ""
        elif told is not None:
            said, style = told
            found = said(line)
            if found:
                yield found, style


def _said(line: Mapping[str, Any], name: str) -> str:
    found = line.get(name)
    return found if isinstance(found, str) else ""


def _because(line: Mapping[str, Any]) -> str:
    return f": {_said(line, 'reason')}" if line.get("reason") else ""


def _failed(line: Mapping[str, Any]) -> str:
    return f"  failed: {_said(line, 'text').strip()[:200]}" if line.get("failed") else ""


def _answered(line: Mapping[str, Any]) -> str:
    yes = "allowed" if line.get("allows") else "refused"
    return f"  {yes} by {_said(line, 'by') or 'somebody'}{_because(line)}"


def _turn_ended(line: Mapping[str, Any]) -> str:
    how = _said(line, "how")
    return "" if how == "done" else f"  the turn was {how}{_because(line)}"


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
    "tool-ended": (_failed, "red"),
    "asked": (lambda line: f"? {_said(line, 'title') or _said(line, 'command')}", "yellow"),
    "put": (lambda line: f"  siding decide answer {_said(line, 'decision')}", "yellow"),
    "answered": (_answered, "dim"),
    "troubled": (lambda line: f"! {_said(line, 'message')}", "red"),
    "turn-ended": (_turn_ended, "yellow"),
    "unsure": (lambda _line: "  nobody knows whether the agent has taken this prompt", "yellow"),
    "ended": (_ended, "dim"),
    "told": (_told, ""),
    "took": (_took, "yellow"),
    "handed-over": (lambda _line: "  it is on the agent's own screen", "yellow"),
    "handed-back": (lambda line: f"  the own screen is closed{_because(line)}", "yellow"),
    "hold-kept": (_kept, "yellow"),
    "switch-asked": (lambda line: f"  {_said(line, 'agent')} is to go on", "dim"),
    "switched": (lambda line: f"  {_said(line, 'agent')} goes on", "yellow"),
}
