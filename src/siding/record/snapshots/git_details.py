"""The details of a state: what the index has differently from HEAD, and git's small files.

`GitDetails` is what is recorded, and `GitDetailsStore` puts it into the store of snapshots.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import objects
from siding.ground.git.command import Place, output_of
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.index_file import FlaggedEntry, read_flagged
from siding.ground.git.paths import quote_path, unquote_path
from siding.ground.git.refs import as_sha
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots import patches
from siding.record.snapshots.git_state import SANDBOX, GitState, name_bytes, name_text
from siding.record.snapshots.store import SnapshotStore

NOTHING = "000000"  # the mode of an entry that the index does not have and HEAD has
FLAGS = {"a": "assume-unchanged", "i": "intent-to-add", "s": "skip-worktree"}
_TITLE = "git state"
LARGEST_INDEX = 256 << 20  # bytes


class IndexEntry(NamedTuple):
    """One entry of the index that is not as HEAD has it.

    `stage` is 0, or 1 to 3 for the sides of a conflict. `mode` is octal text as git writes it.
    `flags` are letters of `FLAGS`, in their order.
    """

    path: bytes
    stage: int
    mode: str
    sha: Sha
    flags: str = ""


class GitDetails(NamedTuple):
    """What the index has differently from HEAD, and the contents of files by their names.

    `entries` is None if there is no index file. `files` are git's small files, by their names in
    the git directory; `documents` are the task's, by their names in the task's directory. A
    sandboxed run that lives has a git directory of its own: what it has differently in there is
    named with `SANDBOX` before it.
    """

    entries: tuple[IndexEntry, ...] | None = ()
    files: Mapping[str, Sha] = {}
    documents: Mapping[str, Sha] = {}

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to record: the index is as HEAD, and nothing is unfinished."""
        return self.entries == () and not self.files and not self.documents

    @property
    def files_outside(self) -> dict[str, Sha]:
        """Return the files of the workspace's own git directory."""
        return {name: s for name, s in self.files.items() if not name.startswith(SANDBOX)}

    @property
    def files_in_sandbox(self) -> dict[str, Sha]:
        """Return the files that the git directory of a sandboxed run has."""
        own = {name: s for name, s in self.files.items() if name.startswith(SANDBOX)}
        return self.files_outside | {name.removeprefix(SANDBOX): s for name, s in own.items()}

    @property
    def staged(self) -> set[Sha]:
        """The contents that the index names; an intent to add has none, nor has a submodule."""
        return {
            entry.sha
            for entry in self.entries or ()
            if entry.mode.startswith("1") and entry.mode != "160000" and "i" not in entry.flags
        }

    def tree_body(self) -> bytes:
        """Return the tree object of the commit that is stored: all contents that are named."""
        contents = sorted({*self.staged, *self.files.values(), *self.documents.values()})
        return b"".join(b"100644 %b\0%b" % (s.encode("ascii"), bytes.fromhex(s)) for s in contents)

    def text(self) -> str:
        """Return the form that is stored; equal details have equal texts."""
        lines = [_TITLE, ""]
        if self.entries is None:
            lines.append("no index")
        else:
            lines += [_entry_line(entry) for entry in sorted(self.entries)]
        for kind, named in (("file", self.files), ("document", self.documents)):
            lines += [
                f"{kind} {s} {quote_path(name_bytes(name))}" for name, s in sorted(named.items())
            ]
        return "\n".join(lines)


def parse(text: str) -> GitDetails | None:
    """Return what `GitDetails.text` wrote; None if it is something else. Unknown lines are
    skipped."""
    title, _, body = text.partition("\n")
    if title != _TITLE:
        return None
    entries: list[IndexEntry] | None = []
    named: dict[str, dict[str, Sha]] = {"file": {}, "document": {}}
    for line in body.split("\n"):
        kind, _, rest = line.partition(" ")
        if line == "no index":
            entries = None
        elif kind in named:
            sha, _, name = rest.partition(" ")
            named[kind][name_text(unquote_path(name))] = Sha(sha)
        elif kind == "entry" and entries is not None:
            mode, sha, stage, flags, path = rest.split(" ", 4)
            flags = "" if flags == "-" else flags
            entries.append(IndexEntry(unquote_path(path), int(stage), mode, Sha(sha), flags))
    return GitDetails(None if entries is None else tuple(entries), named["file"], named["document"])


def details_of(store: SnapshotStore, state: GitState) -> GitDetails:
    """Return the details of a state; raise SnapshotDamaged if they cannot be read."""
    if state.details is None:
        return GitDetails()
    found = parse(store.read_commit(state.details).message)
    if found is None:
        raise SnapshotDamaged(f"what is staged in a snapshot cannot be read: {state.details}")
    return found


def commits_named_in(data: bytes) -> list[Sha]:
    """Return the words of a small file of git's that are object ids."""
    words = {word for word in data.split() if (as_sha(word) or "").strip("0")}
    return [Sha(word.decode("ascii")) for word in sorted(words)]


