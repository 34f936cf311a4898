"""Find the permissions of a worktree's files and directories without a `stat` of every file.

git has just looked at every file and stored its inode change time (ctime), in seconds, in the
index. Changing a mode changes that time. So the modes known from the last look still hold, except
for files whose ctime is not older than that look. Only these, and files whose content changed, are
asked again. If the index is byte for byte the same, only files that were too young last time are.
Directories are always asked (`directory_scan.py`).

Hard links are seen in the same look: making and removing one changes the ctime of the file, and so
of all its names. Who names the same file is asked together.

The known modes are kept in a cache beside the index. Without it every file is asked once.
"""

import os
import stat
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git.cache_file import as_bytes, as_text, keep, load
from siding.ground.git.index_file import read_times
from siding.ground.git.paths import is_under, join, parents
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.directory_scan import Scan
from siding.record.snapshots.modes import Bare, Links, Modes, Usual
from siding.record.snapshots.store import TaskDirectory

_FORM = "modes-3"
_INDEX_LIMIT = 2 << 30
_SLACK_S = 1  # a file's times come from a clock that is a little behind


class Memory(NamedTuple):
    """What was known at the last look, and the snapshot whose modes these are.

    ``since`` is when it began, in seconds since 1970. ``checksum`` is that of git's index
    after it. ``young`` are files that may have changed since without git's seeing it.
    ``foreign`` belong to somebody else, ``linked`` have links elsewhere, too.
    ``stored`` is the commit that holds the modes.
    """

    tip: Sha
    since: int
    checksum: bytes
    young: frozenset[bytes]
    foreign: frozenset[bytes]
    linked: frozenset[bytes]
    modes: Modes
    stored: Sha | None


class Looked(NamedTuple):
    """The modes now, and what is to be kept for the next look."""

    modes: Modes
    foreign: frozenset[bytes]
    linked: frozenset[bytes]
    since: int
    checksum: bytes
    young: frozenset[bytes]

    def kept(self, tip: Sha, stored: Sha | None) -> Memory:
        return Memory(
            tip=tip,
            since=self.since,
            checksum=self.checksum,
            young=self.young,
            foreign=self.foreign,
            linked=self.linked,
            modes=self.modes,
            stored=stored,
        )


class _Found(NamedTuple):
    """A file that was asked: its mode, its change time in seconds, and which file it is."""

    mode: int
    at: int
    file: tuple[int, int]  # device and inode
    names: int  # links to it, wherever they are


