"""What only freed snapshots need goes, and nothing else; whether what stays is whole."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from siding.ground.git import objects, refs
from siding.ground.git.command import Git, Place
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha
from siding.ground.process.capture import Completed
from siding.record.snapshots import thinning
from siding.record.snapshots.store import SnapshotStore
from siding.record.snapshots.store_upkeep import repack, verify_snapshots
from siding.record.snapshots.thinning import drop, sizes, sweep, unneeded

from .lines import Line
from .world import TASK, World


@pytest.fixture
def line(world: World) -> Line:
    return Line(world)


def blob_of(content: str) -> Sha:
    return objects.object_id("blob", content.encode(), "sha1")


def everything(store: SnapshotStore) -> set[str]:
    listing = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]
    return set(store.git.run(store.place(alternates=()), listing, doing="x").decode().split())


def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git not say what is wrong with a pack."""
    attempt = Git.attempt

    def silent(git: Git, place: Place, words: list[str], **more: Any) -> Completed:
        found = attempt(git, place, words, **more)
        return found._replace(stderr=b"") if words[0] == "verify-pack" else found

    monkeypatch.setattr(Git, "attempt", silent)


def test_what_only_freed_trees_lead_to_is_not_needed(line: Line) -> None:
    one, other, shared = line.tree("one"), line.tree("other"), line.tree("shared")
    found = unneeded(line.store, [one, shared], [other, shared])
    assert set(found) == {one, blob_of("one")}
    path = objects.loose_path(line.store.objects, blob_of("one"))
    assert found[blob_of("one")] == path.stat().st_size
    assert set(unneeded(line.store, [one], [blob_of("one")])) == {one}
    assert unneeded(line.store, [], [one]) == {}


def test_what_is_not_there_any_more_is_passed_over(line: Line) -> None:
    one, nowhere = line.tree("one"), "12" * 20
    objects.loose_path(line.store.objects, blob_of("one")).unlink()
    assert set(unneeded(line.store, [one, nowhere], [nowhere])) == {one}
    # The base's own objects are the person's, and not in the store.
    assert unneeded(line.store, [line.base_tree], []) == {}
    assert sizes(line.store, [nowhere, line.base_tree]) == {}


def test_what_the_base_has_is_kept_by_naming_it(line: Line) -> None:
    copy = objects.write_object(line.store.objects, "blob", b"one\n", "sha1")
    assert set(unneeded(line.store, [line.base_tree], [])) == {copy}
    assert unneeded(line.store, [line.base_tree], [line.base_tree]) == {}


def test_the_dropped_go_and_all_others_are_one_pack(line: Line) -> None:
    store, stays, goes = line.store, line.tree("stays"), line.tree("goes")
    line.snapshot("base", tree=stays)
    freed = line.tree("freed before")
    repack(store)  # some of it is packed,
    line.snapshot("run 0001", tree=goes)  # and some loose
    dropped = {goes, blob_of("goes"), freed, blob_of("freed before")}
    # A command that was killed has left what it had written.
    shutil.copytree(store.objects / "pack", store.root / "thinning/objects/pack")
    before, seen = everything(store), []

    def check(other: SnapshotStore) -> None:
        assert everything(other) == before - dropped
        assert everything(store) == before
        seen.append("checked")

    def record() -> None:
        seen.append("recorded")
        assert everything(store) == before

    drop(store, dropped, check=check, record=record)
    assert seen == ["checked", "recorded"]
    assert everything(store) == before - dropped
    assert store.packs() == 1
    assert not list(store.objects.glob("[0-9a-f][0-9a-f]/*"))
    assert not (store.root / "thinning").exists()
    drop(store, set(), check=lambda _store: None, record=lambda: None)  # the pack is the same
    assert everything(store) == before - dropped


