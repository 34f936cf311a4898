"""Tell an agent for good, in the person's own settings, to report; and take that out again.

Only hooks are put in. They start a small program of ours (`ground.process.broker.integrated`),
which does nothing outside of a project that Siding knows, and nothing in a run, where the agent is
told by its command line. If Siding is gone, the hooks do nothing.
"""

import os
import sys
from enum import Enum
from pathlib import Path
from shlex import join, quote
from stat import S_IMODE

from siding.agents.settings import PROGRAM, SETTINGS, NotMergeable, OwnSettings
from siding.ground.errors import NotFound, SidingError
from siding.ground.files.durable import make_dirs, remove_file, replace_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker import client
from siding.record.place.wiring import App

AGENTS = SETTINGS.agents
_PROGRAM = Path(client.__file__).with_name(Path(PROGRAM).name)
_USUAL_MODE = 0o600


class NotIntegrated(SidingError):
    """An agent's settings cannot be changed; they are as they were."""

    code = "not_integrated"


class Integrated(Enum):
    """Whether an agent's settings have hooks of ours."""

    NO = "no"
    YES = "yes"
    OTHERWISE = "otherwise"  # of another installation of Siding, or not as they should be
    UNREADABLE = "unreadable"


class Integration(NamedTuple):
    """An agent, its settings file, and whether that has hooks of ours. `why`: why nobody knows."""

    agent: str
    file: Path
    state: Integrated
    why: str = ""


class Change(NamedTuple):
    """What is going to be done to a settings file. `before` and `after` are None for no file."""

    agent: str
    file: Path
    before: str | None
    after: str | None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def integrations(app: App) -> list[Integration]:
    """Return each agent that can be integrated."""
    return [_integration(app, name) for name in AGENTS]


def putting_in(app: App, name: str) -> Change:
    """Return the change that makes an agent report for good. Raises NotFound, NotIntegrated."""
    settings, file = _settings(app, name)
    before = _read(name, file)
    try:
        after = settings.added(settings.removed(before), _command(name), file)
    except NotMergeable as error:
        raise _cannot(name, file, str(error)) from None
    if before is not None and _same(settings, after, before):
        after = before
    return Change(name, file, before, after)


def taking_out(app: App, name: str) -> Change:
    """Return the change that ends it. Raises NotFound, NotIntegrated."""
    settings, file = _settings(app, name)
    before = _read(name, file)
    try:
        after = settings.removed(before)
    except NotMergeable as error:
        raise _cannot(name, file, str(error)) from None
    return Change(name, file, before, after)


def carry_out(change: Change) -> None:
    """Replace the settings file, or remove it if it was made by us and only holds what we put in.

    Raises NotIntegrated if it has changed since it was read.
    """
    if _read(change.agent, change.file) != change.before:
        raise _cannot(change.agent, change.file, "it has changed meanwhile: try again")
    target = Path(os.path.realpath(change.file))  # a link to it stays one
    try:
        if change.after is None:
            remove_file(target)
            return
        mode = _USUAL_MODE if change.before is None else S_IMODE(target.stat().st_mode)
        make_dirs(target.parent)
        replace_bytes(target, change.after.encode(), mode=mode)
    except OSError as error:
        raise _cannot(change.agent, target, error.strerror or str(error)) from error


def _integration(app: App, name: str) -> Integration:
    settings, file = _settings(app, name)
    try:
        text = _read(name, file) or ""
        if not settings.commands(text):
            return Integration(name, file, Integrated.NO)
        wanted = settings.added(settings.removed(text), _command(name), file)
    except NotMergeable as error:
        return Integration(name, file, Integrated.UNREADABLE, str(error))
    except NotIntegrated as error:
        return Integration(name, file, Integrated.UNREADABLE, error.message)
    state = Integrated.YES if _same(settings, wanted, text) else Integrated.OTHERWISE
    return Integration(name, file, state)


def _same(settings: OwnSettings, wanted: str, text: str) -> bool:
    """Tell whether settings say what they would say if they were integrated now."""
    return wanted == text or settings.parsed(wanted) == settings.parsed(text)


def _settings(app: App, name: str) -> tuple[OwnSettings, Path]:
    found = SETTINGS.of(name)
    if found is None:
        raise NotFound(
            f"{name!r} is no agent that can be integrated", hint=f"there are {', '.join(AGENTS)}"
        )
    home = Path(app.env.get("HOME") or os.path.expanduser("~"))
    return found, found.file(app.env, home)


def _read(name: str, file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot(name, file, error.strerror or str(error)) from error
    except UnicodeDecodeError:
        raise _cannot(name, file, "it is not UTF-8") from None


def _command(name: str) -> str:
    """Return the line for the shell that an agent's hooks run."""
    program = [sys.executable, "-S", "-E", "-I", str(_PROGRAM), name]
    return f"[ ! -f {quote(str(_PROGRAM))} ] || {join(program)}"


def _cannot(name: str, file: Path, why: str) -> NotIntegrated:
    return NotIntegrated(
        f"the settings of {name} cannot be changed: {why}",
        hint=f"{file} is as it was; `siding integrate --list` shows what is where",
    )
