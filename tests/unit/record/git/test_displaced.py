"""What a restoration displaced: which versions are kept by name, and which the snapshots hold."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flushes import Watcher
from privileges import bound_by_permissions
from siding.ground.hashing import new_digest
from siding.ground.ids import Sha
from siding.record.files.displaced import (
    CONTENTS,
    UNKNOWN,
    KeptFile,
    Why,
    drop_recorded,
    identity_at,
    keep_unrecorded,
    names_of,
    read_names,
    remove_if_empty,
    write_names,
)
from siding.record.snapshots.patches import Change

NOTHING, FILE, LINK = "000000", "100644", "120000"
ZEROS = Sha("0" * 40)
PATH = st.binary(min_size=1, max_size=12).filter(lambda path: b"\0" not in path)


def blob(content: bytes | None) -> Sha:
    if content is None:
        return ZEROS
    digest = new_digest("sha1", len(content))
    digest.update(b"blob %d\0%b" % (len(content), content))
    return Sha(digest.hexdigest())


def change(path: bytes, old: bytes | None, new: bytes | None, mode: str = FILE) -> Change:
    old_mode = NOTHING if old is None else mode
    new_mode = NOTHING if new is None else mode
    return Change("M", path, old_mode, new_mode, blob(old), blob(new))


def prepared(directory: Path, changes: list[Change], there: Mapping[str, bytes]) -> Path:
    directory.mkdir()
    fd = os.open(directory, os.O_RDONLY)
    write_names(fd, changes)
    os.close(fd)
    for entry, content in there.items():
        (directory / entry).write_bytes(content)
    return directory


@given(paths=st.lists(PATH, max_size=5))
def test_the_list_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, paths: list[bytes]
) -> None:
    directory = tmp_path_factory.mktemp("names") / "displaced"
    changes = [change(path, b"old", b"new") for path in paths]
    prepared(directory, changes, {})
    found = read_names(directory)
    assert [each.path for each in found.values()] == paths
    assert {(each.mode, each.sha, each.new_sha) for each in found.values()} <= {
        (FILE, blob(b"old"), blob(b"new"))
    }


def test_only_what_no_snapshot_holds_is_kept(tmp_path: Path) -> None:
    changes = [
        change(b"same", b"old", b"new"),
        change(b"dir/saved", b"old", b"new"),
        change(b"not reached", b"old", b"new"),
        change(b"made", None, b"new"),
        change(b"deleted", b"old", None),
        change(b"deleted and saved", b"old", None),
    ]
    there = {"0": b"old", "1": b"hers", "2": b"new", "3": b"hers too", "4": b"old", "5": b"last"}
    place = prepared(tmp_path / "displaced", changes, there)
    kept = keep_unrecorded(place, "sha1")
    assert kept == [
        KeptFile(b"dir/saved", Why.CHANGED),
        KeptFile(b"made", Why.CHANGED),
        KeptFile(b"deleted and saved", Why.CHANGED),
    ]
    assert (place / "kept/dir/saved").read_bytes() == b"hers"
    assert (place / "kept/made").read_bytes() == b"hers too"
    assert (place / "kept/deleted and saved").read_bytes() == b"last"
    assert sorted(path.name for path in place.iterdir()) == ["0", "2", "4", "kept", "names"]
    assert keep_unrecorded(place, "sha1") == []


def test_a_file_that_is_open_for_writing_is_kept(tmp_path: Path) -> None:
    place = prepared(tmp_path / "displaced", [change(b"log", b"old", b"new")], {"0": b"old"})
    with (place / "0").open("ab") as writer:
        assert keep_unrecorded(place, "sha1") == [KeptFile(b"log", Why.WRITING)]
        writer.write(b" and more")
    assert (place / "kept/log").read_bytes() == b"old and more"


def test_versions_that_want_the_same_name(tmp_path: Path) -> None:
    """A path may have been a file and then a directory, and have been made again and again."""
    changes = [change(b"a", b"old", b"new"), change(b"a/b", None, b"new")]
    there = {"0": b"one", "0.0": b"two", "0.1": b"three", "1": b"below"}
    place = prepared(tmp_path / "displaced", changes, there)
    kept = keep_unrecorded(place, "sha1")
    assert len({each.path for each in kept}) == 4
    found = {(place / "kept" / os.fsdecode(each.path)).read_bytes() for each in kept}
    assert found == {b"one", b"two", b"three", b"below"}


def test_links_directories_and_pipes(tmp_path: Path) -> None:
    changes = [
        change(b"link", b"target", b"new", LINK),
        change(b"other", b"target", b"new", LINK),
        change(b"directory", b"old", b"new"),
        change(b"pipe", b"old", b"new"),
    ]
    place = prepared(tmp_path / "displaced", changes, {})
    (place / "0").symlink_to("target")
    (place / "1").symlink_to("elsewhere")
    (place / "2").mkdir()
    (place / "2/file").write_bytes(b"hers")
    os.mkfifo(place / "3")
    kept = keep_unrecorded(place, "sha1")
    assert [each.path for each in kept] == [b"other", b"directory", b"pipe"]
    assert os.readlink(place / "kept/other") == "elsewhere"
    assert (place / "kept/directory/file").read_bytes() == b"hers"


def test_names_that_are_no_text(tmp_path: Path) -> None:
    place = prepared(tmp_path / "displaced", [change(b"\xff\n", b"o", b"n")], {"0": b"hers"})
    (kept,) = keep_unrecorded(place, "sha1")
    assert (place / "kept" / os.fsdecode(b"\xff\n")).read_bytes() == b"hers"
    assert names_of([kept], "trash/t") == (r'"trash/t/displaced/kept/\377\n"',)


def test_an_empty_place_goes(tmp_path: Path) -> None:
    above = tmp_path / "place"
    above.mkdir()
    place = prepared(above / "displaced", [change(b"a", None, b"new")], {})
    assert remove_if_empty(place)
    assert not above.exists()
    above.mkdir()
    place = prepared(above / "displaced", [change(b"a", None, b"new")], {"0": b"hers"})
    assert not remove_if_empty(place)
    assert (place / "0").read_bytes() == b"hers"


def test_versions_of_one_path_are_numbered(tmp_path: Path) -> None:
    changes = [change(b"a", b"old", b"new")] * 4
    contents = {f"{number}": b"version %d" % number for number in range(4)}
    place = prepared(tmp_path / "displaced", changes, contents)
    names = [b"a", b"2/a", b"3/a", b"4/a"]
    assert [each.path for each in keep_unrecorded(place, "sha1")] == names
    found = [(place / "kept" / os.fsdecode(name)).read_bytes() for name in names]
    assert found == list(contents.values())


def test_there_is_no_such_place(tmp_path: Path) -> None:
    assert keep_unrecorded(tmp_path / "missing", "sha1") == []


def test_the_list_says_what_was_there_and_what_was_staged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [change(b"a", b"old", b"new"), change(b"b", b"old", None)]
    watcher = Watcher(monkeypatch)
    fd = os.open(tmp_path, os.O_RDONLY)
    before = os.listdir("/dev/fd")
    write_names(fd, changes, before={b"b": "1:2:3"}, new={b"a": "4:5:6"})
    write_names(fd, changes[:1])  # over the one before
    (only,) = read_names(tmp_path).values()
    assert (only.before, only.new) == (UNKNOWN, UNKNOWN)
    assert os.listdir("/dev/fd") == before
    write_names(fd, changes, before={b"b": "1:2:3"}, new={b"a": "4:5:6"})
    os.close(fd)
    assert not watcher.renamed_unflushed_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["names"]
    assert (tmp_path / "names").stat().st_mode & 0o777 == 0o600
    found = read_names(tmp_path)
    assert {name: each.is_deletion for name, each in found.items()} == {b"0": False, b"1": True}
    assert [(each.before, each.new) for each in found.values()] == [
        (UNKNOWN, "4:5:6"),
        ("1:2:3", UNKNOWN),
    ]
    assert read_names(tmp_path / "missing") == {}


def test_what_tells_one_version_from_another(tmp_path: Path) -> None:
    path, other = os.fsencode(tmp_path / "file"), os.fsencode(tmp_path / "other")
    assert identity_at(path) == UNKNOWN
    (tmp_path / "file").write_bytes(b"x")
    assert identity_at(os.path.join(path, b"below")) == UNKNOWN
    first = identity_at(path)
    os.rename(path, other)
    assert identity_at(other) == first
    (tmp_path / "file").write_bytes(b"x")
    assert identity_at(path) != first
    (tmp_path / "other").write_bytes(b"longer")
    assert identity_at(other) != first


def test_a_version_that_is_the_one_that_was_looked_at_is_recorded(tmp_path: Path) -> None:
    """Its blob is another where git's filters are between."""
    changes = [change(name, b"old", b"new") for name in (b"before", b"new", b"other")]
    place = prepared(tmp_path / "displaced", changes, {"0": b"x", "1": b"y", "2": b"z"})
    known = [identity_at(os.fsencode(place / name)) for name in "012"]
    fd = os.open(place, os.O_RDONLY)
    write_names(fd, changes, before={b"before": known[0]}, new={b"new": known[1]})
    os.close(fd)
    assert [each.path for each in keep_unrecorded(place, "sha1")] == [b"other"]


