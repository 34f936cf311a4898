"""Store what the index of a workspace has differently from HEAD, and git's small files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import objects
from siding.ground.git.command import Place, output_of
from siding.ground.git.index_file import FlaggedEntry, read_flagged
from siding.ground.ids import Sha
from siding.record.snapshots import patches
from siding.record.snapshots.git_details import GitDetails, IndexEntry, commits_named_in
from siding.record.snapshots.store import SnapshotStore

LARGEST_INDEX = 256 << 20  # bytes


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
