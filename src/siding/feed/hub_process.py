"""The process of a hub: begun by a viewer, elected by a lock, apart from whoever began it."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from siding.asking.told import Told
from siding.feed.best_watch import WatchOfHome
from siding.feed.desktop import Desktop
from siding.feed.ends import EndsOfProcesses
from siding.feed.fold import HomeFold
from siding.feed.hub import Hub, is_reachable, remove_socket
from siding.feed.hub_lines import HubPlace
from siding.feed.live import LiveFeed
from siding.ground.files.durable import make_dirs
from siding.ground.process.apart import Apart, start_apart
from siding.ground.process.command import MARK_VARIABLE, TOKEN_VARIABLE
from siding.ground.process.control.frames import listen_at
from siding.ground.process.detach import Background, Begun, in_background
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.wiring import App, hide_from_git

IS_ANOTHER = 75  # the exit status where another process is the hub
LAST_S = 5.0  # for the notifications that are being taken off, when the next hub may already be


def live_feed(app: App) -> LiveFeed:
    """Return the feed of a home, which begins to count now."""
    return LiveFeed(
        HomeFold(app),
        WatchOfHome(app.home.root),
        EndsOfProcesses(),
        root=app.home.root,
        epoch=time.time_ns(),
    )


def begin_hub(app: App) -> Apart:
    """Start a process that becomes the hub, unless there is one; it ends when the hub listens.

    Raises OSError where the home cannot be written.
    """
    place = HubPlace.of(app.home)
    if not app.home.root.exists():
        make_dirs(app.home.root)
        hide_from_git(app.home.root)
    make_dirs(place.directory)
    if not os.access(place.directory, os.W_OK | os.X_OK):
        raise PermissionError(f"{str(place.directory)!r} cannot be written")
    # The hub is no part of the step that a viewer may have been started in.
    dropped = (TOKEN_VARIABLE, MARK_VARIABLE)
    env = {name: value for name, value in app.env.items() if name not in dropped}
    # -P: Python does not look for the package in the directory that it is started in.
    return start_apart(
        [sys.executable, "-P", "-m", "siding", "-q", "-C", "/", "__hub"],
        env={**env, "SIDING_HOME": str(app.home.root)},
        cwd=Path("/"),
    )


def be_hub(app: App) -> int:
    """Become the hub in a process of its own; return when it listens, with an exit status."""
    begun = in_background(lambda background: _work(app, background))
    return 0 if isinstance(begun, Begun) else begun


def _work(app: App, background: Background) -> int:
    place = HubPlace.of(app.home)
    lock = FileLock(place.lock)
    try:
        lock.acquire(holder=Holder(background.pid, app.now(), "the hub of the feed"))
    except LockBusy:
        return IS_ANOTHER
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = listen_at(place.socket)
    bound = os.stat(place.socket, follow_symlinks=False)
    background.begin("listens")
    live = live_feed(app._replace(pid=background.pid))
    desktop = Desktop(Told(app.home, app.env))
    hub = Hub(
        live,
        listener,
        lambda: is_reachable(place, lock.fd, bound),
        take_off=desktop.take_off,
    )
    try:
        hub.serve()
    finally:
        remove_socket(place.socket, listener, bound)
        with suppress(OSError):
            hub.close()
        lock.release()
    desktop.wait(LAST_S)
    return 0