def test_a_version_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    place = prepared(tmp_path / "displaced", [change(b"a", b"old", b"new")], {"0": b"old"})
    (place / "0").chmod(0)

    def kept() -> list[KeptFile]:
        return keep_unrecorded(place, "sha1")

    assert bound_by_permissions(kept) == [KeptFile(b"a", Why.CHANGED)]


def unflushed(watcher: Watcher, top: Path) -> set[str]:
    """The directories below `top` whose names were changed and not flushed afterwards."""
    inodes = {inode for _call, inode in watcher.unflushed()}
    there = [top, *(path for path in top.rglob("*") if path.is_dir())]
    return {path.name for path in there if (path.stat().st_dev, path.stat().st_ino) in inodes}


def test_kept_names_are_durable_and_no_file_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [change(b"a/b/c", b"old", b"new"), change(b"d", b"old", b"new")]
    place = prepared(tmp_path / "displaced", changes, {"0": b"hers", "1": b"hers"})
    before = os.listdir("/dev/fd")
    watcher = Watcher(monkeypatch)
    assert len(keep_unrecorded(place, "sha1")) == 2
    assert unflushed(watcher, place) == set()
    assert os.listdir("/dev/fd") == before


def test_what_is_dropped_is_dropped_durably(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [change(b"a", b"old", b"new"), change(b"b", b"old", b"new")]
    place = prepared(tmp_path / "displaced", changes, {"0": b"old", "1": b"hers"})
    (place / os.fsdecode(CONTENTS)).write_bytes(b"staged")
    watcher = Watcher(monkeypatch)
    assert drop_recorded(place, "sha1", {blob(b"old")}) == 0
    assert drop_recorded(place, "sha1", {blob(b"old"), blob(b"new")}) > 0
    assert sorted(path.name for path in place.iterdir()) == ["1", "names"]
    assert unflushed(watcher, place) == set()
