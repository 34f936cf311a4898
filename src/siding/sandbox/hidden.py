"""What a run is not to see: credentials in git's settings, and what only root may read.

A remote's address with a password, an address that another one stands for, a header with a token, a
helper that prints a password: git reads them from files that a sandbox shows, so every command
inside could. For each such file a copy without them is written, which the sandbox shows. git works
with it; a fetch that needs the credential fails inside, as it must.

In a sandbox root keeps the rights of an owner, so it could read ``/etc/shadow``, the private keys
of services and the secrets of programs below ``/opt`` and ``/srv``. Nobody else can; nothing that
runs as an ordinary user needs them.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple
from siding.sandbox.engines.values import is_within
from siding.secretmask.face import Redactor, names_credential

_MOST = 1 << 20  # bytes of a file
_DEEPEST = 10  # includes of includes, as in git
_USER = re.compile(rb"(?i)\b((?:https?|ftps?)://)[^\s/\"'\\]*@")
_PASSWORD = re.compile(rb"(?i)\b([a-z][a-z0-9+.-]*://[^\s/\"'\\:@]+):[^\s/\"'\\]*@")
_LINE = re.compile(rb"^([ \t]*(?:\[[^\n]*?\][ \t]*)?)([A-Za-z][A-Za-z0-9-]*)([ \t]*=[ \t]*)(.*)$")
_INCLUDED = re.compile(rb"(?im)^[ \t]*path[ \t]*=[ \t]*\"?([^\"\n#;]+?)\"?[ \t]*$")
_STORE = re.compile(rb"(?im)^[ \t]*helper[ \t]*=.*\bstore\b.*--file[= ][ \t]*\"?([^\s\"\n]+)")
_NOT_WALKED = frozenset({"objects", "refs", "logs", "hooks", "info", "branches"})
TOPS = ("/etc", "/opt", "/srv")
_LEVELS = 4  # levels below a top
_MOST_ENTRIES = 20_000  # entries that are looked at


class CleanSettings(NamedTuple):
    """`replaced`: the path of each file with a credential in it, and the copy without.

    `stores`: files in which git keeps passwords itself.
    """

    replaced: tuple[tuple[str, str], ...] = ()
    stores: tuple[str, ...] = ()


def without_credentials(data: bytes) -> bytes:
    """Return the text of a file of settings without the credentials in it."""
    lines = []
    for line in data.replace(b"\\\r\n", b"").replace(b"\\\n", b"").splitlines(keepends=True):
        text = _USER.sub(rb"\1", line)
        text = _PASSWORD.sub(rb"\1@", text)
        lines.append(_line(text))
    return Redactor().mask(b"".join(lines))


def _line(line: bytes) -> bytes:
    """Return a line of which the value was left out if its name says that it is a credential."""
    found = _LINE.match(line.rstrip(b"\r\n"))
    if found is None:
        return line
    head, key, _equals, value = found.groups()
    name = key.lower()
    if name == b"proxy" and b"@" in value:
        return head + key + b" = " + value.rpartition(b"@")[2] + b"\n"
    prints = name == b"helper" and value.lstrip(b'"').startswith(b"!") and b"pass" in value
    if name == b"extraheader" or prints or names_credential(key):
        return (
            head + b"# " + key + b" is not shown in a sandbox\n"
            if head.strip() == b""
            else head + b"\n"
        )
    return line


def clean_settings(
    files: Iterable[str], common_dir: str, home: str, directory: Callable[[], Path]
) -> CleanSettings:
    """Write a copy of each file of settings that has a credential in it, in `directory`.

    `files` are those that git reads by itself; what they include is looked at, too, and so are the
    settings of worktrees and submodules below `common_dir`.
    """
    replaced: dict[str, str] = {}
    stores: list[str] = []
    seen: set[str] = set()
    made: Path | None = None
    waiting = [(path, 0) for path in (*files, *_below(common_dir))]
    while waiting:
        path, depth = waiting.pop()
        real = os.path.realpath(path)
        data = None if real in seen else read_small(Path(real), _MOST)
        seen.add(real)
        if data is None:
            continue
        clean = without_credentials(data)
        if clean != data.replace(b"\\\r\n", b"").replace(b"\\\n", b""):
            if made is None:
                made = directory()
                make_dirs(made)
            copy = made / f"{len(replaced)}"
            copy.write_bytes(clean)
            replaced[path] = str(copy)
        stores += [_absolute(each, real, home) for each in _STORE.findall(data)]
        if depth < _DEEPEST:
            found = (_absolute(each, real, home) for each in _INCLUDED.findall(data))
            waiting += [(each, depth + 1) for each in found]
    return CleanSettings(
        tuple(replaced.items()), tuple(each for each in stores if os.path.isfile(each))
    )


def _absolute(named: bytes, file: str, home: str) -> str:
    text = os.fsdecode(named).strip()
    if text.startswith("~/"):
        text = os.path.join(home, text[2:])
    return os.path.normpath(os.path.join(os.path.dirname(file), text))


def _below(common_dir: str) -> Iterator[str]:
    """Yield the settings of the repository, its worktrees and its submodules."""
    yield f"{common_dir}/config"
    yield f"{common_dir}/config.worktree"
    for top in ("worktrees", "modules"):
        for directory, folders, names in os.walk(os.path.join(common_dir, top)):
            folders[:] = [each for each in folders if each not in _NOT_WALKED]
            yield from (
                os.path.join(directory, name)
                for name in names
                if name in ("config", "config.worktree")
            )


def root_only(
    spared: Iterable[str],
    *,
    tops: Iterable[str] = TOPS,
    is_root: Callable[[], bool] = lambda: os.geteuid() == 0,
) -> tuple[list[str], list[str]]:
    """Return the files and the directories that others than root cannot read; none as a user.

    Nothing that is above, at or below one of the paths `spared` is returned.
    """
    files: list[str] = []
    directories: list[str] = []
    if is_root():
        kept = [os.path.realpath(each) for each in spared]
        for path, mode in _entries(tops):
            if any(is_within(path, each) or is_within(each, path) for each in kept):
                continue
            if stat.S_ISREG(mode) and not mode & 0o004:
                files.append(path)
            elif stat.S_ISDIR(mode) and not mode & 0o001:
                directories.append(path)
    return files, directories


def _entries(tops: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield path and mode of what is below; nothing below what others cannot enter."""
    left = _MOST_ENTRIES
    waiting = [(each, 0) for each in tops]
    while waiting:
        directory, depth = waiting.pop(0)
        try:
            with os.scandir(directory) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            left -= 1
            if left < 0:
                return
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except OSError:
                continue
            yield entry.path, mode
            if stat.S_ISDIR(mode) and mode & 0o001 and depth < _LEVELS:
                waiting.append((entry.path, depth + 1))
