"""What is written, when, and what is not."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from siding.agents.transcripts.appender import Appender, WriteQueue, append_lines
from siding.agents.transcripts.branches import branch_session
from siding.agents.transcripts.compaction import Making, full
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.layout import SessionLayout
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import WriterClosed
from siding.ground.storage.codec import parse_object
from siding.ground.storage.errors import NewerVersion
from siding.ground.storage.locks import LockBusy
from siding.ground.storage.writes import encode_line

from .building import SESSION, at, called, line, result, said, writer_of


def records_in(path: Path) -> list[Record]:
    return [parse_object(raw) for raw in path.read_bytes().splitlines()]


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


@pytest.fixture
def layout(store: SessionStore) -> SessionLayout:
    return store.layout(SESSION)


def test_nothing_is_on_disk_before_something_is_said(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.set({"type": "custom-title", "customTitle": "old"})
        writer.set({"type": "mode", "mode": "plan"})
        writer.set({"type": "custom-title", "customTitle": "T"})
        writer.append([said("s1", None, 1, "system")])
        assert not store.root.exists()
        writer.append([{"type": "user", "message": {"role": "user", "content": "hello"}}])
        kinds = [record["type"] for record in records_in(layout.transcript)]
    assert kinds == ["mode", "custom-title", "system", "user"]
    assert [row.listed.title for row in store.rows()] == ["T"]


def test_a_closed_empty_session_leaves_nothing(store: SessionStore) -> None:
    with writer_of(store) as writer:
        writer.set({"type": "tag", "tag": "x"})
        writer.repeat_metadata()
    assert not store.root.exists()


def test_the_parent_comes_first_and_the_stamps_are_ours(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", "elsewhere", 1, cwd="/other", sessionId="other", version="9")])
    (record,) = records_in(layout.transcript)
    assert list(record)[:2] == ["parentUuid", "isSidechain"]
    assert record["parentUuid"] is None
    assert (record["cwd"], record["sessionId"], record["version"]) == ("/w", SESSION, "0.1.0")
    assert record["timestamp"] == at(1)
    assert record["v"] == 1


def test_known_messages_before_the_first_new_one_say_where_it_hangs(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.record([said("u1", None, 1), said("a1", None, 2, "assistant")])
        writer.record([said("u1", None, 1), said("u2", None, 3)])
        writer.record([said("u3", None, 4), said("u2", None, 3), said("u4", None, 5)])
    found = [(each["uuid"], each["parentUuid"]) for each in records_in(layout.transcript)]
    assert found == [("u1", None), ("a1", "u1"), ("u2", "u1"), ("u3", None), ("u4", "u3")]


def test_results_hang_on_the_message_that_made_the_call(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), called("a1", None, 2, "t1", answer="M")])
        writer.append([called("a2", None, 2, "t2", answer="M")])
    with writer_of(store) as writer:
        writer.append([result("r1", None, 3, "t1"), result("r2", None, 4, "t2")])
        writer.append([said("a3", None, 5, "assistant")])
    with Transcript.live(layout.transcript) as transcript:
        parents = {head.uuid: head.parent for head in transcript.tree.heads.values()}
        chain = [head.uuid for head in transcript.chain()]
    assert parents == {"u1": None, "a1": "u1", "a2": "a1", "r1": "a1", "r2": "a2", "a3": "r2"}
    assert chain == ["u1", "a1", "a2", "r1", "r2", "a3"]


def test_a_boundary_is_a_root_that_knows_what_was_before(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        written = writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
        lines = full(written, "s", Making(new_id=iter("bc").__next__, now=at(9)))
        writer.append([{**each, "logicalParentUuid": None} for each in lines[:1]] + lines[1:])
        writer.append([said("u2", None, 10)])
    found = records_in(layout.transcript)
    assert [(each["uuid"], each["parentUuid"]) for each in found[2:]] == [
        ("b", None),
        ("c", "b"),
        ("u2", "c"),
    ]
    assert found[2]["logicalParentUuid"] == "a1"
    assert list(found[2])[:2] == ["parentUuid", "logicalParentUuid"]


def test_side_lines_go_to_their_own_file_also_what_the_parent_has(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        talk = writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
        writer.append_to_agent("ag", [*talk, said("x1", None, 3)])
        writer.set({"type": "content-replacement", "agentId": "ag", "replacements": []})
    assert len(records_in(layout.transcript)) == 2
    side = records_in(layout.agent_transcript("ag"))
    assert [each.get("uuid") for each in side] == ["u1", "a1", "x1", None]
    assert [each.get("parentUuid") for each in side[:3]] == [None, "u1", "a1"]
    assert all(each["agentId"] == "ag" for each in side)
    assert list(layout.agents()) == [layout.agent_transcript("ag")]


def test_a_withdrawn_message_is_shown_to_nobody_and_still_there(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
        writer.withdraw("a1")
    with Transcript.whole(layout.transcript) as transcript:
        assert list(transcript.tree.heads) == ["u1"]
    assert b"answer a1" in layout.transcript.read_bytes()


def test_one_session_has_one_writer(store: SessionStore) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1)])
        with pytest.raises(LockBusy):
            writer_of(store)
    writer_of(store).close()


def test_metadata_is_written_again_near_the_end_of_a_file_that_grew(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.set({"type": "custom-title", "customTitle": "T"})
        message = {"role": "user", "content": "x" * 200_000}
        writer.append([said("u1", None, 1, message=message)])
    assert records_in(layout.transcript)[-1]["customTitle"] == "T"
    assert store.row(SESSION).listed.title == "T"


def test_a_write_that_fails_can_be_made_again(
    store: SessionStore, layout: SessionLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_self: Appender, _lines: Sequence[bytes]) -> None:
        raise OSError(28, "No space left on device")

    with writer_of(store) as writer:
        writer.append([said("u1", None, 1)])
        with monkeypatch.context() as patch:
            patch.setattr(Appender, "append", full_disk)
            with pytest.raises(OSError, match="No space"):
                writer.append([said("u2", None, 2)])
        writer.append([said("u2", None, 2)])
    assert [each["uuid"] for each in records_in(layout.transcript)] == ["u1", "u2"]


def test_a_torn_line_is_closed_and_the_next_one_is_whole(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1)])
    with layout.transcript.open("ab") as file:
        file.write(b'{"parentUuid":"u1","type":"us')
    with writer_of(store) as writer:
        writer.append([said("a1", None, 2, "assistant")])
    with Transcript.whole(layout.transcript) as transcript:
        assert [head.uuid for head in transcript.chain()] == ["u1", "a1"]
        assert [(each.number, each.problem) for each in transcript.damage] == [(2, "torn")]


def test_a_full_queue_slows_its_caller_and_loses_nothing(tmp_path: Path) -> None:
    gate = threading.Event()
    written: list[bytes] = []

    def slow(_path: Path, lines: Sequence[bytes]) -> None:
        gate.wait(10)
        written.extend(lines)

    queue = WriteQueue(slow, max_lines=10)
    done = threading.Event()

    def fill() -> None:
        queue.add(tmp_path, [b"%d" % number for number in range(100)])
        done.set()

    threading.Thread(target=fill, daemon=True).start()
    assert not done.wait(0.05)  # nothing can be written: the caller waits
    gate.set()
    assert done.wait(10)
    queue.close()
    assert written == [b"%d" % number for number in range(100)]


def test_a_queue_that_cannot_write_says_so_and_tries_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    broken = True

    def append(where: Path, lines: Sequence[bytes]) -> None:
        if broken:
            raise OSError(28, "No space left on device")
        append_lines(where, lines)

    queue = WriteQueue(append)
    queue.add(path, [b'{"a":1}'])
    with pytest.raises(OSError, match="No space"):
        queue.flush()
    broken = False
    queue.add(path, [b'{"b":2}'])
    queue.close()
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'


def test_what_a_person_says_is_stored_before_append_returns(
    store: SessionStore, layout: SessionLayout
) -> None:
    writer = writer_of(store, background=True)
    writer.append(line([said("u1", None, 1)]))
    assert len(records_in(layout.transcript)) == 1
    writer.close()


def test_a_call_is_stored_before_its_tool_runs(store: SessionStore, layout: SessionLayout) -> None:
    writer = writer_of(store, background=True)
    writer.append([said("u1", None, 1)])
    writer.append([said("a1", None, 2, "assistant"), called("a2", None, 3, "t1")])
    stored = [each["uuid"] for each in records_in(layout.transcript)]
    writer.close()
    assert stored == ["u1", "a1", "a2"]


def test_a_compaction_whose_summary_was_never_stored_did_not_happen(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        written = writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
        lines = full(written, "s", Making(new_id=iter("bc").__next__, now=at(9)))
        writer.append(lines[:1])
    with writer_of(store) as writer:
        assert writer.cursor == "a1"
        writer.append([said("u2", None, 10)])
    with Transcript.live(layout.transcript) as transcript:
        assert [head.uuid for head in transcript.chain()] == ["u1", "a1", "u2"]


@pytest.mark.parametrize("kind", ["user", "mode"])
def test_what_a_newer_release_wrote_is_read_and_not_written(
    store: SessionStore, layout: SessionLayout, kind: str
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), said("a1", "u1", 2, "assistant")])
    newer = {**said("u2", "a1", 3, kind), "mode": "plan", "v": 2}
    append_lines(layout.transcript, [encode_line(newer)])
    before = layout.transcript.read_bytes()
    with pytest.raises(NewerVersion, match="has format version 2; this release knows versions up"):
        writer_of(store)
    with pytest.raises(NewerVersion):
        branch_session(store, SESSION, "22222222-2222-4222-8222-222222222222")
    assert layout.transcript.read_bytes() == before
    with store.live(SESSION) as transcript:
        ids = [head.uuid for head in transcript.chain()]
    assert ids == ["u1", "a1", "u2"][: 3 if kind == "user" else 2]


def test_a_version_inside_a_message_is_not_the_lines(
    store: SessionStore, layout: SessionLayout
) -> None:
    """Another program's line, with a "v" of its own in what a tool was given."""
    odd = {"parentUuid": None, "type": "user", "uuid": "u1", "message": {"content": {"v": 9}}}
    append_lines(layout.transcript, [encode_line(odd)])
    with writer_of(store) as writer:
        writer.append([said("u2", "u1", 2)])
    assert len(records_in(layout.transcript)) == 2