def _entry_line(entry: IndexEntry) -> str:
    return (
        f"entry {entry.mode} {entry.sha} {entry.stage} {entry.flags or '-'} "
        f"{quote_path(entry.path)}"
    )


class GitDetailsStore:
    """Reads a workspace's index, and writes details into the store."""

    def __init__(
        self, store: SnapshotStore, place: Place, git_dir: Path, keep_fds: Sequence[int]
    ) -> None:
        self._store = store
        self._place = place
        self._git_dir = git_dir
        self._keep_fds = keep_fds

    def entries(self, head: Sha | None) -> tuple[IndexEntry, ...]:
        """Return the entries that are not as HEAD has them."""
        git, store = self._store.git, self._store
        against = head or objects.object_id("tree", b"", store.repository.object_format)
        listing = ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", against]
        running = git.start(self._place, listing)
        flagged = self._flagged()
        output = output_of(running.finish(), doing="comparing the index with HEAD")
        changes = patches.parse_raw(output)
        conflicts = self._conflicts() if any(c.status == "U" for c in changes) else []
        unmerged = {entry.path for entry in conflicts}
        found = list(conflicts)
        for change in changes:
            if change.path not in unmerged:
                flags = flagged.pop(change.path, None)
                letters = flags.flags if flags else ""
                found.append(IndexEntry(change.path, 0, change.new_mode, change.new_sha, letters))
        found += [
            IndexEntry(path, 0, each.mode, Sha(each.sha), each.flags)
            for path, each in flagged.items()
        ]
        return tuple(sorted(found))

    def _flagged(self) -> dict[bytes, FlaggedEntry]:
        """Return the entries with flags; skipped ones are left out where a sparse checkout says
        which they are."""
        data = read_small(self._git_dir / "index", LARGEST_INDEX) or b""
        found = read_flagged(data, self._store.repository.hash_size // 2) or {}
        if (self._git_dir / "info" / "sparse-checkout").exists():
            found = {path: each for path, each in found.items() if each.flags != "s"}
        return found

    def _conflicts(self) -> list[IndexEntry]:
        output = self._store.git.run(
            self._place, ["ls-files", "--unmerged", "-z"], doing="listing conflicts"
        )
        return [_conflict(line) for line in output.split(b"\0")[:-1]]

    def written(self, files: Mapping[str, bytes]) -> dict[str, Sha]:
        """Store files; return their ids by their names."""
        store, form = self._store, self._store.repository.object_format
        return {
            name: objects.write_object(store.objects, "blob", data, form)
            for name, data in files.items()
        }

    def write(self, details: GitDetails, small: Mapping[str, bytes], tip: Sha, at: int) -> Sha:
        """Store the details with all that they name."""
        store = self._store
        if staged := details.staged:
            self._pack(sorted(staged - store.present(sorted(staged))))
        kept = self._keep_commits(small, tip)
        form = store.repository.object_format
        tree = objects.write_object(store.objects, "tree", details.tree_body(), form)
        commit = objects.Commit(tree=tree, parents=kept, message=details.text())
        body = objects.commit_body(commit, at=at)
        return objects.write_object(store.objects, "commit", body, form)

    def _pack(self, shas: list[Sha], *, revisions: bool = False, without: str = "") -> None:
        if not shas:
            return
        more = ["--revs", "--non-empty"] if revisions else []
        self._store.git.run(
            self._store.place(),
            ["pack-objects", "-q", "--window=0", *more, str(self._store.objects / "pack" / "pack")],
            doing="storing what is staged",
            stdin=("".join(f"{sha}\n" for sha in shas) + without).encode("ascii"),
            keep_fds=self._keep_fds,
        )

    def _keep_commits(self, small: Mapping[str, bytes], tip: Sha) -> tuple[Sha, ...]:
        """Copy the commits that the small files name into the store; return them."""
        named = sorted({sha for data in small.values() for sha in commits_named_in(data)})
        if not named:
            return ()
        commits = commits_among(self._store, named)
        self._pack(commits, revisions=True, without=f"^{tip}\n")
        return tuple(commits)


def commits_among(store: SnapshotStore, shas: Sequence[Sha]) -> list[Sha]:
    """Return those that are commits, here or in the repository; a word can look like one."""
    output = store.git.run(
        store.place(),
        ["cat-file", "--batch-check=%(objectname) %(objecttype)"],
        doing="looking at what git is in the middle of",
        stdin="".join(f"{sha}\n" for sha in shas).encode("ascii"),
    )
    lines = output.decode("ascii").splitlines()
    return [Sha(line.split(" ")[0]) for line in lines if line.endswith(" commit")]


def _conflict(line: bytes) -> IndexEntry:
    """Return an entry of ``ls-files --unmerged -z``: ``<mode> <id> <stage>``, a tab, the path."""
    head, _, path = line.partition(b"\t")
    mode, sha, stage = head.decode("ascii").split(" ")
    return IndexEntry(path, int(stage), mode, Sha(sha))
