"""The question whether agents run guarded, and what is said of the answer."""

import os
import sys
import termios

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen
from siding.guard.guard import Guard, agent_of, answer_guard, can_be_guarded, guard
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import is_in_step
from siding.running.request import RunRequest
from siding.sandbox.sandbox import is_guard_open

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


def ask_guard_once(context: Context, request: RunRequest) -> None:
    """Have the person say, once, how agents run, before the first that runs at a terminal."""
    program = request.argv[0]
    if not can_be_guarded(agent_of(program)) or guard(context.app) is not Guard.UNASKED:
        return
    if is_in_step(context.app):  # it would be an agent that answers
        return
    project, _made = ensure_project(context.app)
    if is_person_there() and is_guard_open(project, request.sandbox, program):
        ask_guard(context.screen, project, program)


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


def say_guard(screen: Screen, answered: Guard) -> None:
    screen.print(f"{answered.value}: {_WHAT[answered]}")


def is_person_there() -> bool:
    """Tell whether somebody reads what we say and types."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()
