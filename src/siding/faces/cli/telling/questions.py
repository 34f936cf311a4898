"""Questions to a person before something runs: how agents run, what the policy asks, traps."""

import os
import termios
from collections.abc import Iterable

from siding.faces.cli.screen.questions import agreed
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.telling.step_words import listed
from siding.guard.guard import Guard, agent_of, answer_guard
from siding.guard.ruling import PolicyAnswer
from siding.record.place.project import Project
from siding.record.recording.step_details import Trap

_QUESTION = """\
siding: {agent} is an agent. Agents can run guarded: in a sandbox, where they write
  nothing but the workspace and files of their own, and judged by the policy, which
  blocks what is dangerous and asks you where it is in doubt.
  {sandbox}
"""
_WHAT = {
    Guard.ON: "agents run guarded: sandboxed, and judged by the policy",
    Guard.OFF: "agents run as they are, unless the settings or options say otherwise",
    Guard.UNASKED: "nobody has said how agents run: the first one at a terminal asks",
}
_MOST_TRIES = 3


def ask_policy(screen: Screen, asked: Iterable[str]) -> PolicyAnswer:
    """Put the questions of the policy, which are lines of text, and return the answer to all."""
    screen.warn("the policy asks before this runs:")
    for line in asked:
        screen.err.write(f"{line}\n")
    screen.err.flush()
    termios.tcflush(0, termios.TCIFLUSH)  # drop what was typed before the question appeared
    screen.err.write("run it? [y]es, [N]o, [a]lways in this task: ")
    screen.err.flush()
    # Not sys.stdin: it reads ahead, and the command's input would lack those bytes.
    word = os.read(0, 4096).decode("utf-8", "replace").strip().lower()
    if word in ("a", "always"):
        return PolicyAnswer.ALWAYS
    return PolicyAnswer.YES if word in ("y", "yes") else PolicyAnswer.NO


def ask_guard(screen: Screen, project: Project, program: str) -> None:
    """Ask whether agents run guarded, and keep the answer. No answer leaves it open."""
    from siding.upkeep.sandbox import engine_here  # it is asked once

    engine, why_not = engine_here(project)
    here = (
        f"A sandbox works here ({engine}): recommended."
        if engine
        else f"No sandbox works here ({why_not}): they would only be judged."
    )
    screen.err.write(_QUESTION.format(agent=agent_of(program), sandbox=here))
    for _try in range(_MOST_TRIES):
        screen.err.write("  Run agents guarded, in all projects, from now on? [y]es, [n]o: ")
        screen.err.flush()
        termios.tcflush(0, termios.TCIFLUSH)  # drop what was typed before the question appeared
        # Not sys.stdin: it reads ahead, and the agent would lack those bytes.
        data = os.read(0, 4096)
        word = data.decode("utf-8", "replace").strip().lower()
        if word in ("y", "yes", "n", "no"):
            answered = Guard.ON if word[0] == "y" else Guard.OFF
            answer_guard(project.app, answered)
            other = "off" if answered is Guard.ON else "on"
            screen.note(f"{_WHAT[answered]}; `siding guard {other}` changes that")
            return
        if not data:
            break
    screen.note("this one runs as it is; the next agent asks again")


def ask_about_traps(screen: Screen, traps: "tuple[Trap, ...]", question: str) -> bool:
    """List the traps, and tell whether the person says that it goes on."""
    screen.warn("left here for other programs to run, and not seen yet:")
    for line in listed(traps):
        screen.warn(f"  {inert(line)}")
    screen.note("  `siding diff PATH` shows what is in them, but for what git ignores", "dim")
    return agreed(question)


def say_guard(screen: Screen, answered: Guard) -> None:
    screen.print(f"{answered.value}: {_WHAT[answered]}")