class ModeLook:
    """One look. Make it before git is asked what changed; `finish` when the index is final."""

    def __init__(self, task: TaskDirectory, root: bytes, hash_bytes: int) -> None:
        self._task, self._root, self._hash_bytes = task, root, hash_bytes
        self.known = recall(task.modes)
        self._since = int(time.time()) - _SLACK_S
        if self.known is not None and self.known.since > self._since:
            self.known = None  # the clock was set back: nothing can be told from times
        self._settled = b""
        self._foreign: set[bytes] = set()

    def git_has_looked(self) -> None:
        """Note the index as git left it, before anything is entered into it."""
        self._settled = self._checksum()

    def finish(
        self,
        scan: Scan,
        *,
        updated: Collection[bytes],
        dropped: Collection[bytes],
        usual: Usual | None,
        bare: Bare | None,
    ) -> Looked | None:
        """Return the modes; None when the index cannot be read.

        `updated` are the paths whose bytes were read anew, `dropped` those that are no part of the
        snapshot. `usual` is what the last snapshot calls usual, if it says. `bare` goes into the
        modes as it is.
        """
        known = self.known
        is_same = known is not None and known.checksum == self._settled
        times: Mapping[bytes, int] | None = None
        if not is_same or self._needs_names(scan, bool(updated or dropped)):
            data = read_small(self._task.index_file, _INDEX_LIMIT) or b""
            times = read_times(data, self._hash_bytes)
            if times is None:
                return None
        gone = set(dropped)
        asked = set(updated) - gone
        if known is None:
            assert times is not None
            asked |= times.keys()
        elif is_same:
            asked |= known.young - gone
        else:
            assert times is not None
            asked |= {path for path, at in times.items() if not at or at >= known.since}
        if known is not None:
            asked |= _linked_to(known, asked | gone) - gone
        if times is not None:
            asked &= times.keys()
        found = self._ask(asked)
        if known is not None and any(each.names > 1 for each in found.values()):
            # Their other name may be of the snapshot only since now: it was ignored before.
            more = known.linked - asked - gone
            more = more & times.keys() if times is not None else more
            found |= self._ask(more)
            asked |= more
        usual = usual or (known.modes.usual if known else None) or _most_common(found, scan)
        files = _still_there(known, asked, gone, set(updated), times)
        for path, (mode, *_) in found.items():
            if mode != usual.of_file(executable=bool(mode & 0o100)):
                files[path] = mode
        foreign = known.foreign - asked - gone if known else frozenset()
        foreign = frozenset(path for path in foreign if times is None or path in times)
        links, linked = _links(known, asked | gone, found, times)
        directories = _unusual(scan, usual, times)
        return Looked(
            modes=Modes(usual, files, directories, links, bare),
            foreign=foreign | self._foreign,
            linked=linked,
            since=self._since,
            checksum=self._checksum(),
            young=frozenset(p for p, each in found.items() if each.at >= self._since),
        )

    def _needs_names(self, scan: Scan, is_changed: bool) -> bool:
        """Tell whether it must be asked which directories hold files of the snapshot."""
        assert self.known is not None
        modes = self.known.modes
        unusual = {p for p, mode in scan.modes.items() if mode != modes.usual.directory}
        return bool(unusual) and (is_changed or unusual != modes.directories.keys())

    def _ask(self, paths: Iterable[bytes]) -> dict[bytes, _Found]:
        """Return what is seen of those that are regular files."""
        me, group = os.geteuid(), os.getegid()
        found = {}
        for path in paths:
            try:
                there = os.lstat(join(self._root, path))
            except OSError:
                continue
            if not stat.S_ISREG(there.st_mode):
                continue
            mode = stat.S_IMODE(there.st_mode)
            # Made again it would be ours, and would lend our rights to whoever runs it.
            if there.st_uid != me:
                mode &= ~stat.S_ISUID
                if me:
                    self._foreign.add(path)
            if there.st_gid != group:
                mode &= ~stat.S_ISGID
            inode = (there.st_dev, there.st_ino)
            found[path] = _Found(mode, int(there.st_ctime), inode, there.st_nlink)
        return found

    def _checksum(self) -> bytes:
        """Return the last bytes of git's index, which tell one content from another."""
        try:
            with self._task.index_file.open("rb") as file:
                file.seek(-self._hash_bytes, os.SEEK_END)
                return file.read()
        except (OSError, ValueError):
            return b""


def recall(path: Path) -> Memory | None:
    """Return what was kept at the last look; None when nothing usable is there."""
    kept = load(path, _FORM)
    if kept is None:
        return None
    tip, since, checksum, young, foreign, linked, usual, files, directories, *more = kept
    links, bare, stored = more
    modes = Modes(
        usual=Usual(*usual),
        files={as_bytes(path): mode for path, mode in files.items()},
        directories={as_bytes(path): mode for path, mode in directories.items()},
        links=tuple(tuple(as_bytes(path) for path in group) for group in links),
        bare=bare and Bare(*(tuple(as_bytes(path) for path in paths) for paths in bare)),
    )
    return Memory(
        tip=tip,
        since=since,
        checksum=bytes.fromhex(checksum),
        young=frozenset(as_bytes(path) for path in young),
        foreign=frozenset(as_bytes(path) for path in foreign),
        linked=frozenset(as_bytes(path) for path in linked),
        modes=modes,
        stored=stored,
    )


