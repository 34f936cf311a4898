"""Guarded agents: sandboxed and judged, where no settings say otherwise, if the person wants that.

The first time that an agent is run at a terminal the person is asked, once for all projects. Their
answer is in ``guard.json`` of Siding's home, and `siding guard` changes it. Until then, and for all
other programs, nothing is different: a script of somebody who was never asked runs as before. A
sandbox mode, a policy and an option of the command line go before it.
"""

import os
from enum import StrEnum
from typing import TYPE_CHECKING

from siding.agents.table import ANY, BY_NAME, BY_PROGRAM
from siding.ground.files.durable import make_dirs
from siding.ground.storage.documents import read_document_or_none, write_document

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.place.wiring import App

GUARD_VERSION = 1


class Guard(StrEnum):
    """Whether agents run guarded."""

    ON = "on"
    OFF = "off"
    UNASKED = "unasked"  # which is as off


def guard(app: "App") -> Guard:
    """Return what the person has answered."""
    document = read_document_or_none(
        app.home.guard_json, what="answer about agents", version=GUARD_VERSION
    )
    word = (document or {}).get("guard")
    return Guard(word) if word in (Guard.ON, Guard.OFF) else Guard.UNASKED


def answer_guard(app: "App", answered: Guard) -> None:
    """Keep the answer, for all projects; UNASKED has the next agent ask again."""
    make_dirs(app.home.root)
    document = {"version": GUARD_VERSION, "guard": answered.value, "at": app.now()}
    write_document(app.home.guard_json, document)


def agent_of(program: str) -> str:
    """Return the name of the agent that a program starts; "" if it is none."""
    agent = BY_PROGRAM.get(os.path.basename(program))
    return "" if agent is None else agent.name


def program_of(agent: str) -> str:
    """Return the program of an agent; "" if there is none of this name."""
    known = BY_NAME.get(agent)
    return "" if known is None else known.programs[0]


def can_be_guarded(agent: str) -> bool:
    """Return whether there is an agent of this name and its places in a home are known."""
    known = BY_NAME.get(agent)
    return known is not None and "places" in known.facets


def is_guarded(project: "Project", agent: str) -> bool:
    """Return whether an agent of this name runs guarded, where no settings say otherwise."""
    return can_be_guarded(agent) and guard(project.app) is Guard.ON


def is_judged_by_guard(project: "Project", agent: str) -> bool:
    """Return whether the built-in rules judge an agent, though there is no policy file.

    `ANY` is one that asks to be judged, known or not.
    """
    if project.settings.policy_enabled is not None:
        return False
    return is_guarded(project, agent) or (agent == ANY and guard(project.app) is Guard.ON)
