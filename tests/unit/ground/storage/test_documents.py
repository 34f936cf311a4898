"""Documents: replaced whole, versions respected, damage named and left alone."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.ground.errors import NotARegularFile, UnreadableFile
from siding.ground.storage import documents
from siding.ground.storage.documents import (
    migrate_document,
    read_document,
    read_document_or_none,
    write_document,
)
from siding.ground.storage.errors import DamagedFile, NewerVersion, NotStorable
from siding.ground.storage.writes import encode_document

OBJECTS = st.dictionaries(
    st.text().filter(lambda key: key != "version"),
    st.none() | st.integers() | st.text() | st.lists(st.booleans(), max_size=3),
    max_size=5,
)


@settings(deadline=None)
@given(OBJECTS, OBJECTS)
def test_a_document_is_what_was_written_last(first: dict[str, Any], last: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "toy.json"
        for data in (first, last):
            write_document(path, data)
            assert read_document(path, what="toy", version=1) == data
        assert list(Path(directory).iterdir()) == [path]


def test_what_is_refused_leaves_the_old_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.json"
    write_document(path, {"n": 1})
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 100)
    for refused in ({"n": float("nan")}, {"n": "x" * 100}):
        with pytest.raises(NotStorable):
            write_document(path, refused)
    assert read_document(path, what="toy", version=1) == {"n": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_document_is_told_as_one(tmp_path: Path) -> None:
    assert read_document_or_none(tmp_path / "toy.json", what="toy", version=1) is None
    with pytest.raises(FileNotFoundError):
        read_document(tmp_path / "toy.json", what="toy", version=1)


def test_missing_fields_are_named(tmp_path: Path) -> None:
    write_document(tmp_path / "toy.json", {"id": 1})
    with pytest.raises(DamagedFile, match="'name', 'status'") as caught:
        read_document(
            tmp_path / "toy.json", what="toy", version=1, required=("id", "name", "status")
        )
    assert str(tmp_path / "toy.json") in caught.value.message
    assert "toy file" in caught.value.message


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "empty"),
        (b"\0" * 4096, "NUL"),
        (b"\n", "not JSON"),
        (b'{"a": 1', "not JSON"),
        (b'{"a": 1}{"a": 1}', "not JSON"),
        (b'// note\n{"a": 1}', "not JSON"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b"[]", "not a JSON object"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": ' + b"[" * 200_000, "deeply"),
        (b'{"version": "1"}', "version"),
        (b'{"version": 0}', "version"),
        (b'{"version": true}', "version"),
        (b'{"version": 1.0}', "version"),
        (b'{"version": null}', "version"),
    ],
)
def test_a_damaged_document_is_named_and_left_as_it_is(
    tmp_path: Path, raw: bytes, reason: str
) -> None:
    path = tmp_path / "toy.json"
    path.write_bytes(raw)
    for read in (read_document, read_document_or_none):
        with pytest.raises(DamagedFile, match=reason):
            read(path, what="toy", version=1)
    with pytest.raises(DamagedFile, match=reason):
        migrate_document(path, what="toy", version=1, migrations={})
    assert path.read_bytes() == raw


def test_a_document_that_is_too_large_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_bytes(b'{"a": 1}')
    with path.open("r+b") as file:
        file.truncate(10 << 30)  # takes no room
    with pytest.raises(DamagedFile, match="more than"):
        read_document(path, what="toy", version=1)


def test_something_else_in_a_documents_place_is_an_unreadable_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "toy.json")
    with pytest.raises(NotARegularFile) as caught:
        read_document(tmp_path / "toy.json", what="toy", version=1)
    assert isinstance(caught.value, UnreadableFile)


@settings(deadline=None)
@given(st.data())
def test_any_damage_to_a_document_is_read_or_named(data: st.DataObject) -> None:
    good = encode_document({"id": "a", "list": [1, {"b": "ä"}], "n": 1.5})
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, len(good)))
    raw = good[:start] + data.draw(st.binary(max_size=8)) + good[end:]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "toy.json"
        path.write_bytes(raw)
        message = ""
        try:
            read = read_document(path, what="toy", version=1)
        except UnreadableFile as error:
            message = error.message
        else:
            write_document(path, read)  # what can be read can be written back
            assert read_document(path, what="toy", version=1) == read
        assert not message or str(path) in message


def name_it(data: dict[str, Any]) -> dict[str, Any]:
    data["name"] = data.pop("title")
    return data


def count_it(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "count": len(data["name"])}


MIGRATIONS = {1: name_it, 2: count_it}
MIGRATED = {"name": "abc", "future": 1, "count": 3, "version": 3}


@pytest.mark.parametrize(
    "old", [{"title": "abc", "future": 1}, {"version": 2, "name": "abc", "future": 1}]
)
def test_reading_migrates_in_memory_only(tmp_path: Path, old: dict[str, Any]) -> None:
    path = tmp_path / "toy.json"
    write_document(path, old)
    raw = path.read_bytes()
    data = read_document(path, what="toy", version=3, migrations=MIGRATIONS, required=("count",))
    assert data == MIGRATED
    assert path.read_bytes() == raw
    assert list(tmp_path.iterdir()) == [path]


def test_a_migration_keeps_the_old_bytes(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_bytes(b'{ "title" : "abc", "future": 1}')
    backup = migrate_document(path, what="toy", version=3, migrations=MIGRATIONS)
    assert backup == tmp_path / "toy.json.v1.bak"
    assert backup.read_bytes() == b'{ "title" : "abc", "future": 1}'
    assert read_document(path, what="toy", version=3) == MIGRATED
    assert migrate_document(path, what="toy", version=3, migrations=MIGRATIONS) is None


def test_a_kept_copy_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    names = []
    for title in ("a", "b", "b", "c"):
        path.write_bytes(b'{"title": "%s"}' % title.encode())
        backup = migrate_document(path, what="toy", version=3, migrations=MIGRATIONS)
        assert backup
        assert backup.read_bytes() == b'{"title": "%s"}' % title.encode()
        names.append(backup.name)
    assert names == [
        "toy.json.v1.bak",
        "toy.json.v1.2.bak",
        "toy.json.v1.2.bak",
        "toy.json.v1.3.bak",
    ]


def test_what_cannot_be_migrated_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    write_document(path, {"no title": 1})
    raw = path.read_bytes()
    with pytest.raises(DamagedFile, match="cannot be migrated from version 1"):
        read_document(path, what="toy", version=3, migrations=MIGRATIONS)
    with pytest.raises(DamagedFile, match="cannot be migrated from version 1"):
        migrate_document(path, what="toy", version=3, migrations=MIGRATIONS)
    assert path.read_bytes() == raw
    assert list(tmp_path.iterdir()) == [path]


def test_a_newer_document_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_bytes(b'{"version": 7}')
    for act in (read_document, read_document_or_none, migrate_document):
        with pytest.raises(NewerVersion, match="version 7") as caught:
            act(path, what="toy", version=3, migrations=MIGRATIONS)
        assert (caught.value.found, caught.value.supported) == (7, 3)
        assert caught.value.hint
    assert path.read_bytes() == b'{"version": 7}'
