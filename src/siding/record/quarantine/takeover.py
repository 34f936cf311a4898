"""Take over what a sandboxed run committed: objects, branches, and its workspace's git directory.

That is done when the run has ended, and before each snapshot while it lives (`hand_over`), so that
a recorded state has the commits that were made until then.

The order makes this safe to interrupt and repeat: objects come before refs that name them, then
branches, then the index and HEAD. The state file is removed last (`forget`).

Earlier versions let a sandboxed run write the index and the reflog, and could then fail to take its
objects over. After that ``git gc`` fails for the whole repository. `repair` mends both files, and
keeps copies of them.
"""

import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from siding.ground.errors import counted
from siding.ground.files.durable import flush_dir, make_dirs, write_and_rename
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.discovery import read_settings
from siding.ground.git.index_check import BadIndex
from siding.ground.git.repository import Repository
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.model import IndexLocked
from siding.record.quarantine.objects import absent, discard, gather, give_reachable, open_up
from siding.record.quarantine.place import (
    Before,
    HandedOver,
    QuarantineContent,
    check_head,
    head_text,
    index_digest,
    index_of_head,
    left_behind,
    left_in,
    log_size,
    named_by,
    put_head,
    put_index,
    put_log,
    read_index,
    read_log_lines,
    remember,
    state_of,
    sweep,
)
from siding.record.quarantine.run import (
    REFUSED,
    PreparedQuarantine,
    forget,
    read_bookmarks,
    read_branches,
    remember_branch,
    set_aside,
    write_bookmarks,
    write_handed,
    write_state,
)

_MOST_CARRIED = 20  # objects of an unfinished rebase or merge
_MOST_BESIDE = 100  # branches of commits that came too late for one
_LIVE_S = 0.1  # a living git holds the lock of a ref for a few milliseconds
_LOG = "siding: taken over from the sandbox"


class Taken(NamedTuple):
    """The branches that were moved or created, and sentences about what was refused."""

    branches: tuple[str, ...]
    refused: tuple[str, ...]


def take_over(repository: Repository, prepared: PreparedQuarantine, git_dir: Path) -> Taken:
    """Give the repository what the run committed. If GitError is raised, the quarantine is kept.

    `git_dir` is the workspace's git directory. Earlier versions let a run write its index and log
    there; a quarantine of such a version is handled, too.
    """
    act = TakeOver(repository, prepared)
    act.give_objects(() if prepared.place else _lacking(repository, git_dir))
    act.move_branches()
    if prepared.place is not None:
        act.put_back(prepared.place)
    else:
        act.repair(git_dir)
    return act.end()


def _lacking(repository: Repository, git_dir: Path) -> list[set[str]]:
    found = Lacking(repository, git_dir)
    return [set(found.blobs), *({sha} for sha in sorted(found.commits))]


