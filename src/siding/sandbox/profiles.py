"""The profiles of a sandbox. A profile says which directories of the home a run can see."""

import os
from contextlib import suppress
from pathlib import Path

from siding.agents.places import PLACES, AgentPlaces
from siding.agents.table import BY_PROGRAM

AUTO = "auto"  # the agent's own profile when the command is one, else `workspace`
WORKSPACE = "workspace"  # nothing of the home but programs and git's settings
PROFILES = (AUTO, WORKSPACE, *PLACES.agents)


def profile_in_force(asked: str | None, program: str) -> str:
    """Return the profile of a run: the one that is asked for, else the one of its program."""
    if asked is not None and asked != AUTO:
        return asked
    agent = BY_PROGRAM.get(program)
    return agent.name if agent is not None and agent.name in PROFILES else WORKSPACE


def places_in(profile: str) -> AgentPlaces | None:
    """Return the places of the agent that the profile belongs to, None if it is no agent's."""
    return PLACES.of(profile)


def stays_root(program: str) -> bool:
    """Tell whether a program's root is uid 0 in a sandbox as well; without any privileges."""
    agent = BY_PROGRAM.get(program)
    return agent is not None and agent.stays_root


def make_room_for_sessions(home: Path, agent: AgentPlaces | None) -> None:
    """Create the directories in which an agent keeps its conversations.

    A directory that does not exist outside cannot be mounted, and what the agent wrote would be
    lost with the sandbox.
    """
    if agent is None or not home.is_dir():
        return
    for name in agent.sessions:
        if not os.path.lexists(home / name):
            with suppress(OSError):  # a read-only home: the run goes on, its conversation is lost
                (home / name).mkdir(mode=0o700, parents=True)