def test_each_step_is_on_the_disk_before_the_next(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack is known by its index: the new one comes last, the old one goes first."""
    line.tree("a")
    repack(line.store)
    line.store.git.run(line.store.place(alternates=()), ["multi-pack-index", "write"], doing="x")
    where, new = line.store.objects / "pack", line.store.root / "thinning/objects/pack"
    done: list[object] = []
    rename, unlink = Path.rename, Path.unlink

    def renamed(path: Path, target: Path) -> Path:
        done.append(f"made {target.suffix}")
        return rename(path, target)

    def unlinked(path: Path, *, missing_ok: bool = False) -> None:
        if path.parent == where:
            done.append(f"gone {path.suffix}")
        unlink(path, missing_ok=missing_ok)

    def at_once(begin: str) -> set[object]:
        """Take the steps that begin so, in whatever order they were done."""
        found = set[object]()
        while done and str(done[0]).startswith(begin):
            found.add(done.pop(0))
        return found

    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(Path, "unlink", unlinked)
    monkeypatch.setattr(thinning, "flush_dir", done.append)
    monkeypatch.setattr(thinning, "flush_file", lambda path: done.append(f"flushed {path.suffix}"))
    drop(
        line.store,
        {blob_of("a")},
        check=lambda _store: None,
        record=lambda: done.append("recorded"),
    )
    assert at_once("flushed") >= {"flushed .pack", "flushed .idx"}
    assert [done.pop(0), done.pop(0)] == [new, "recorded"]
    last = max(number for number, each in enumerate(done) if str(each).startswith("made"))
    assert done[last] == "made .idx"
    assert "made .pack" in at_once("made")
    assert [done.pop(0), done.pop(0)] == [where, new]
    assert at_once("gone") == {"gone .idx", "gone "}  # and the list of packs
    assert done.pop(0) == where
    assert "gone .pack" in at_once("gone")
    assert done == [where]


def test_a_list_of_packs_that_somebody_made_goes_with_them(line: Line) -> None:
    line.tree("a")
    repack(line.store)
    place = line.store.place(alternates=())
    line.store.git.run(place, ["multi-pack-index", "write"], doing="x")
    drop(line.store, {blob_of("a")}, check=lambda _store: None, record=lambda: None)
    assert not list((line.store.objects / "pack").glob("multi-pack-index*"))
    assert blob_of("a") not in everything(line.store)


@pytest.mark.parametrize("who", ["check", "record"])
def test_if_one_of_them_refuses_the_store_is_as_it_was(line: Line, who: str) -> None:
    goes = line.tree("goes")
    before = sorted(path for path in line.store.root.rglob("*"))

    def refuse(*_: object) -> None:
        raise ZeroDivisionError

    def accept(*_: object) -> None:
        pass

    with pytest.raises(ZeroDivisionError):
        drop(
            line.store,
            {goes},
            check=refuse if who == "check" else accept,
            record=refuse if who == "record" else accept,
        )
    assert sorted(path for path in line.store.root.rglob("*")) == before


def test_a_pack_that_is_not_what_it_should_be_is_refused(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes, really = line.tree("goes"), thinning._write_pack
    before = everything(line.store)
    nothing = {"check": lambda _store: None, "record": lambda: None}

    def lacks(store: SnapshotStore, made: Path, stays: set[str]) -> Path:
        return really(store, made, stays - {blob_of("goes")})

    monkeypatch.setattr(thinning, "_write_pack", lacks)
    with pytest.raises(SnapshotDamaged, match=r"lacks 1 object$"):
        drop(line.store, {goes}, **nothing)  # type: ignore[arg-type]

    def damaged(store: SnapshotStore, made: Path, stays: set[str]) -> Path:
        pack = really(store, made, stays)
        path = pack.with_name(pack.name + ".pack")
        path.chmod(0o600)
        data = path.read_bytes()
        path.write_bytes(data[:20] + bytes([data[20] ^ 1]) + data[21:])
        return pack

    monkeypatch.setattr(thinning, "_write_pack", damaged)
    with pytest.raises(SnapshotDamaged) as told:
        drop(line.store, {goes}, **nothing)  # type: ignore[arg-type]
    assert "the new pack is damaged" not in told.value.message  # git says what is wrong
    silence(monkeypatch)
    with pytest.raises(SnapshotDamaged, match="the new pack is damaged"):
        drop(line.store, {goes}, **nothing)  # type: ignore[arg-type]
    assert everything(line.store) == before
    assert not (line.store.root / "thinning").exists()


def test_what_a_killed_command_left_is_swept(line: Line) -> None:
    line.tree("a")
    repack(line.store)
    where = line.store.objects / "pack"
    before = sorted(os.listdir(where))
    (where / f"pack-{'0' * 40}.pack").write_bytes(b"its index is gone")
    (where / f"pack-{'0' * 40}.rev").write_bytes(b"")
    (where / "tmp_pack_x").write_bytes(b"")
    (line.store.root / "thinning/objects").mkdir(parents=True)
    sweep(line.store)
    assert sorted(os.listdir(where)) == sorted([*before, "tmp_pack_x"])
    assert not (line.store.root / "thinning").exists()


# Whether a task's snapshots are whole.


def test_so_many_snapshots_are_whole(line: Line) -> None:
    aside = line.commit("the agent's", line.base, tree=line.tree("agent"))
    for number in range(3):
        line.snapshot(f"run {number}", aside, tree=line.tree(str(number)))
    assert verify_snapshots(line.store, TASK) == 3
    assert verify_snapshots(line.store, TASK, contents=True) == 3
    repack(line.store)
    assert verify_snapshots(line.store, TASK, contents=True) == 3


def test_a_task_without_a_snapshot_is_damaged(line: Line) -> None:
    with pytest.raises(SnapshotDamaged, match="has no snapshot"):
        verify_snapshots(line.store, TASK)


@pytest.mark.parametrize("lost", ["file", "tree", "commit"])
def test_what_is_missing_is_told(line: Line, lost: str) -> None:
    tree = line.tree("lost")
    first = line.snapshot("base", tree=tree)
    line.snapshot("run 0001")
    sha = {"file": blob_of("lost"), "tree": tree, "commit": first}[lost]
    objects.loose_path(line.store.objects, sha).unlink()
    with pytest.raises(SnapshotDamaged):
        verify_snapshots(line.store, TASK)


def test_what_only_the_person_has_is_missing(line: Line) -> None:
    tree = line.tree("theirs")
    line.snapshot("base", tree=tree)
    path = objects.loose_path(line.store.objects, blob_of("theirs"))
    line.world.user("hash-object", "-w", "--stdin", stdin=b"theirs")
    path.unlink()
    with pytest.raises(SnapshotDamaged, match="lacks 1 object of task 'task2345', among") as told:
        verify_snapshots(line.store, TASK)
    assert blob_of("theirs") in str(told.value)


def test_of_freed_snapshots_only_the_commits_are_needed(line: Line) -> None:
    stays = line.tree("stays")
    freed = line.snapshot("base", tree=line.tree("goes"))
    line.snapshot("run 0001", tree=stays)
    objects.loose_path(line.store.objects, blob_of("goes")).unlink()
    with pytest.raises(SnapshotDamaged):
        verify_snapshots(line.store, TASK)
    assert verify_snapshots(line.store, TASK, freed=[freed]) == 2
    objects.loose_path(line.store.objects, blob_of("stays")).unlink()
    with pytest.raises(SnapshotDamaged):
        verify_snapshots(line.store, TASK, freed=[freed])
    line.tree("stays")
    objects.loose_path(line.store.objects, freed).unlink()
    with pytest.raises(SnapshotDamaged):
        verify_snapshots(line.store, TASK, freed=[freed])


def test_a_commit_beside_a_freed_snapshot_must_be_in_the_store(line: Line) -> None:
    line.world.user("commit", "-q", "--allow-empty", "-m", "the person has it")
    beside = line.world.head()
    freed = line.snapshot("run 0001", beside)
    with pytest.raises(SnapshotDamaged, match="lacks 1 object of"):
        verify_snapshots(line.store, TASK, freed=[freed])


@pytest.mark.parametrize("packed", [False, True])
def test_damage_is_found_where_contents_are_read(
    line: Line, monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    content = f"{7**9000:x}"  # most of what is stored, however it is compressed
    line.snapshot("base", tree=line.tree(content))
    path = objects.loose_path(line.store.objects, blob_of(content))
    (path.parent / "tmp_obj_x").write_bytes(b"of a process")
    assert verify_snapshots(line.store, TASK, contents=True) == 1
    if packed:
        repack(line.store)
        (path,) = (line.store.objects / "pack").glob("*.pack")
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert verify_snapshots(line.store, TASK) == 1
    with pytest.raises(SnapshotDamaged) as told:
        verify_snapshots(line.store, TASK, contents=True)
    assert "a pack is damaged" not in told.value.message  # git says what is wrong
    silence(monkeypatch)
    with pytest.raises(SnapshotDamaged, match="a pack is damaged" if packed else blob_of(content)):
        verify_snapshots(line.store, TASK, contents=True)


def test_a_base_that_is_gone_is_told(line: Line) -> None:
    line.snapshot("base")
    refs.write_ref(line.store.root, line.store.task(TASK).ref, line.commit("x", Sha("12" * 20)))
    with pytest.raises(SnapshotDamaged, match="are not whole"):
        verify_snapshots(line.store, TASK)
