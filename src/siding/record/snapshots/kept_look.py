"""Keep the state that a look found: a directory of git objects that stands on the store's.

Nothing in the store names it, so no command that frees or checks snapshots knows of it. What of it
the store had is freed with the snapshots; then the state is gone.
"""

import os
from pathlib import Path
from shutil import copytree

from siding.ground.files.durable import flush_dir, make_dirs
from siding.ground.git import objects
from siding.ground.ids import Sha
from siding.record.snapshots.peek import Peek


def keep_look(found: Peek, into: Path, *, at: int) -> Sha:
    """Write what the store lacks of a state into a directory; return the commit that is the state.

    Only the commit is flushed: a state that a power cut took away is said to be gone.
    """
    make_dirs(into)
    if found.store.incoming.is_dir():
        copytree(found.store.incoming, into, copy_function=_link, dirs_exist_ok=True)
    message = "look"
    if found.modes is not None:
        message += f"\n\nModes: {_write(found, into, found.modes.text(), at)}"
    sha = _write(found, into, message, at)
    flush_dir(into)
    return sha


def _write(found: Peek, into: Path, message: str, at: int) -> Sha:
    commit = objects.Commit(tree=found.tree, parents=(), message=message)
    body = objects.commit_body(commit, at=at)
    return objects.write_object(into, "commit", body, found.store.repository.object_format)


def _link(source: str, target: str) -> None:
    """Give a file a second name, or copy it where that is impossible: objects never change."""
    try:
        os.link(source, target)
    except OSError:
        Path(target).write_bytes(Path(source).read_bytes())