@pytest.mark.parametrize("background", [False, True])
def test_a_closed_writer_refuses_and_writes_nothing(
    store: SessionStore, layout: SessionLayout, background: bool
) -> None:
    """Another writer went on since; a line of the first would make its words a dead branch."""
    first = writer_of(store, background=background)
    first.append([said("u1", None, 1)])
    first.close()
    with writer_of(store) as second:
        second.append([said("u2", None, 2), said("a2", None, 3, "assistant")])
    before = layout.transcript.read_bytes()
    attempts: list[Callable[[], object]] = [
        lambda: first.append([said("u3", None, 4)]),
        lambda: first.record([said("u3", None, 4)], parent="u1"),
        lambda: first.append_to_agent("ag", [said("x1", None, 4)]),
        lambda: first.set({"type": "mode", "mode": "plan"}),
        lambda: first.withdraw("u1"),
        first.repeat_metadata,
        first.close_last_line,
        first.flush,
    ]
    for attempt in attempts:
        with pytest.raises(WriterClosed, match="is closed") as raised:
            attempt()
        assert raised.value.hint
    first.close()
    assert layout.transcript.read_bytes() == before
    assert list(layout.agents()) == []


def test_a_closed_writer_of_a_session_never_begun_begins_none(store: SessionStore) -> None:
    writer = writer_of(store)
    writer.close()
    with pytest.raises(WriterClosed):
        writer.append([said("u1", None, 1)])
    assert not store.root.exists()