class TakeOver:
    """The steps of one takeover, with the sentences for the person that they collect.

    While the run lives, the quarantine is left as it is.
    """

    def __init__(
        self, repository: Repository, prepared: PreparedQuarantine, *, lives: bool = False
    ) -> None:
        self._repository, self._prepared, self._lives = repository, prepared, lives
        for directory in (prepared.heads, prepared.copy):
            open_up(directory)
        self._after = read_branches(prepared.heads)
        self._left = QuarantineContent()
        if prepared.place is not None:
            sweep(prepared.place)
            hash_bytes = repository.paths.hash_size // 2
            self._left = left_in(prepared.copy, prepared.place, hash_bytes, prepared.handed)
        self._head = check_head(self._left.head or "")
        self._whole: frozenset[str] = frozenset()
        self._bookmarks: dict[str, str] = {}
        self._moved: list[str] = []
        self._said: list[str] = list(prepared.handed.said)
        self._broken: list[str] = []
        self._beside: dict[str, str] = {}  # branches that somebody else moved, and what was said

    def give_objects(self, more: Sequence[set[str]]) -> None:
        gathered = gather(self._repository, self._prepared.root, keep=self._lives)
        self._broken += gathered.junk
        left, commit = self._left, self._head[1]
        tips = [sha for name, sha in sorted(self._after.items()) if self._was(name) != sha]
        groups = [{sha} for sha in dict.fromkeys([*tips, *([commit] if commit else [])])]
        groups.append(set(absent(self._repository, left.staged, "blob")))
        groups += [{sha} for sha in reversed(dict.fromkeys(left.logged))]
        groups += more
        self._whole = give_reachable(self._repository, gathered, groups)
        # An unfinished rebase needs these in the next run. If one is missing, only that is lost.
        if gathered.store is not None:
            for sha in sorted(absent(self._repository, left.operation, "commit"))[:_MOST_CARRIED]:
                give_reachable(self._repository, gathered, [{sha}])

    # -- branches ----------------------------------------------------------------------------

    def move_branches(self) -> None:
        prepared = self._prepared
        known = read_bookmarks(prepared.root)
        changed = [name for name, sha in self._after.items() if self._was(name) != sha]
        # Decided before any branch moves: the same new commit may be on several branches.
        new = {self._after[name] for name in changed if name not in prepared.own}
        empty = {sha for sha in new if self._adds_nothing(sha)}
        for name in sorted(changed, key=lambda each: (each in prepared.own, each)):
            self._move(name, self._after[name], empty=empty)
        self._bookmarks |= {
            name: sha for name, sha in known.items() if self._after.get(name) == sha
        }
        gone = sorted(set(prepared.before) - set(self._after) - set(known))
        self._said += [f"branch {name!r} was not deleted" for name in gone]
        write_bookmarks(prepared.root, self._bookmarks)

    def _move(self, name: str, sha: str, *, empty: Collection[str]) -> None:
        own = self._prepared.own
        current = refs.read_ref(self._repository.paths.common_dir, f"refs/heads/{name}")
        if current == sha:
            return
        if name not in own and current is not None:
            self._said.append(f"branch {name!r} was not moved: it is not this task's")
        elif current != (own.get(name) or None) and not self._was_handed(name, current):
            self._keep_beside(name, sha)
        elif sha not in self._whole:
            self._broken.append(f"branch {name!r} was not moved: its commits are not complete")
        elif current is None and name not in own and self._head[0] != name and sha in empty:
            self._bookmarks[name] = sha
            self._said.append(f"branch {name!r} stays in the sandbox: it has no commit of its own")
        elif _update(self._repository, name, sha, current):
            self._moved.append(name)
            if name not in own:
                remember_branch(self._prepared.root, name)
        else:
            self._keep_beside(name, sha)

    def _keep_beside(self, name: str, sha: str) -> None:
        """Keep commits that came too late for their branch on another one, and say which."""
        said = f"branch {name!r} was not moved: somebody else did, meanwhile"
        if sha in self._whole and not self._adds_nothing(sha):
            free = (f"{name}-beside-{number}" for number in range(1, _MOST_BESIDE))
            kept = next((each for each in free if _update(self._repository, each, sha, None)), "")
            if kept:
                remember_branch(self._prepared.root, kept)
                said += f"; what the run committed is branch {kept!r}"
        self._said.append(said)
        self._beside[name] = said

    def _was_handed(self, name: str, sha: str | None) -> bool:
        """Tell whether we moved the branch there ourselves, and were killed before we noted it."""
        return sha is not None and self._prepared.handed.branches.get(name) == sha

    def _adds_nothing(self, sha: str) -> bool:
        done = self._repository.git.attempt(
            Place(git_dir=self._repository.paths.common_dir),
            ["rev-list", "-n", "1", sha, "--not", "--all"],
        )
        return done.returncode == 0 and not done.stdout.strip()

    def _was(self, name: str) -> str | None:
        return self._prepared.before.get(name)

    # -- the workspace's git directory ----------------------------------------------------------

    def put_back(self, place: Before) -> None:
        if not Path(place.git_dir).is_dir():
            return  # the workspace was removed since
        commit = _commit_of(self._repository, place)
        if self._left.head is not None:
            self._put_head(place, self._left.head)
        moved = self._moved or _commit_of(self._repository, place) != commit
        self._put_index(place, moved=bool(moved))
        self._put_log(place)
        if not self._lives:
            self._said += left_behind(self._prepared.copy, Path(place.git_dir))

    def repair(self, git_dir: Path) -> None:
        kept = self._prepared.root / REFUSED / "before-repair"
        self._said += repair(self._repository, git_dir, kept)

    def _put_head(self, place: Before, head: str) -> None:
        branch, commit = self._head
        own = {*self._prepared.own, *self._moved}
        if branch is not None and branch in own and self._exists(branch):
            taken = put_head(place, f"ref: refs/heads/{branch}", self._prepared.handed)
        elif (
            commit is not None
            and commit in self._whole
            and not absent(self._repository, [commit], "commit")
        ):
            taken = put_head(place, commit, self._prepared.handed)
        else:
            named = f"branch {branch!r}, none of this task's" if branch else repr(head[:80])
            self._said.append(f"the workspace's HEAD stays where it was: the run set it to {named}")
            return
        if not taken:
            self._said.append("the workspace's HEAD was not moved: somebody else did, meanwhile")

    def _put_log(self, place: Before) -> None:
        logged = frozenset(self._left.logged)
        unknown = absent(self._repository, logged, "commit") | (logged - self._whole)
        if unknown:
            self._broken.append("lines of HEAD's log were left out: they name what is not there")
        lines = [each for each in self._left.log if unknown.isdisjoint(named_by(each))]
        put_log(place, lines, self._prepared.handed)

    def _exists(self, branch: str) -> bool:
        return refs.read_ref(self._repository.paths.common_dir, f"refs/heads/{branch}") is not None

    def _put_index(self, place: Before, *, moved: bool) -> None:
        left, bad = self._left, self._left.bad_index
        try:
            if left.new_index is not None:
                gone = absent(self._repository, left.staged, "blob")
                if not gone:
                    written = (self._prepared.copy / "index").lstat().st_mtime_ns
                    handed = self._prepared.handed
                    data = left.new_index.data
                    if not put_index(place, data, mtime_ns=written, handed=handed):
                        self._said.append(
                            "what the run staged was not taken over: somebody else "
                            "changed the index meanwhile"
                        )
                    return
                bad = "it names files that are not there"
            if bad:
                self._broken.append(f"the index was not taken over: {bad}; no file was changed")
                if moved and not self._lives:
                    put_index(place, index_of_head(self._repository, place))
        except IndexLocked as error:
            self._said.append(f"what the run staged was not taken over: {error.message}")

    def hand_over(self, place: Before) -> tuple[str, ...]:
        """Do all of it for a run that lives. Returns what could not be taken over, and why.

        What is going to be moved is written down first, so that after a kill nobody takes it for
        the work of somebody else.
        """
        left, prepared = self._left, self._prepared
        self.give_objects(())
        index = left.new_index
        self._prepared = prepared._replace(
            handed=prepared.handed._replace(
                branches={name: sha for name, sha in self._after.items() if self._was(name) != sha},
                head=left.head or "",
                index_digest="" if index is None else sha256_hex(index.data),
            )
        )
        write_handed(self._prepared)
        self.move_branches()
        self.put_back(place)
        discard(prepared.root / "taken")
        return (*self._broken, *self._note_what_was_done(place))

    def _note_what_was_done(self, place: Before) -> Iterator[str]:
        """Write down what the quarantine differs from, from now on; yield what stays behind."""
        prepared, left = self._prepared, self._left
        common, git_dir = self._repository.paths.common_dir, Path(place.git_dir)
        before, own = dict(prepared.before), dict(prepared.own)
        for name, sha in self._after.items():
            is_there = refs.read_ref(common, f"refs/heads/{name}") == sha
            if is_there or name in self._bookmarks or name in self._beside:
                before[name] = sha
            if is_there and (name in own or name in self._moved):
                own[name] = sha
        if left.head is not None:
            if head_text(git_dir) == left.head:
                place = place._replace(head=left.head)
            else:
                yield f"the run set its HEAD to {left.head[:80]!r}, which is none of this task's"
        copy_index = prepared.handed.copy_index
        if left.new_index is not None:
            digest = sha256_hex(left.new_index.data)
            if index_digest(git_dir) == digest:
                place = place._replace(index_digest=digest)
                copy_index = left.copy_index
            else:
                yield "what the run staged is not what is staged outside"
        handed = HandedOver(
            copy_index=copy_index,
            outer_log=log_size(git_dir),
            copy_log=left.log_end,
            said=(*prepared.handed.said, *self._beside.values()),
        )
        done = prepared._replace(before=before, own=own, place=place, handed=handed)
        write_state(done)
        write_handed(done)

    def end(self) -> Taken:
        prepared = self._prepared
        if self._broken:
            kept = set_aside(prepared.root, self._broken)
            self._said.append(f"what could not be used is kept in {str(kept)!r}, until `siding gc`")
        else:
            if prepared.place is not None:
                remember(prepared.root, Path(prepared.place.git_dir))
            forget(prepared)
            for name in ("taken", "objects", "heads"):
                discard(prepared.root / name)
        return Taken(branches=tuple(self._moved), refused=(*self._broken, *self._said))


