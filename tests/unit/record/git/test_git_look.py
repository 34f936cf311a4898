"""One look into a git directory: what it stores, what it leaves out, and when it looks again."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from siding.ground.ids import Sha
from siding.record.snapshots import git_details, git_look
from siding.record.snapshots.git_details import (
    GitDetails,
    GitDetailsStore,
    IndexEntry,
    commits_among,
    parse,
)
from siding.record.snapshots.git_look import GitLook, StoredDetails
from siding.record.snapshots.store import SnapshotStore

from .world import World, write

LOST = StoredDetails(
    None, ("what is staged, or a git command that is under way, could not be recorded",)
)
NOWHERE = "12" * 20


class Looked:
    """Ada's own checkout, looked into as if it were a workspace."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store: SnapshotStore = world.store
        self.git_dir = world.root / ".git"
        self.memory = world.directory / "memory"

    def look(
        self,
        before: Sha | None = None,
        *,
        documents: Mapping[str, bytes] | None = None,
        head: Sha | None = None,
        unborn: bool = False,
    ) -> StoredDetails:
        now = self.world.head()
        looking = GitLook(self.store, self.memory, self.git_dir, self.world.root)
        return looking.store_details(
            None if unborn else head or now,
            tip=now,
            before=before,
            documents=documents or {},
            at=1_700_000_000,
        )

    def details(self, **more: object) -> GitDetails:
        """Look without a memory; return what was stored."""
        self.memory.unlink(missing_ok=True)
        found = self.look(**more)  # type: ignore[arg-type]
        assert found.notes == ()
        assert found.commit is not None
        details = parse(self.store.read_commit(found.commit).message)
        assert details is not None
        return details

    def left(self, *names: str, content: bytes = b"x\n") -> None:
        """Leave files as an unfinished git command does."""
        for name in names:
            write(self.git_dir / name, content)


@pytest.fixture
def here(world: World) -> Looked:
    return Looked(world)


def lowest_free() -> int:
    fd = os.open(os.devnull, os.O_RDONLY)
    os.close(fd)
    return fd


def test_only_what_an_unfinished_command_left_is_stored(here: Looked) -> None:
    here.left("MERGE_MSG", "rebase-merge/done", "rebase-merge/deep/er", "refs/bisect/bad")
    here.left("refs/rewritten/x", "COMMIT_EDITMSG", "gc.log", "other/MERGE_MSG")
    (here.git_dir / "MERGE_HEAD").symlink_to("HEAD")
    os.mkfifo(here.git_dir / "rebase-merge/pipe")
    stored = here.details().files
    assert set(stored) == {
        *("MERGE_MSG", "rebase-merge/done", "rebase-merge/deep/er"),
        *("refs/bisect/bad", "refs/rewritten/x"),
    }
    assert here.store.read_blob(stored["MERGE_MSG"], 10) == b"x\n"


def test_a_file_of_a_mebibyte_is_stored_and_no_larger_one(here: Looked) -> None:
    here.left("MERGE_MSG", content=b"x" * (1 << 20))
    assert set(here.details().files) == {"MERGE_MSG"}
    here.left("MERGE_MSG", content=b"x" * ((1 << 20) + 1))
    assert here.look() == LOST


def test_so_many_files_are_stored_and_no_more(
    here: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_look, "MOST_FILES", 7)  # with a directory, and two that are missing
    here.left(*(f"rebase-merge/{number}" for number in range(4)))
    assert len(here.details().files) == 4
    here.left("rebase-merge/one more")
    assert here.look() == LOST


def test_what_a_sparse_checkout_skips_is_told_by_its_rules_alone(here: Looked) -> None:
    here.world.user("update-index", "--skip-worktree", "a.txt")
    here.world.user("update-index", "--assume-unchanged", "src/b.txt")
    flags = {entry.path: entry.flags for entry in here.details().entries or ()}
    assert flags == {b"a.txt": "s", b"src/b.txt": "a"}
    here.left("info/sparse-checkout")
    flags = {entry.path: entry.flags for entry in here.details().entries or ()}
    assert flags == {b"src/b.txt": "a"}


def test_a_flag_and_a_change_of_one_entry_are_one(here: Looked) -> None:
    write(here.world.root / "a.txt", "staged\n")
    here.world.user("add", "a.txt")
    here.world.user("update-index", "--assume-unchanged", "a.txt")
    staged = here.world.user("rev-parse", ":a.txt").decode().strip()
    assert here.details().entries == (IndexEntry(b"a.txt", 0, "100644", Sha(staged), "a"),)
    assert here.store.present([staged]) == {staged}


def test_before_the_first_commit_all_of_the_index_is_new(here: Looked) -> None:
    paths = [entry.path for entry in here.details(unborn=True).entries or ()]
    assert paths == [b"a.txt", b"src/b.txt", b"src/deep/c.txt"]


def conflict(here: Looked) -> tuple[Sha, Sha]:
    """Leave a merge with a conflict; return the commits of both sides."""
    world = here.world
    world.user("switch", "-qc", "theirs")
    theirs = world.commit({"a.txt": "theirs\n", "src/b.txt": "theirs\n"})
    world.user("switch", "-q", "main")
    ours = world.commit({"a.txt": "ours\n"})
    world.user("merge", "theirs", check=False)
    return ours, theirs


