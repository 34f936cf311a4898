"""``siding agent -p``: one prompt, and what is printed of its answer."""

import json
import sys
from contextlib import aclosing

from siding.assistant.agent import Agent
from siding.assistant.front_end import (
    Compacted,
    Compacting,
    CompactingFailed,
    Event,
    FellBack,
    Retrying,
    TurnEnded,
)
from siding.faces.cli.assistant.stream_json import Line, Translator, exit_status, said_at_end
from siding.faces.cli.screen.screen import Screen, inert

_ASKING = ("default", "acceptEdits")  # modes in which somebody may be asked, and here nobody can
_HOW_TO_ALLOW = (
    "--permission-mode acceptEdits lets it change files, --allowed-tools 'Bash(make check)' run a "
    "command; in a sandbox (--sandbox) it needs neither"
)


async def answered(
    agent: Agent, prompt: str, translator: Translator, screen: Screen, output: str
) -> int:
    """Have a prompt answered and print it as text, as JSON or as lines of JSON.

    Return the exit status.
    """
    status = 1
    async with aclosing(agent.say(prompt)) as events:
        async for event in events:
            lines = translator.lines(event)
            if output == "stream-json":
                print_lines(lines)
            else:
                say_trouble(screen, event)
            if isinstance(event, TurnEnded):
                status = exit_status(event.ending)
                if output == "json":
                    print_lines(lines)
                elif output == "text":
                    _print_text(screen, event, agent.mode)
    return status


def print_lines(lines: list[Line]) -> None:
    """Print lines of JSON, at once."""
    for line in lines:
        sys.stdout.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    if lines:
        sys.stdout.flush()


def say_trouble(screen: Screen, event: Event) -> None:
    """Say what a person who waits wants to know: trouble of the server, and what is summed up."""
    if isinstance(event, Retrying):
        screen.note(
            f"the model's server: {inert(event.message)}; again in {event.after_s:.0f} s "
            f"({event.attempt} of {event.most})",
            "yellow",
        )
    elif isinstance(event, FellBack):
        screen.note(f"{event.model} answers instead of {event.instead_of}: {inert(event.why)}")
    elif isinstance(event, Compacting):
        screen.note(f"summing up the conversation (about {event.tokens:,} tokens)")
    elif isinstance(event, Compacted):
        screen.note("the model goes on with the summary; `siding session show --all` has all of it")
    elif isinstance(event, CompactingFailed):
        screen.note(f"it was not summed up, and stays as it is: {inert(event.why)}", "yellow")


def _print_text(screen: Screen, event: TurnEnded, mode: str) -> None:
    text = said_at_end(event)
    if event.object is not None:
        text = json.dumps(event.object, ensure_ascii=False)
    if exit_status(event.ending) and event.error:
        screen.warn(inert(event.error, lines=True))
        return
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()
    if exit_status(event.ending):
        screen.warn(f"the turn ended before it was done: {event.ending.value}")
    for denial in event.denials:
        screen.note(f"not allowed: {denial.call.name}: {inert(denial.reason)}", "yellow")
    if event.denials and mode in _ASKING:
        screen.note(_HOW_TO_ALLOW)
