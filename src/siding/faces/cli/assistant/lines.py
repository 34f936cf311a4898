"""``siding agent`` at a terminal: line by line, with nothing drawn.

A line is a prompt. Ctrl-C ends the turn that is under way, Ctrl-D the conversation.
"""

from contextlib import aclosing

from siding.assistant.agent import Agent
from siding.assistant.front_end import (
    Compacted,
    CompactingFailed,
    Event,
    TextDelta,
    ToolDenied,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Withdrawn,
)
from siding.faces.cli.assistant.printing import say_trouble
from siding.faces.cli.assistant.results import exit_status
from siding.faces.cli.assistant.terminal import Output, TypedLines
from siding.faces.cli.screen.screen import Screen, inert, shorten

PROMPT = "> "
_WIDE = 100
_QUESTION = "AskUserQuestion"  # it shows itself


class Lines:
    """A conversation at a terminal."""

    def __init__(self, agent: Agent, typed: TypedLines, output: Output, screen: Screen) -> None:
        self._agent = agent
        self._typed = typed
        self._screen = screen
        self._output = output
        self._denied = ""  # the call that was denied last; its end says nothing more

    async def serve(self, first: str) -> int:
        """Answer `first`, if it is not blank, and each line that is typed."""
        about = f"{self._agent.model} · mode {self._agent.mode}"
        self._output.line(f"{inert(about)} · Ctrl-C interrupts, Ctrl-D ends", "dim")
        status = 0
        if first.strip():
            status = await self._answer(first)
        while True:
            self._output.ask(PROMPT)
            line = await self._typed.next()
            if line is None:
                self._output.write("\n")
                return status
            if line.strip():
                status = await self._answer(line.strip())

    async def _answer(self, prompt: str) -> int:
        status = 1
        async with aclosing(self._agent.say(prompt)) as events:
            async for event in events:
                self._show(event)
                if isinstance(event, TurnEnded):
                    status = exit_status(event.ending)
        return status

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._output.write(inert(event.text, lines=True))
            case ToolStarted() if event.call.name != _QUESTION:
                text = event.use.text or event.call.name
                self._output.line(f"· {inert(shorten(text, _WIDE))}", "cyan")
            case ToolDenied():
                self._denied = event.call.id
                self._output.line(f"  not allowed: {inert(event.reason)}", "yellow")
            case ToolEnded() if event.call.id == self._denied:
                pass
            case ToolEnded() if event.result.is_error:
                shown = event.result.shown or str(event.result.content)
                self._output.line(f"  {inert(shorten(shown, _WIDE))}", "red")
            case ToolEnded() if event.result.shown:
                self._output.line(f"  {inert(shorten(event.result.shown, _WIDE))}", "dim")
            case Withdrawn():
                self._output.line("the answer broke off and is asked for again", "yellow")
            case Compacted():
                self._output.line("summed up, to make room", "dim")
            case CompactingFailed():
                self._output.line(f"could not be summed up: {inert(event.why)}", "yellow")
            case TurnEnded():
                self._ended(event)
            case _:
                say_trouble(self._screen, event)

    def _ended(self, event: TurnEnded) -> None:
        if event.error:
            self._output.line(inert(event.error, lines=True), "red")
        spent = "" if event.dollars is None else f" · ${event.dollars:.2f}"
        usage = event.usage
        figures = f"{usage.prompt:,} tokens sent, {usage.output:,} written{spent}"
        self._output.line(f"{event.ending.value} · {event.wall_s:.1f} s · {figures}", "dim")
