"""Where the process of the built-in agent finds itself: its run, workspace and conversations."""

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from siding.agents.own.hooks import OF_THE_AGENT, Told, told_in
from siding.agents.own.providers import credentials, without
from siding.agents.transcripts.store import SessionStore
from siding.assistant.broker import RunBroker
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.command import with_marks_alone
from siding.ground.process.secluded import seclude
from siding.guard.in_force import PolicyGround, place_for
from siding.record.place.project import find_project
from siding.record.place.settings import Settings
from siding.record.place.wiring import App
from siding.sessions.shelf import store_of
from siding.shellguard.face import JudgingPlace, Policy


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


def surroundings(app: App, models: Sequence[str], passed: Collection[str]) -> Surroundings:
    """Look around. `models` are those of the conversation.

    Commands get the environment without what models are reached with, but for the names `passed`,
    and without the token of the step: a mark says which step they belong to.
    """
    told = told_in(app.env)
    workspace = Path(os.path.realpath(app.env.get("SIDING_WORKSPACE") or app.cwd))
    socket = app.env.get(SOCKET_VARIABLE, "")
    home = Path(os.path.realpath(app.env.get("HOME") or os.path.expanduser("~")))
    ground = PolicyGround(app=app, root=None, settings=Settings(), trust_json=None, cache=None)
    env = {name: value for name, value in app.env.items() if name not in OF_THE_AGENT}
    return Surroundings(
        workspace=workspace,
        directory=_within(workspace, app.cwd),
        home=home,
        temporary=Path(tempfile.gettempdir()),
        env=with_marks_alone(without(env, models, passed)),
        store=_store(app, told),
        judging=place_for(ground, cwd=workspace, workspace=workspace, policy=Policy()),
        told=told,
        broker=RunBroker(socket) if socket else None,
    )


def keep_to_itself(app: App, models: Sequence[str]) -> None:
    """Hide from other processes what only this one is to have: keys, and the step's token."""
    seclude({*credentials(app.env, models), *OF_THE_AGENT})


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
