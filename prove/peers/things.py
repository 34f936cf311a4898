"""What stands in a working directory before and after a command: one thing, one case."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from prove.peers.ground import remove


class File(NamedTuple):
    content: bytes
    mode: int = 0o644


class Link(NamedTuple):
    to: bytes


class Empty(NamedTuple):
    """A directory with nothing in it."""


Node = File | Link | Empty | None


class Thing(NamedTuple):
    """A path, what is there before a command and after it, and whether HEAD has the first."""

    name: str
    path: bytes
    before: Node
    after: Node
    tracked: bool = False


def _text(word: str, n: int) -> bytes:
    return f"{word} {n} of a thing that only one file has\n".encode()


THINGS = (
    Thing("tracked, changed", b"tracked", File(_text("t", 1)), File(_text("t", 2)), True),
    Thing("tracked, deleted", b"deleted", File(_text("d", 1)), None, True),
    Thing(
        "tracked, now executable", b"tool", File(_text("x", 1)), File(_text("x", 2), 0o755), True
    ),
    Thing("tracked, an empty directory now", b"turned", File(_text("n", 1)), Empty(), True),
    Thing("untracked, new", b"new", None, File(_text("n", 2))),
    Thing("untracked, changed", b"notes", File(_text("u", 1)), File(_text("u", 2))),
    Thing("untracked, deleted", b"draft", File(_text("g", 1)), None),
    Thing("untracked, a name with a line break", b"a\nb\xff", None, File(_text("l", 2))),
    Thing("untracked, CR LF", b"dos.txt", File(b"one 1\r\ntwo\r\n"), File(b"one 2\r\ntwo\r\n")),
    Thing("tracked, CR LF now", b"unix.txt", File(b"u 1\nv\n"), File(b"u 2\r\nv\r\n"), True),
    Thing(
        "untracked, permissions 0600",
        b"key",
        File(_text("k", 1), 0o600),
        File(_text("k", 2), 0o600),
    ),
    Thing("untracked, a link", b"link", Link(b"tracked"), Link(b"nowhere 2")),
    Thing("untracked, an empty directory", b"empty", None, Empty()),
    Thing("ignored, new", b"out.log", None, File(_text("o", 2))),
    Thing("ignored, changed", b".env", File(_text("e", 1)), File(_text("e", 2))),
    Thing("in a nested repository", b"nested/file", File(_text("r", 1)), File(_text("r", 2))),
)
IGNORED = b"*.log\n.env\n"


def put(root: Path, path: bytes, node: Node) -> None:
    """Make what is at a path the node."""
    full = Path(os.fsdecode(os.path.join(os.fsencode(root), path)))
    remove(full)
    match node:
        case File(content, mode):
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(content)
            full.chmod(mode)
        case Link(to):
            os.symlink(to, os.fsencode(full))
        case Empty():
            full.mkdir()
        case None:
            pass


def found(root: Path, path: bytes) -> Node:
    """Return what is at a path."""
    full = os.path.join(os.fsencode(root), path)
    try:
        mode = os.lstat(full).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(mode):
        return Link(os.readlink(full))
    if stat.S_ISDIR(mode):
        return Empty() if not os.listdir(full) else File(b"a directory with files")
    with open(full, "rb") as file:
        return File(file.read(), stat.S_IMODE(mode))


def begin(root: Path, run: Callable[..., str]) -> None:
    """Commit what is tracked."""
    (root / ".gitignore").write_bytes(IGNORED)
    for thing in THINGS:
        if thing.tracked:
            put(root, thing.path, thing.before)
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "first")


def before(root: Path, env: dict[str, str]) -> None:
    """Bring the directory into the state to go back to."""
    for thing in THINGS:
        if not thing.tracked:
            put(root, thing.path, thing.before)
    for words in (("init", "-q", "--template="), ("add", "-A"), ("commit", "-q", "-m", "nested")):
        subprocess.run(["git", *words], cwd=root / "nested", env=env, check=True)


def after(root: Path) -> None:
    """Do what a command did that is to be taken back."""
    for thing in THINGS:
        put(root, thing.path, thing.after)
