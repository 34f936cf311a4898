"""Where the process of the built-in agent finds itself: its run, workspace and conversations."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from siding.adapters.agents.siding_agent import SETTINGS_VARIABLE, VARIABLE, Told, told_in
from siding.app.agent.broker import RunBroker
from siding.app.place.project import find_project
from siding.app.place.settings import Settings
from siding.app.place.wiring import App
from siding.app.policy.in_force import PolicyGround, place_for
from siding.app.sessions.shelf import store_of
from siding.errors import SidingError
from siding.namedtuples import NamedTuple
from siding.policy.paths import JudgingPlace
from siding.policy.policy import Policy
from siding.process.broker.place import SOCKET_VARIABLE
from siding.sessions.store import SessionStore

_OF_THE_AGENT = (VARIABLE, SETTINGS_VARIABLE)  # its commands have no use for them


class Surroundings(NamedTuple):
    """What the agent finds. `told` and `broker` are None outside of a run of its own.

    `env` is the environment of its commands. `store` is None where Siding's home is hidden.
    """

    workspace: Path
    directory: Path  # in which the agent was started
    home: Path
    temporary: Path
    env: Mapping[str, str]
    store: SessionStore | None
    judging: JudgingPlace
    told: Told | None
    broker: RunBroker | None


def surroundings(app: App) -> Surroundings:
    """Look around."""
    told = told_in(app.env)
    workspace = Path(os.path.realpath(app.env.get("SIDING_WORKSPACE") or app.cwd))
    socket = app.env.get(SOCKET_VARIABLE, "")
    home = Path(os.path.realpath(app.env.get("HOME") or os.path.expanduser("~")))
    ground = PolicyGround(app=app, root=None, settings=Settings(), trust_json=None, cache=None)
    return Surroundings(
        workspace=workspace,
        directory=_within(workspace, app.cwd),
        home=home,
        temporary=Path(tempfile.gettempdir()),
        env={name: value for name, value in app.env.items() if name not in _OF_THE_AGENT},
        store=_store(app, told),
        judging=place_for(ground, cwd=workspace, workspace=workspace, policy=Policy()),
        told=told,
        broker=RunBroker(socket) if socket else None,
    )


def _within(workspace: Path, cwd: Path) -> Path:
    real = Path(os.path.realpath(cwd))
    return real if real.is_relative_to(workspace) else workspace


def _store(app: App, told: Told | None) -> SessionStore | None:
    if told is not None and told.sessions:
        root = Path(told.sessions)
        return SessionStore(root) if _can_write(root) else None
    try:
        project = find_project(app)
    except SidingError:
        return None
    return None if project is None else store_of(project)


def _can_write(directory: Path) -> bool:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)
