"""The composition root: it decides where the home is and which clock and randomness are used.

All other code receives the environment, the directory, the clock and randomness from here. Inside a
step a sandbox may hide the home; `home_is_hidden` tells.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.clock import Clock, SystemClock, iso
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import Home, ProjectLayout

HOME_IGNORES = b"# What Siding keeps is no part of a repository around it.\n*\n"

if TYPE_CHECKING:
    from typing import Protocol

    class Event(Protocol):
        """Something that happened. `name` is its word in the journal."""

        @property
        def name(self) -> str: ...

        @property
        def task_id(self) -> str:
            """The task it happened to; "" for none."""

        def record(self) -> dict[str, Any]:
            """Return its fields in the journal: ``task``, ``worktree``, ``error`` and its own."""


Listener = Callable[["Heard"], None]


class Heard(NamedTuple):
    """An event as a listener gets it, with the files of its project."""

    layout: ProjectLayout
    event: "Event"


class Listeners:
    """The functions in this process that are called for each event of any project."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each event was written; return a function that unsubscribes it.

        It is called in the thread of the act, often while the task is locked. So it must be fast
        and must not raise.
        """
        self._all.append(listener)
        return lambda: self._all.remove(listener)

    def tell(self, heard: Heard) -> None:
        """Call every listener with an event."""
        for listener in tuple(self._all):
            listener(heard)


def _tell_nobody(doing: str) -> None:
    del doing


class App(NamedTuple):
    """The environment, the directories and the sources of time and randomness of a command."""

    env: Mapping[str, str]
    cwd: Path
    home: Home
    clock: Clock
    random_bytes: Callable[[int], bytes]
    pid: int
    listeners: Listeners
    tell: Callable[[str], None] = _tell_nobody  # show progress of long work; "" when it is done
    warn: Callable[[str], None] = _tell_nobody  # show a warning, as a sentence, to the person
    # Let the person choose which of these lines a word means, by its index; None, as what is called
    # or as its answer, where nobody is to be asked.
    choose: Callable[[str, Sequence[str]], int | None] | None = None
    project: str = ""  # the project that was named; "": that of `cwd`
    session: int | None = None  # the process that leads the caller's session; None: no caller

    def now(self) -> str:
        """Return the current time as ISO 8601 text, as it is stored in records."""
        return iso(self.clock.now())


def open_app(*, env: Mapping[str, str], cwd: Path) -> App:
    """Return the application for a command started in `cwd`.

    The home is ``$SIDING_HOME``, else ``~/.siding``.
    """
    named = env.get("SIDING_HOME")
    root = Path(named) if named else Path(env.get("HOME") or os.path.expanduser("~")) / ".siding"
    return App(
        env=env,
        cwd=cwd,
        home=Home(root if root.is_absolute() else cwd / root),
        clock=SystemClock(),
        random_bytes=os.urandom,
        pid=os.getpid(),
        listeners=Listeners(),
    )


def hide_from_git(home: Path) -> None:
    """Keep the home out of a repository around it: `git add -A` would add each workspace as a link.

    A file that is there is the person's, also an empty one. In a home that is a repository itself
    it would hide what the person keeps there.
    """
    from siding.ground.files.durable import create_bytes

    ignores = home / ".gitignore"
    if os.path.lexists(ignores) or os.path.lexists(home / ".git"):
        return
    with suppress(OSError):  # read-only, or somebody else made it just now
        create_bytes(ignores, HOME_IGNORES, mode=0o644)


def outside_home(app: App, root: Path, paths: Iterable[bytes]) -> list[bytes]:
    """Return the paths of a checkout that are not Siding's home or in it.

    The home can be in a checkout, as `~/.siding` is where somebody keeps dotfiles in a
    repository; it is never a part of it. A directory that holds the home and no other file is
    left out as well.
    """
    home = os.fsencode(os.path.realpath(app.home.root))
    place = os.path.relpath(home, os.fsencode(os.path.realpath(root))) + b"/"
    if place.startswith((b"./", b"../")):
        return list(paths)

    def is_home(path: bytes) -> bool:
        above = path.endswith(b"/") and place.startswith(path)
        return (path.rstrip(b"/") + b"/").startswith(place) or (
            above and _holds_only(os.path.join(os.fsencode(root), path), home)
        )

    return [path for path in paths if not is_home(path)]


def _holds_only(directory: bytes, home: bytes) -> bool:
    """Tell whether there is no file in a directory but those in the home; stop at the first one."""
    for above, directories, files in os.walk(directory):
        if files:
            return False
        directories[:] = [
            each for each in directories if os.path.realpath(os.path.join(above, each)) != home
        ]
    return True


class HomeHidden(SidingError):
    """The command runs in a sandbox that hides the project."""

    code = "home_hidden"


def is_in_step(app: App) -> bool:
    """Return whether the environment says that this command runs inside a step."""
    from siding.ground.process.command import step_marks

    return bool(step_marks(app.env))


def home_is_hidden(app: App) -> bool:
    """Return whether this is a sandbox, so that a project may exist that cannot be found here."""
    return bool(app.env.get("SIDING_SANDBOX"))


def home_hidden() -> HomeHidden:
    """Return the error for a command that needs the project."""
    return HomeHidden(
        "this step runs in a sandbox that hides Siding's home, so its records cannot be seen here",
        hint="run this outside, or have the step run without --sandbox",
    )
