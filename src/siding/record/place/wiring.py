"""The composition root: it decides where the home is and which clock and randomness are used.

All other code receives the environment, the directory, the clock and randomness from here.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.clock import Clock, SystemClock, iso
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import Home
from siding.record.place.listeners import Listeners


def _tell_nobody(doing: str) -> None:
    del doing


HOME_IGNORES = b"# What Siding keeps is no part of a repository around it.\n*\n"


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
    # Let the person choose one of several lines, by its index; None where nobody can be asked.
    choose: Callable[[str, Sequence[str]], int] | None = None
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
