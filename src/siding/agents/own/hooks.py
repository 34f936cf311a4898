"""Siding's own agent (`siding agent`): it reports in plain words, with no program in between.

What it is told for a run is in one variable of its environment (`VARIABLE`). It goes on with a
conversation as far as its turns stand by itself, before each prompt; so nothing has to be copied.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from siding.agents.hooks import Adapter, Injection, Moment, Reach, Report
from siding.agents.plain_words import Plain
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

PROGRAM = "siding-agent"
VARIABLE = "SIDING_AGENT"
TRIES_VARIABLE = "SIDING_AGENT_TRIES"  # how often a request is made when the model's server fails
SETTINGS_VARIABLE = "SIDING_AGENT_SETTINGS"  # the settings of files, read by who has started it
OF_THE_AGENT = (VARIABLE, SETTINGS_VARIABLE)  # its commands have no use for them


def program_for(env: Mapping[str, str]) -> str:
    """Return the program that is the agent: by its name, or by its path where PATH has none.

    "" if there is none.
    """
    if shutil.which(PROGRAM, path=env.get("PATH")):
        return PROGRAM
    beside = os.path.join(os.path.dirname(sys.executable), PROGRAM)
    return beside if os.access(beside, os.X_OK) else ""


class Told(NamedTuple):
    """What the agent is told for one run.

    `sessions` is the directory of the project's conversations. `judges`: each call is reported
    before it runs; `requires`: without a verdict it does not run. `calls`: its end is reported.
    """

    sessions: str = ""
    judges: bool = False
    requires: bool = False
    calls: bool = False


def told_in(env: Mapping[str, str]) -> Told | None:
    """Return what the agent was told; None if this is no run of which it is the command."""
    try:
        found = mapping(json.loads(env.get(VARIABLE) or "null"))
    except ValueError:
        return None
    if not found:
        return None
    flags = {name: found.get(name) is True for name in ("judges", "requires", "calls")}
    return Told(sessions=text(found.get("sessions")), **flags)


class SidingAgent(Plain):
    """The adapter of the agent."""

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        said = super().read(payload)
        if said is not None and said.moment is Moment.PROMPT:
            return said._replace(followed=True)  # the model is asked already
        return said

    def injected(self, argv: tuple[str, ...], reach: Reach, /) -> Injection:
        told = Told(
            sessions=reach.sessions,
            judges=reach.judges,
            requires=reach.requires,
            calls=reach.calls,
        )
        return Injection(argv, env={VARIABLE: json.dumps(told._asdict())})


ADAPTER: Adapter = SidingAgent()