def test_the_sides_of_a_conflict_stand_for_its_path(here: Looked) -> None:
    _ours, theirs = conflict(here)
    stored = here.details()
    assert [(entry.path, entry.stage) for entry in stored.entries or ()] == [
        *((b"a.txt", stage) for stage in (1, 2, 3)),
        (b"src/b.txt", 0),
    ]
    listed = here.world.user("ls-files", "--unmerged").decode().splitlines()
    words = [line.split() for line in listed]
    assert [(e.mode, e.sha, e.stage) for e in (stored.entries or ())[:3]] == [
        (mode, sha, int(stage)) for mode, sha, stage, _ in words
    ]
    alone = here.store.place(alternates=())
    kept = here.store.git.run(alone, ["cat-file", "-t", theirs], doing="looking")
    assert kept == b"commit\n"


def test_the_commits_that_are_named_are_kept_and_no_other_word(here: Looked) -> None:
    aside = here.world.commit({"a.txt": "aside\n"})
    here.world.user("reset", "-q", "--hard", "HEAD~1")
    blob = here.world.user("rev-parse", "HEAD:a.txt").decode().strip()
    here.left("MERGE_HEAD", content=f"{aside}\n{blob}\n{NOWHERE}\n".encode())
    found = here.look()
    assert found.commit is not None
    assert here.store.read_commit(found.commit).parents == (aside,)
    assert here.store.present([aside]) == {aside}
    assert commits_among(here.store, [Sha(NOWHERE), Sha(blob), aside]) == [aside]
    here.left("MERGE_HEAD", content=b"no commit\n")
    found = here.look()
    assert found.commit is not None
    assert here.store.read_commit(found.commit).parents == ()


def test_what_differs_in_nothing_from_before_is_the_same_commit(here: Looked) -> None:
    here.left("MERGE_MSG")
    first = here.look().commit
    assert first is not None
    here.memory.unlink()
    assert here.look(first).commit == first
    assert here.look(first, documents={"flow.json": b"{}"}).commit not in (None, first)
    assert here.look(first).commit == first


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count how often an index was compared with HEAD since the last time."""
    real, seen = GitDetailsStore.entries, [0]

    def entries(self: GitDetailsStore, head: Sha | None) -> tuple[IndexEntry, ...]:
        seen[0] += 1
        return real(self, head)

    def counted() -> int:
        count, seen[0] = seen[0], 0
        return count

    monkeypatch.setattr(GitDetailsStore, "entries", entries)
    return counted


def test_a_look_is_made_again_only_when_something_is_another(
    here: Looked, looks: Callable[[], int]
) -> None:
    assert here.look() == StoredDetails(None)
    assert looks() == 1
    assert here.look() == here.look(Sha(NOWHERE)) == StoredDetails(None)
    assert looks() == 0
    other = here.world.user("commit-tree", "-mx", "HEAD^{tree}").decode().strip()

    def look_in_a_merge() -> None:
        here.left("MERGE_MSG")
        here.look()

    def look_at_another_index() -> None:
        here.world.user("update-index", "--assume-unchanged", "a.txt")
        here.look()

    for change in (
        lambda: here.look(head=Sha(other)),
        lambda: here.look(documents={"flow.json": b"1"}),
        lambda: here.look(documents={"flow.json": b"2"}),
        look_in_a_merge,
        look_at_another_index,
    ):
        change()
        assert looks() == 1
    assert here.look().commit is not None
    assert looks() == 1  # no snapshot names the commit of the look before


def test_an_index_of_equal_size_and_times_is_told_by_its_hash(
    here: Looked, looks: Callable[[], int]
) -> None:
    def staged(content: str) -> bytes:
        write(here.world.root / "a.txt", content)
        here.world.user("add", "a.txt")
        return index.read_bytes()

    index = here.git_dir / "index"
    data, other = staged("staged\n"), staged("other.\n")
    assert len(data) == len(other)
    found = index.stat()
    here.look()
    looks()
    for content in (data, other):
        index.write_bytes(content)
        os.utime(index, ns=(found.st_mtime_ns, found.st_mtime_ns))
        here.look()
        assert looks() == 1
    index.write_bytes(other[:-20] + bytes(20))  # as `index.skipHash` leaves it
    os.utime(index, ns=(found.st_mtime_ns, found.st_mtime_ns))
    for _ in range(2):
        here.look()
        assert looks() == 1


def test_a_look_leaves_no_descriptor_open(here: Looked) -> None:
    before = lowest_free()
    here.look()
    assert lowest_free() == before


def test_no_index_is_told_apart_from_one_that_cannot_be_read(here: Looked, tmp_path: Path) -> None:
    (here.git_dir / "index").unlink()
    assert here.details().entries is None
    (here.git_dir / "index").symlink_to(tmp_path / "nowhere")
    assert here.look() == LOST
    (here.git_dir / "index").unlink()
    os.mkfifo(here.git_dir / "index")
    assert here.look() == LOST  # nobody waits for a writer


def test_an_index_that_goes_away_meanwhile_has_no_flags(
    here: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.world.user("update-index", "--assume-unchanged", "a.txt")
    monkeypatch.setattr(git_details, "read_small", lambda *_: None)
    assert here.look() == StoredDetails(None)
