"""Search ten free ports for a task. Loaded once in a task's life."""

import json
import os
from _socket import AF_INET, SOCK_STREAM, socket
from collections.abc import Iterator
from pathlib import Path

from siding.ground.files.durable import make_dirs, write_all
from siding.ground.files.regular import open_regular, read_small
from siding.ground.hashing import sha256_hex
from siding.ground.storage.layout import Home, TaskLayout
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.tasks.ports import BLOCK, owner_text

_LOWEST, _HIGHEST = 20_000, 65_530  # below are the ports that programs take by themselves
_EPHEMERAL = (32_768, 60_999)  # those that the kernel gives to outgoing connections, usually
_EPHEMERAL_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_MOST_TRIES = 500
_LOCK_S = 5.0
_LARGEST_DOCUMENT = 16 << 20


def assign_block(home: Home, layout: TaskLayout) -> int:
    """Give the task a block that no other task has and whose ports nobody uses now.

    Returns its first port, 0 if there is none. Raises OSError.
    """
    directory = home.ports_dir
    make_dirs(directory)
    owner = owner_text(layout)
    try:
        lock = FileLock(directory / "lock").acquire(timeout_s=_LOCK_S)
    except LockBusy:
        return 0
    try:
        for _try, port in zip(range(_MOST_TRIES), _candidates(owner), strict=False):
            if _is_taken(home, port) or not _is_free(port):
                continue
            _write(directory / str(port), owner)
            _write(layout.port, b"%d\n" % port)
            return port
    finally:
        lock.release()
    return 0


def _candidates(owner: bytes) -> Iterator[int]:
    """Yield the first ports of all blocks, beginning at one that the task and the user tell."""
    lowest, highest = _range()
    count = (highest - lowest) // BLOCK
    seed = b"%d %s" % (os.getuid(), owner)
    start = int(sha256_hex(seed)[:8], 16)
    for number in range(count):
        yield lowest + (start + number) % count * BLOCK


def _range() -> tuple[int, int]:
    """Return a range of ports that the kernel gives to nobody by itself."""
    try:
        first, last = map(int, _EPHEMERAL_FILE.read_bytes().split())
    except (OSError, ValueError):
        first, last = _EPHEMERAL
    below, above = (_LOWEST, first), (last + 1, _HIGHEST)
    return below if first - _LOWEST >= _HIGHEST - last else above


def _is_taken(home: Home, port: int) -> bool:
    """Tell whether a block is that of a task that is there and is not closed."""
    owner = read_small(home.ports_dir / str(port), 400)
    if owner is None:
        return False
    project, _, task = os.fsdecode(owner).strip().partition("/")
    if not project or not task or "/" in task or ".." in (project, task):
        return False
    document = home.projects_dir / project / "tasks" / task / "task.json"
    try:
        found = json.loads(read_small(document, _LARGEST_DOCUMENT) or b"null")
    except ValueError:
        return True  # damaged: `siding doctor` names it
    return isinstance(found, dict) and found.get("status") != "closed"


def _is_free(first: int) -> bool:
    """Tell whether nobody listens on any port of a block now."""
    for port in range(first, first + BLOCK):
        tried = socket(AF_INET, SOCK_STREAM)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
        finally:
            tried.close()
    return True


def _write(path: Path, data: bytes) -> None:
    """Replace a file. Half of one, after a power cut, agrees with no other and does not count."""
    temporary = path.with_name(path.name + ".new")
    fd = open_regular(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(fd, data)
    finally:
        os.close(fd)
    os.replace(temporary, path)
