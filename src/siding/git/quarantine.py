"""Commits of a sandboxed run: made aside, then taken over.

A run that may commit would have to be let into the repository's objects and branches, and could
delete them. Instead it gets directories of ours in their place: objects are new ones beside the
repository's own, which it can only read, branches are copies, and so is the git directory of its
workspace. Afterwards what its commits, its index and its reflog need is read again and given to the
repository under the names their content has, the branch of the task moves if nothing else moved it,
branches with new commits are made, and the index, HEAD and its log are put into place. Whatever
else was done stays in the sandbox, and is said.

What lies in the quarantine was written by the run: only plain files of the right names are looked
at, and git reads them in a directory the run never saw. Safe to repeat; nothing is lost by a crash,
because the quarantine is only emptied when everything in it was taken over. What cannot be taken
over is set aside and blocks nothing.
"""

import json
import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from siding.git import durable, refs
from siding.git.applying_checkout import IndexLocked
from siding.git.command import Place
from siding.git.discovery import read_settings
from siding.git.errors import GitError
from siding.git.quarantine_objects import (
    absent,
    discard,
    gather,
    give_reachable,
    open_up,
)
from siding.git.quarantine_place import (
    Before,
    Left,
    check_head,
    copy_git_dir,
    index_of_head,
    left_behind,
    left_in,
    put_head,
    put_index,
    put_log,
    remember,
    sweep,
)
from siding.git.quarantine_repair import Lacking, repair
from siding.git.repository import Repository

REFUSED = "refused"  # where a quarantine goes that cannot be taken over, below its root
WHY = "why.txt"
_MOST_BRANCHES = 10_000
_MOST_CARRIED = 20  # objects of an unfinished rebase or merge
_STATE = "quarantine.json"
_MADE = "branches"
_BOOKMARKS = "bookmarks.json"
_LIVE_S = 0.1  # longer than any git holds the lock of a ref
_LOG = "siding: taken over from the sandbox"


class Prepared(NamedTuple):
    """Where a run's objects and branches go, and what the branches were."""

    root: Path
    objects: Path
    heads: Path
    before: dict[str, str]  # loose branches, by name below refs/heads
    own: dict[str, str]  # the task's branch, and those its runs made: where they were, or ""
    place: Before | None = None  # None: as versions before left it, without a copy

    @property
    def copy(self) -> Path:
        """The workspace's git directory, as the run has it."""
        return self.root / "worktree"


class Taken(NamedTuple):
    """What came of it: branches that moved or were made, and what was not taken over, as sentences.

    ``broken`` says what of it no repository could use.
    """

    branches: tuple[str, ...]
    refused: tuple[str, ...]
    broken: tuple[str, ...] = ()