def _commit_of(repository: Repository, place: Before) -> str | None:
    """Return the commit of the workspace's HEAD."""
    head = refs.read_head(Path(place.git_dir), repository.paths.common_dir)
    return None if head is None else head.sha


def _update(repository: Repository, name: str, new: str, old: str | None) -> bool:
    """Move or create a branch durably, if it is still at `old`. Returns whether that worked."""
    ref = f"refs/heads/{name}"
    for _attempt in range(2):
        done = repository.git.attempt(
            Place(git_dir=repository.paths.common_dir),
            ["update-ref", "-m", _LOG, ref, new, old or "0" * len(new)],
        )
        if done.returncode == 0:
            flush_dir((repository.paths.common_dir / ref).parent)
            return True
        if not _sweep_lock(repository.paths.common_dir / f"{ref}.lock", new):
            break
    return False


def _sweep_lock(lock: Path, new: str) -> bool:
    """Remove a ref lock that a killed git of ours left; return whether the lock is gone.

    Our lock contains the commit id, or the beginning of it. A lock of a living git is gone, or
    another file, after `_LIVE_S` seconds.
    """
    data = read_small(lock, 200)
    if data is None or not new.startswith(data.strip().decode("ascii", "replace")):
        return False
    before = lock.stat()
    time.sleep(_LIVE_S)
    try:
        after = lock.stat()
    except FileNotFoundError:
        return True
    if (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns):
        return False
    lock.unlink(missing_ok=True)
    return True


