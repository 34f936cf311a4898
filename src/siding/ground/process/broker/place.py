"""Where the broker's socket of a run lies: in a directory of its own, with a short path.

A conversation that the run's agent goes on with can lie beside it (`past_beside`), and settings for
the agent (`settings_beside`).

The address of a socket has 107 bytes at most, so the directory is that of the user's session or
`/tmp`; of root it is `/run`, where no other user can replace what root has made, and there are
agents that ask for that. A sandbox shows the directory, and so also a socket that is made in it
later.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR

SOCKET_VARIABLE = "SIDING_SOCKET"  # tells the run the path; `client` stands alone, and has its own
_NAME, _PAST, _SETTINGS, _WIRE = "s", "past.jsonl", "settings.json", "w"
_LONGEST = 100  # bytes
_TRIES = 8


def make_place(env: Mapping[str, str], random_bytes: Callable[[int], bytes]) -> Path:
    """Make a directory for one socket, and return the path that the socket will have.

    Raises OSError if no directory can be made.
    """
    parent = _parent(env)
    for tries_left in reversed(range(_TRIES)):
        directory = parent / f"siding-{random_bytes(4).hex()}"
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            if tries_left:
                continue
            raise
        return directory / _NAME
    raise AssertionError("unreachable")


def past_beside(socket: str) -> Path:
    """Return where a copy of a conversation can be written; it goes with the socket."""
    return Path(socket).with_name(_PAST)


def settings_beside(socket: str) -> Path:
    """Return where settings for the run's agent can be written; they go with the socket."""
    return Path(socket).with_name(_SETTINGS)


def wire_beside(socket: str) -> Path:
    """Return where a sandbox can hand its listeners out; it goes with the socket."""
    return Path(socket).with_name(_WIRE)


def remove_place(socket: str) -> None:
    """Remove a socket and its directory, if they are still what was made.

    Nothing else is removed: another program may have put something there.
    """
    if socket.startswith("/") and os.path.basename(socket) == _NAME:
        for path in (socket, past_beside(socket), settings_beside(socket), wire_beside(socket)):
            with suppress(OSError):
                os.unlink(path)
        with suppress(OSError):
            os.rmdir(os.path.dirname(socket))


def _parent(env: Mapping[str, str]) -> Path:
    named = env.get("XDG_RUNTIME_DIR", "")
    if named.startswith("/") and len(os.fsencode(named)) < _LONGEST - 20 and _is_ours(named):
        return Path(named)
    return Path("/run") if os.geteuid() == 0 and _is_of_root("/run") else Path("/tmp")


def _is_of_root(path: str) -> bool:
    """Tell whether root can write into a directory, and nobody else can."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    safe = S_ISDIR(found.st_mode) and found.st_uid == 0 and not found.st_mode & 0o022
    return safe and os.access(path, os.W_OK)


def _is_ours(path: str) -> bool:
    """Tell whether a directory belongs to us and nobody else may look into it."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