def prepare(
    repository: Repository, git_dir: Path, root: Path, branch: str, alternate: str
) -> Prepared:
    """Make the quarantine in `root` (ours alone). `alternate` is where the run sees the objects.

    What an earlier run left, because it was cut off, must have been taken over (`leftover`).
    """
    paths = repository.paths
    objects, heads = root / "objects", root / "heads"
    discard(root / "objects")
    discard(root / "heads")
    for directory in (objects / "info", objects / "pack", paths.common_dir / "logs/refs/heads"):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [alternate, *borrowed_from(paths.objects)]
    (objects / "info" / "alternates").write_bytes(os.fsencode("\n".join(lines) + "\n"))
    before = {**read_bookmarks(root), **read_branches(paths.common_dir / "refs/heads")}
    heads.mkdir(mode=0o700)
    for name, sha in before.items():
        (heads / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (heads / name).write_text(sha + "\n", encoding="ascii")
    settings = read_settings(paths.common_dir / "config")
    own_settings = settings.get("extensions.worktreeconfig") == "true"
    _copy, place = copy_git_dir(git_dir, root, own_settings=own_settings)
    names = {branch, *_made(root)}  # not what HEAD says: the run may write that
    own = {name: str(refs.read_ref(paths.common_dir, f"refs/heads/{name}") or "") for name in names}
    told = {"before": before, "own": own, "place": place._asdict()}
    # Not flushed: it is for a run that was killed. After a power cut git has lost as much.
    (root / (_STATE + ".new")).write_bytes(json.dumps(told).encode())
    os.replace(root / (_STATE + ".new"), root / _STATE)
    return Prepared(
        root=root, objects=objects, heads=heads, before=before, own=own, place=place
    )


def leftover(root: Path) -> Prepared | None:
    """Return the quarantine of a run that was cut off, to be taken over."""
    try:
        told = json.loads(durable.read_small(root / _STATE, 1 << 24) or b"null")
        if told is None:
            return None
        place = told.pop("place", None)
        return Prepared(
            root=root,
            objects=root / "objects",
            heads=root / "heads",
            place=None if place is None else Before(**place),
            **told,
        )
    except (ValueError, TypeError, AttributeError):
        return None  # it was cut off while it was made: nothing ran in it


def take_over(repository: Repository, prepared: Prepared, git_dir: Path) -> Taken:
    """Give the repository what the run committed. Raises GitError: then everything is kept.

    ``git_dir`` is the workspace's: earlier versions let a run write its index and its log there.
    """
    act = _Act(repository, prepared)
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


class _Act:
    """One taking over: what is found, step by step, and what is said of it."""

    def __init__(self, repository: Repository, prepared: Prepared) -> None:
        self._repository, self._prepared = repository, prepared
        self._after = read_branches(prepared.heads)
        self._left = Left()
        if prepared.place is not None:
            sweep(prepared.place)
            hash_bytes = repository.paths.hash_size // 2
            self._left = left_in(prepared.copy, prepared.place, hash_bytes)
        self._head = check_head(self._left.head or "")
        self._whole: frozenset[str] = frozenset()
        self._bookmarks: dict[str, str] = {}
        self._moved: list[str] = []
        self._said: list[str] = []
        self._broken: list[str] = []

    def give_objects(self, more: Sequence[set[str]]) -> None:
        gathered = gather(self._repository, self._prepared.root)
        self._broken += gathered.junk
        left, commit = self._left, self._head[1]
        tips = [sha for name, sha in sorted(self._after.items()) if self._was(name) != sha]
        groups = [{sha} for sha in dict.fromkeys([*tips, *([commit] if commit else [])])]
        groups.append(set(absent(self._repository, left.staged, "blob")))
        groups += [{sha} for sha in reversed(dict.fromkeys(left.logged))]
        groups += more
        self._whole = give_reachable(self._repository, gathered, groups)
        if gathered.store is not None:  # what its next run needs: nobody misses what is not there
            for sha in sorted(absent(self._repository, left.operation, "commit"))[:_MOST_CARRIED]:
                give_reachable(self._repository, gathered, [{sha}])

    # -- branches ----------------------------------------------------------------------------

    def move_branches(self) -> None:
        prepared = self._prepared
        known = read_bookmarks(prepared.root)
        changed = [name for name, sha in self._after.items() if self._was(name) != sha]
        # Told before anything moves: what the run committed is on more than one branch, maybe.
        new = {self._after[name] for name in changed if name not in prepared.own}
        empty = {sha for sha in new if self._adds_nothing(sha)}
        for name in sorted(changed, key=lambda each: (each in prepared.own, each)):
            self._move(name, self._after[name], empty=empty)
        self._bookmarks |= {
            name: sha for name, sha in known.items() if self._after.get(name) == sha
        }
        gone = sorted(set(prepared.before) - set(self._after) - set(known))
        self._said += [f"branch {name!r} was not deleted" for name in gone]
        _write_bookmarks(prepared.root, self._bookmarks)

    def _move(self, name: str, sha: str, *, empty: Collection[str]) -> None:
        own = self._prepared.own
        current = refs.read_ref(self._repository.paths.common_dir, f"refs/heads/{name}")
        if current == sha:
            return
        if name not in own and current is not None:
            self._said.append(f"branch {name!r} was not moved: it is not this task's")
        elif current != (own.get(name) or None):
            self._said.append(f"branch {name!r} was not moved: somebody else did, meanwhile")
        elif sha not in self._whole:
            self._broken.append(f"branch {name!r} was not moved: its commits are not complete")
        elif current is None and name not in own and self._head[0] != name and sha in empty:
            self._bookmarks[name] = sha
            self._said.append(f"branch {name!r} stays in the sandbox: it has no commit of its own")
        elif _update(self._repository, name, sha, current):
            self._moved.append(name)
            if name not in own:
                _remember_branch(self._prepared.root, name)
        else:
            self._said.append(f"branch {name!r} was not moved: somebody else did, meanwhile")

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
        commit = refs_head(self._repository, place)
        if self._left.head is not None:
            self._put_head(place, self._left.head)
        moved = self._moved or refs_head(self._repository, place) != commit
        self._put_index(place, moved=bool(moved))
        logged = frozenset(self._left.logged)
        unknown = absent(self._repository, logged, "commit") | (logged - self._whole)
        lines = [line for line in self._left.log if not any(
            sha.encode("ascii") in line.split(b" ", 2)[:2] for sha in unknown)]  # fmt: skip
        if unknown:
            self._broken.append("lines of HEAD's log were left out: they name what is not there")
        put_log(place, lines)
        self._said += left_behind(self._prepared.copy, Path(place.git_dir))

    def repair(self, git_dir: Path) -> None:
        kept = self._prepared.root / REFUSED / "before-repair"
        self._said += repair(self._repository, git_dir, kept)

    def _put_head(self, place: Before, head: str) -> None:
        branch, commit = self._head
        own = {*self._prepared.own, *self._moved}
        if branch is not None and branch in own and self._exists(branch):
            taken = put_head(place, f"ref: refs/heads/{branch}")
        elif commit is not None and commit in self._whole and not absent(
            self._repository, [commit], "commit"
        ):  # fmt: skip
            taken = put_head(place, commit)
        else:
            named = f"branch {branch!r}, which is none of this task's" if branch else repr(head[:80])
            self._said.append(f"the workspace's HEAD stays where it was: the run set it to {named}")
            return
        if not taken:
            self._said.append("the workspace's HEAD was not moved: somebody else did, meanwhile")

    def _exists(self, branch: str) -> bool:
        return refs.read_ref(self._repository.paths.common_dir, f"refs/heads/{branch}") is not None

    def _put_index(self, place: Before, *, moved: bool) -> None:
        left, bad = self._left, self._left.bad_index
        try:
            if left.index is not None:
                gone = absent(self._repository, left.staged, "blob")
                if not gone:
                    written = (self._prepared.copy / "index").lstat().st_mtime_ns
                    if not put_index(place, left.index.data, mtime_ns=written):
                        self._said.append("what the run staged was not taken over: somebody else "
                                          "changed the index meanwhile")  # fmt: skip
                    return
                bad = "it names files that are not there"
            if bad:
                self._broken.append(f"the index was not taken over: {bad}; no file was changed")
                if moved:
                    put_index(place, index_of_head(self._repository, place))
        except IndexLocked as error:
            self._said.append(f"what the run staged was not taken over: {error.message}")

    def end(self) -> Taken:
        prepared = self._prepared
        if self._broken:
            kept = set_aside(prepared.root, self._broken)
            self._said.append(
                f"what could not be used is kept in {str(kept)!r}, until `siding gc`"
            )
        else:
            if prepared.place is not None:
                remember(prepared.root, Path(prepared.place.git_dir))
            forget(prepared)
            for name in ("taken", "objects", "heads"):
                discard(prepared.root / name)
        return Taken(
            branches=tuple(self._moved),
            refused=(*self._broken, *self._said),
            broken=tuple(self._broken),
        )


def refs_head(repository: Repository, place: Before) -> str | None:
    """Return the commit of the workspace's HEAD."""
    head = refs.read_head(Path(place.git_dir), repository.paths.common_dir)
    return None if head is None else head.sha


def forget(prepared: Prepared) -> None:
    """There is nothing to be taken over any more."""
    (prepared.root / _STATE).unlink(missing_ok=True)


def set_aside(root: Path, why: list[str]) -> Path:
    """Move a quarantine that cannot be taken over out of the way; return where it is now.

    The state goes last: cut off before that, the next taking over sets the rest aside.
    """
    number = 1
    while os.path.lexists(root / REFUSED / f"{number:04d}"):
        number += 1
    kept = root / REFUSED / f"{number:04d}"
    durable.make_directories(kept)
    (kept / WHY).write_text("".join(f"{line}\n" for line in why), encoding="utf-8")
    for name in ("objects", "taken", "heads", "worktree", _STATE):
        open_up(root / name)
        if os.path.lexists(root / name):
            (root / name).rename(kept / name)
    durable.sync_directory(root)
    return kept


def read_bookmarks(root: Path) -> dict[str, str]:
    """Return the branches that only the sandboxed runs of this task see, by name."""
    try:
        found = json.loads(durable.read_small(root / _BOOKMARKS) or b"{}")
        return {str(name): str(sha) for name, sha in found.items()}
    except (ValueError, AttributeError):
        return {}


def _write_bookmarks(root: Path, names: dict[str, str]) -> None:
    if names != read_bookmarks(root):
        durable.replace_file(root / _BOOKMARKS, json.dumps(names).encode())


def read_branches(root: Path) -> dict[str, str]:
    """Return the loose branches below a directory by name; what is no branch is left out."""
    found: dict[str, str] = {}
    for directory, folders, names in os.walk(root):
        folders[:] = [each for each in folders if not os.path.islink(os.path.join(directory, each))]
        for name in names:
            path = Path(directory, name)
            branch = str(path.relative_to(root))
            sha = refs.as_sha((durable.read_small(path, 4096) or b"").strip())
            if sha is None or len(found) >= _MOST_BRANCHES:
                continue
            try:
                found[refs.check_ref_part(branch)] = sha
            except GitError:
                continue
    return found


def _made(root: Path) -> list[str]:
    """Return the branches that runs of this task made."""
    return os.fsdecode(durable.read_small(root / _MADE) or b"").splitlines()


def _remember_branch(root: Path, name: str) -> None:
    names = "".join(f"{each}\n" for each in sorted({*_made(root), name}))
    durable.replace_file(root / _MADE, os.fsencode(names))


def _update(repository: Repository, name: str, new: str, old: str | None) -> bool:
    """Move or make a branch, if it is where it was; durable."""
    ref = f"refs/heads/{name}"
    for _attempt in range(2):
        done = repository.git.attempt(
            Place(git_dir=repository.paths.common_dir),
            ["update-ref", "-m", _LOG, ref, new, old or "0" * len(new)],
        )
        if done.returncode == 0:
            durable.sync_directory((repository.paths.common_dir / ref).parent)
            return True
        if not _sweep_lock(repository.paths.common_dir / f"{ref}.lock", new):
            break
    return False


def _sweep_lock(lock: Path, new: str) -> bool:
    """Remove a lock that a killed git of ours left: it holds what we write, or the beginning.

    One of a git that is alive would be gone, or another file, a moment later.
    """
    data = durable.read_small(lock, 200)
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


def borrowed_from(objects: Path) -> list[str]:
    """Return the object directories that a repository borrows from (alternates), absolute."""
    data = durable.read_small(objects / "info" / "alternates", 1 << 16) or b""
    lines = (os.fsdecode(line) for line in data.splitlines())
    named = [line for line in lines if line and not line.startswith(("#", '"'))]
    return [os.path.normpath(os.path.join(objects, line)) for line in named]