def test_a_writer_that_could_not_store_all_is_closed_all_the_same(
    store: SessionStore, layout: SessionLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_self: Appender, _lines: Sequence[bytes]) -> None:
        raise OSError(28, "No space left on device")

    writer = writer_of(store, background=True)
    writer.append([said("u1", None, 1)])
    with monkeypatch.context() as patch:
        patch.setattr(Appender, "append", full_disk)
        writer.append([said("a1", None, 2, "assistant")])
        with pytest.raises(OSError, match="No space"):
            writer.close()
    with pytest.raises(WriterClosed):
        writer.append([said("u2", None, 3)])
    writer.close()
    with writer_of(store) as second:
        second.append([said("u2", None, 3)])
    assert [each["uuid"] for each in records_in(layout.transcript)] == ["u1", "u2"]


def test_behind_a_withdrawn_message_the_conversation_goes_on(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
        writer.withdraw("a1")
        writer.append([said("u2", None, 3)])
    with writer_of(store) as writer:
        writer.withdraw("u2")
        writer.append([said("u3", None, 4)])
    with Transcript.live(layout.transcript) as transcript:
        assert [head.uuid for head in transcript.chain()] == ["u1", "u3"]


def test_a_whole_last_line_counts_before_and_after_the_next_writer_ended_it(
    store: SessionStore, layout: SessionLayout
) -> None:
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
    layout.transcript.write_bytes(layout.transcript.read_bytes().removesuffix(b"\n"))
    for _ in range(2):
        for how in (Transcript.live, Transcript.whole):
            with how(layout.transcript) as transcript:
                assert [head.uuid for head in transcript.chain()] == ["u1", "a1"]
                assert transcript.damage == []
        writer_of(store).close()