def remember(path: Path, memory: Memory, known: Memory | None) -> None:
    """Keep what was seen for the next look."""
    if known is not None and memory._replace(since=known.since) == known:
        return  # the older look is as good: its time only makes more files be asked
    plain = (
        memory.tip,
        memory.since,
        memory.checksum.hex(),
        sorted(as_text(path) for path in memory.young),
        sorted(as_text(path) for path in memory.foreign),
        sorted(as_text(path) for path in memory.linked),
        memory.modes.usual,
        {as_text(path): mode for path, mode in memory.modes.files.items()},
        {as_text(path): mode for path, mode in memory.modes.directories.items()},
        [[as_text(path) for path in group] for group in memory.modes.links or ()],
        memory.modes.bare and [[as_text(path) for path in paths] for paths in memory.modes.bare],
        memory.stored,
    )
    keep(path, _FORM, lambda _time_ns: plain)


def _linked_to(known: Memory, paths: Collection[bytes]) -> set[bytes]:
    """Return all names that the files at these paths had at the last look."""
    groups = known.modes.links or ()
    return {path for group in groups if any(each in paths for each in group) for path in group}


def _links(
    known: Memory | None,
    asked: Collection[bytes],
    found: Mapping[bytes, _Found],
    times: Mapping[bytes, int] | None,
) -> tuple[Links, frozenset[bytes]]:
    """Return the groups of links now, and the files that have links elsewhere, too."""
    names: dict[tuple[int, int], list[bytes]] = {}
    for path in sorted(found):
        if found[path].names > 1:
            names.setdefault(found[path].file, []).append(path)
    linked = {p for group in names.values() for p in group if found[p].names > len(group)}
    groups = [tuple(group) for group in names.values() if len(group) > 1]
    if known is not None:
        # Who is asked is asked with all its names, so none of a group is asked or all are.
        kept = [g for g in known.modes.links or () if g[0] not in asked]
        groups += [g for g in kept if times is None or all(p in times for p in g)]
        linked |= {p for p in known.linked if p not in asked and (times is None or p in times)}
    return tuple(sorted(groups)), frozenset(linked)


def _still_there(
    known: Memory | None,
    asked: set[bytes],
    gone: set[bytes],
    updated: set[bytes],
    times: Mapping[bytes, int] | None,
) -> dict[bytes, int]:
    """Return the unusual modes that are known and were not asked for again."""
    if known is None:
        return {}
    return {
        path: mode
        for path, mode in known.modes.files.items()
        if path not in asked
        and path not in gone
        and (times is None or path in times)
        and path not in updated
        and not any(above in updated for above in parents(path))
    }


def _unusual(scan: Scan, usual: Usual, times: Mapping[bytes, int] | None) -> dict[bytes, int]:
    """Return the directories with an unusual mode that hold something of the snapshot."""
    unusual = {path: mode for path, mode in scan.modes.items() if mode != usual.directory}
    if not unusual or times is None:
        return unusual
    names = sorted(times)
    always = {b"", *scan.empty, *scan.unreadable}
    return {p: mode for p, mode in unusual.items() if p in always or _holds(names, p)}


def _holds(names: list[bytes], directory: bytes) -> bool:
    at = bisect_left(names, directory + b"/")
    return at < len(names) and is_under(names[at], directory)


def _most_common(found: Mapping[bytes, _Found], scan: Scan) -> Usual:
    """Return the modes that most files and directories have."""
    counts = Counter(each.mode for each in found.values())
    executable = Counter({mode: n for mode, n in counts.items() if mode & 0o100})
    plain = Counter({mode: n for mode, n in counts.items() if not mode & 0o100})
    default = Usual()
    file = _top(plain, default.file)
    return Usual(
        file=file,
        executable=_top(executable, file | (file & 0o444) >> 2),
        directory=_top(Counter(scan.modes.values()), default.directory),
    )


def _top(counts: "Counter[int]", default: int) -> int:
    # The smaller of two that are as common: the choice must not depend on an order.
    return min(counts, key=lambda mode: (-counts[mode], mode)) if counts else default