class Lacking:
    """The blobs of an index and the commits of a reflog that the repository lacks."""

    def __init__(self, repository: Repository, git_dir: Path) -> None:
        self.blobs: frozenset[str] = frozenset()
        self.commits: frozenset[str] = frozenset()
        settings = read_settings(repository.paths.common_dir / "config")
        if "extensions.partialclone" in settings or not git_dir.is_dir():
            return  # a partial clone lacks objects rightly: git fetches them when needed
        logged = {sha for line in read_log_lines(git_dir) for sha in named_by(line)}
        self.commits = absent(repository, logged, "commit")
        try:
            index = read_index(git_dir, repository.paths.hash_size // 2)
        except BadIndex:
            return  # missing, or in a form that only git reads: git reports what is wrong
        self.blobs = absent(repository, index.blobs, "blob")

    def __bool__(self) -> bool:
        return bool(self.blobs or self.commits)


def repair(repository: Repository, git_dir: Path, kept: Path) -> tuple[str, ...]:
    """Rewrite the index and the reflog so that they name only existing objects.

    Copies the old files to the directory `kept`. Returns sentences about what was done. Raises
    IndexLocked.
    """
    lacking = Lacking(repository, git_dir)
    done = []
    if lacking:
        make_dirs(kept)
    if lacking.blobs:
        shutil.copyfile(git_dir / "index", kept / "index")
        before = state_of(git_dir)
        put_index(before, index_of_head(repository, before))
        done.append("the index is that of the last commit again: it named files that are nowhere")
    if lacking.commits:
        log = git_dir / "logs" / "HEAD"
        shutil.copyfile(log, kept / "log-of-HEAD")
        lines = read_log_lines(git_dir)
        good = [line for line in lines if not lacking.commits.intersection(named_by(line))]
        made = log.with_name(f"siding-log-{state_of(git_dir).token}")
        write_and_rename(made, log, b"".join(good), mode=0o644)
        flush_dir(log.parent)
        left_out = len(lines) - len(good)
        done.append(
            f"left out: {counted(left_out, 'line')} of HEAD's log about commits that are nowhere"
        )
    return tuple(done)
