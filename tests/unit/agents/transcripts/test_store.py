"""Sessions of a directory, their lists and their index."""

import os
from pathlib import Path

import pytest

from siding.agents.transcripts.branches import branch_session
from siding.agents.transcripts.compaction import Making, full
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.metadata import Index, read_index, updated
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.store import SessionStore, listed_file
from siding.ground.errors import NotFound, UnreadableFile, UsageError
from siding.ground.storage.lines import MAX_LINE_BYTES
from siding.ground.storage.writes import encode_line

from .building import SESSION, at, line, said, writer_of, written

PADDING: Record = {"type": "padding", "text": "x" * 150_000}


def meta(kind: str, key: str, value: object) -> Record:
    return {"type": kind, "sessionId": SESSION, key: value}


def test_a_title_in_the_middle_of_a_large_file_is_found(tmp_path: Path) -> None:
    records = [said("u1", None, 1), PADDING, meta("custom-title", "customTitle", "T"), PADDING]
    assert listed_file(written(tmp_path / "t.jsonl", records)).title == "T"


def test_a_tools_input_is_no_title(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t", "name": "B", "input": {"customTitle": "fake"}}
    message = {"role": "assistant", "content": [block]}
    records = [said("u1", None, 1), said("a1", "u1", 2, "assistant", message=message)]
    assert listed_file(written(tmp_path / "t.jsonl", records)).title is None


def test_an_index_is_extended_by_what_was_added_and_thrown_away_when_it_does_not_fit(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "t.jsonl", [said("u1", None, 1), meta("tag", "tag", "x")])
    first = updated(path, Index())
    assert first.covered == path.stat().st_size
    assert [each.type for each in first.metadata] == ["tag"]
    more = [b'{"broken', encode_line(said("u2", "u1", 2)), b"x" * (MAX_LINE_BYTES + 1)]
    more.append(encode_line(meta("mode", "mode", "plan")))
    with path.open("ab") as file:
        file.write(b"\n".join(more) + b"\n" + b'{"type":"tag","tag":"torn"')
    second = updated(path, first)
    assert second == updated(path, Index())
    assert [each.type for each in second.metadata] == ["tag", "mode"]
    assert second.covered < path.stat().st_size
    path.write_bytes(b"x" * second.covered)
    assert updated(path, second) == updated(path, Index())


def test_metadata_from_before_the_live_end_counts(tmp_path: Path) -> None:
    old = line([said("u1", None, 1), said("a1", None, 2, "assistant")])
    new = full(old, "s", Making(new_id=iter("bc").__next__, now=at(9)))
    replaced = {"toolUseId": "t1", "replacement": "R"}
    records = [
        *old,
        meta("custom-title", "customTitle", "T"),
        meta("goal", "state", {"objective": "g"}),
        meta("mode", "mode", "plan"),
        meta("content-replacement", "replacements", [replaced]),
        *new,
        meta("mode", "mode", "default"),
        {"type": "goal-cleared", "sessionId": SESSION},
    ]
    store = SessionStore(tmp_path)
    written(store.layout(SESSION).transcript, records)
    with store.live(SESSION) as transcript:
        assert transcript.start > 0
        found = store.metadata(SESSION, transcript)
    assert found.title(SESSION) == "T"
    assert found.value("mode", SESSION) == "default"
    assert found.value("goal", SESSION) is None
    assert found.replacements_of(SESSION) == [replaced]
    assert read_index(store.layout(SESSION).index_json) == store.index(SESSION)
    store.layout(SESSION).index_json.write_bytes(b"garbage")
    assert store.index(SESSION) == updated(store.layout(SESSION).transcript, Index())


def test_sessions_are_found_by_id_beginning_and_title(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    for name, title in (("abc-1", "One"), ("abd-2", "Two")):
        with writer_of(store, name) as writer:
            writer.set({"type": "custom-title", "customTitle": title})
            writer.append([said("u1", None, 1)])
    os.utime(tmp_path / "abd-2.jsonl", (5, 5))
    assert store.require("abc") == "abc-1"
    assert store.require("Two") == "abd-2"
    assert store.newest() == "abc-1"
    with pytest.raises(UsageError, match="fits several sessions"):
        store.require("ab")
    with pytest.raises(NotFound):
        store.require("zzz")
    with pytest.raises(NotFound):
        store.live("zzz")


def test_a_list_goes_past_files_it_cannot_read(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1)])
    (tmp_path / "dir.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to("/dev/zero")
    assert [row.id for row in store.rows()] == [SESSION]


def test_the_newest_of_files_that_cannot_be_read_is_not_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "abc.jsonl").mkdir()
    with pytest.raises(UnreadableFile):
        SessionStore(tmp_path).newest()


def test_branches_get_titles_nobody_has(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
    titles = [branch_session(store, SESSION, f"b{number}") for number in range(3)]
    assert titles == [f"words of u1 (Branch{each})" for each in ("", " 2", " 3")]
    with Transcript.whole(store.layout("b0").transcript) as transcript:
        records = list(transcript.records(transcript.chain()))
    assert [each["forkedFrom"]["messageUuid"] for each in records] == ["u1", "a1"]
    assert {each["sessionId"] for each in records} == {"b0"}
    with pytest.raises(FileExistsError):
        branch_session(store, SESSION, "b0")


def test_entries_and_fields_of_a_later_release_hinder_nothing(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    talk = [said("u1", None, 1, mood={"is": "new"}), said("a1", "u1", 2, "assistant")]
    later = [meta("brand-new", "x", 1), meta("goal", "state", 3), meta("custom-title", "a", [])]
    store.layout(SESSION).transcript.parent.mkdir(parents=True, exist_ok=True)
    written(store.layout(SESSION).transcript, [*later, *talk, *later])
    branch_session(store, SESSION, "b")
    with Transcript.whole(store.layout("b").transcript) as transcript:
        copied = list(transcript.records(transcript.chain()))
    assert [each["uuid"] for each in copied] == ["u1", "a1"]
    assert copied[0]["mood"] == {"is": "new"}
