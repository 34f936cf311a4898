"""Read and write loose objects without starting git.

The commits of snapshots are written here. That saves two processes for each snapshot, and lets us
decide in which order the object and the ref are flushed.
"""

import os
import zlib
from _thread import get_ident
from contextlib import suppress
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git.command import EMAIL, IDENTITY
from siding.ground.hashing import new_digest
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple


class Commit(NamedTuple):
    """A commit as it is stored. ``message`` is without its last newline."""

    tree: Sha
    parents: tuple[Sha, ...]
    message: str


def object_id(kind: str, body: bytes, object_format: str) -> Sha:
    """Return the name of an object."""
    digest = new_digest(object_format, len(body))
    digest.update(f"{kind} {len(body)}\0".encode("ascii"))
    digest.update(body)
    return Sha(digest.hexdigest())


def loose_path(objects: Path, sha: str) -> Path:
    """Return the path that the object has if it is loose."""
    return objects / sha[:2] / sha[2:]


def write_object(objects: Path, kind: str, body: bytes, object_format: str) -> Sha:
    """Write a loose object and return its id. An object that exists is left alone.

    It is durable when the caller has flushed the names in `objects`, once for all that it writes.
    """
    from siding.ground.files.durable import flush_dir, write_and_rename

    sha = object_id(kind, body, object_format)
    path = loose_path(objects, sha)
    with suppress(FileExistsError):
        path.parent.mkdir(0o700)
    if not path.exists():
        data = zlib.compress(f"{kind} {len(body)}\0".encode("ascii") + body, 1)
        # A name that git prunes. Threads may write the same object at once.
        temporary = path.parent / f"tmp_obj_{os.getpid()}_{get_ident()}_{sha[:12]}"
        write_and_rename(temporary, path, data, mode=0o444)
    flush_dir(path.parent)
    return sha


def read_loose(objects: Path, sha: str, kind: str) -> bytes | None:
    """Return the content of a loose object; None if it is not loose, damaged or of another kind."""
    data = read_small(loose_path(objects, sha), 64 << 20)
    if data is None:
        return None
    try:
        header, nul, body = zlib.decompress(data).partition(b"\0")
    except zlib.error:
        return None
    return body if nul and header.startswith(kind.encode("ascii") + b" ") else None


def read_loose_blob(objects: Path, sha: str, limit: int) -> bytes | None:
    """Return the content of a loose blob of at most `limit` bytes, else None.

    Never unpacks more than that, whatever size the object's header claims.
    """
    data = read_small(loose_path(objects, sha), limit + 1024)
    if data is None:
        return None
    unpack = zlib.decompressobj()
    try:
        header, nul, body = unpack.decompress(data, limit + 64).partition(b"\0")
    except zlib.error:
        return None
    whole = nul and header == f"blob {len(body)}".encode("ascii") and len(body) <= limit
    return body if whole else None


def is_whole(objects: Path, sha: str, object_format: str) -> bool:
    """Tell whether a loose object's content has the hash in its name. Uses bounded memory."""
    digest, inflate = new_digest(object_format, None), zlib.decompressobj()
    try:
        with loose_path(objects, sha).open("rb") as file:
            while part := file.read(1 << 20):
                while part:
                    digest.update(inflate.decompress(part, 1 << 22))
                    part = inflate.unconsumed_tail
    except (OSError, zlib.error):
        return False
    return inflate.eof and digest.hexdigest() == sha


def commit_body(commit: Commit, *, at: int) -> bytes:
    """Return the stored form of a commit made by Siding at `at` (seconds since 1970, UTC)."""
    who = f"{IDENTITY} <{EMAIL}> {at} +0000"
    lines = [f"tree {commit.tree}", *(f"parent {parent}" for parent in commit.parents)]
    lines += [f"author {who}", f"committer {who}", "", commit.message, ""]
    return "\n".join(lines).encode("utf-8", "backslashreplace")


def parse_commit(body: bytes) -> Commit:
    """Return the fields of a stored commit. Raises ValueError if it is no commit."""
    header, _, message = body.partition(b"\n\n")
    tree, parents = "", []
    for line in header.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree":
            tree = value.decode("ascii")
        elif key == b"parent":
            parents.append(Sha(value.decode("ascii")))
    if not tree:
        raise ValueError("a commit without a tree")
    text = message.decode("utf-8", "replace").rstrip("\n")
    return Commit(tree=Sha(tree), parents=tuple(parents), message=text)
