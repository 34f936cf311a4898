"""Print the policy's warnings and refusals, and ask its questions at the terminal."""

import os
import sys
import termios
from collections.abc import Iterable
from typing import TYPE_CHECKING

from siding.faces.cli.edge import complain
from siding.faces.cli.screen.screen import Screen, inert, shorten, terminal_columns
from siding.faces.cli.screen.words import counted
from siding.guard.ruling import Asker, PolicyAnswer, PolicyQuestion, Ruling

if TYPE_CHECKING:
    from siding.record.recording.step_details import PolicyEvent


def asker(screen: Screen) -> Asker | None:
    """Return a function that asks a person, or None if nobody is at a terminal."""
    if not (sys.stdin.isatty() and screen.err.isatty()):
        return None
    return lambda questions: _ask(screen, questions)


def _ask(screen: Screen, questions: tuple[PolicyQuestion, ...]) -> PolicyAnswer:
    screen.warn("the policy asks before this runs:")
    for each in questions:
        screen.err.write(f"  {_one_line(each.command, each.via)}\n")
        screen.err.write(f"    {each.reason} ({each.rule}){_matched(each.matched)}\n")
    screen.err.flush()
    termios.tcflush(0, termios.TCIFLUSH)  # drop what was typed before the question appeared
    screen.err.write("run it? [y]es, [N]o, [a]lways in this task: ")
    screen.err.flush()
    # Not sys.stdin: it reads ahead, and the command's input would lack those bytes.
    word = os.read(0, 4096).decode("utf-8", "replace").strip().lower()
    if word in ("a", "always"):
        return PolicyAnswer.ALWAYS
    return PolicyAnswer.YES if word in ("y", "yes") else PolicyAnswer.NO


def say_ruling(screen: Screen, ruling: Ruling) -> None:
    """Print the policy's verdict on a run."""
    for event in ruling.events:
        if event.action == "warn":
            screen.warn(f"policy: {_told(event)}")
    if not ruling.runs:
        complain(ruling.reason, ruling.hint)
        for event in ruling.events:
            stops = event.action in ("block", "ask") and event.rule != "policy-broken"
            if stops and event.answer != "no":  # a person who said no has just read it
                screen.note(f"  {_told(event)}")
    if ruling.withheld:
        screen.note(
            f"{counted(ruling.withheld, 'permission')} in the repository's policy "
            f"{'does' if ruling.withheld == 1 else 'do'} not count; "
            "`siding trust` shows and allows them"
        )


def policy_lines(events: "Iterable[PolicyEvent]") -> list[tuple[str, str]]:
    """Return the lines of `siding show` about the rules a step matched."""
    lines = []
    for event in events:
        said = event.action + (f", answered {event.answer}" if event.answer else "")
        lines.append(("policy", f"{said}: {_told(event)}"))
    return lines


def _told(event: "PolicyEvent") -> str:
    what = _one_line(event.command, event.via) if event.command else ""
    return inert(f"{what}: {event.reason or 'matched'} ({event.rule})").removeprefix(": ")


def _one_line(command: str, via: tuple[str, ...]) -> str:
    inside = f"{' > '.join(via)} > " if via else ""
    return inert(inside) + shorten(inert(command), max(40, terminal_columns() - 8))


def _matched(matched: str) -> str:
    return f": {shorten(inert(matched), 60)}" if matched else ""
