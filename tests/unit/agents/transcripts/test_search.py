"""Search over all sessions, with an index that can be lost."""

from pathlib import Path

from siding.agents.transcripts.search import Hit, SearchIndex, files_of, snippet
from siding.agents.transcripts.store import SessionStore

from .building import SESSION, called, result, said, writer_of, written


def found(store: SessionStore, words: str) -> list[Hit]:
    with SearchIndex(store.root) as index:
        index.update(files_of(store.layout(each) for each in store.ids()))
        return index.search(words)


def a_store(tmp_path: Path) -> SessionStore:
    store = SessionStore(tmp_path / "sessions")
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), called("a1", None, 2, "t1")])
        writer.append([result("r1", None, 3, "t1", "The naïve Größe was 42")])
        writer.append_to_agent("ag", [said("x1", None, 4)])
    return store


def test_words_are_found_wherever_they_were_said(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    assert [(hit.uuid, hit.agent_id) for hit in found(store, "words u1")] == [("u1", "")]
    assert [(hit.uuid, hit.agent_id) for hit in found(store, "x1")] == [("x1", "ag")]
    (hit,) = found(store, "NAIVE große 42")
    assert (hit.session_id, hit.kind) == (SESSION, "user")
    assert "naïve Größe" in hit.snippet
    assert [each.uuid for each in found(store, '"was 42"')] == ["r1"]
    assert found(store, '"42 was"') == []
    assert found(store, "AND OR NOT (*) ^") == []
    assert found(store, "") == []
    assert found(store, '"') == []


def test_what_was_added_is_taken_in_and_nothing_twice(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    assert len(found(store, "words")) == 2
    with writer_of(store) as writer:
        writer.append([said("u2", None, 5)])
    assert len(found(store, "words")) == 3
    with SearchIndex(store.root) as index:
        assert index.update(files_of(store.layout(each) for each in store.ids())) == 0


def test_another_file_in_its_place_and_a_damaged_index_cost_only_time(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    found(store, "words")
    new = {"type": "user", "uuid": "n1", "message": {"role": "user", "content": "new words"}}
    written(store.layout(SESSION).transcript, [new])
    assert sorted(hit.uuid for hit in found(store, "words")) == ["n1", "x1"]
    (store.root / "search.sqlite3").write_bytes(b"this is no database" * 1000)
    assert sorted(hit.uuid for hit in found(store, "words")) == ["n1", "x1"]


def test_a_snippet_shows_the_words_in_their_place() -> None:
    text = "x " * 500 + "needle " + "y " * 500
    assert "needle" in snippet(text, ["NEEDLE"])
    assert len(snippet(text, ["NEEDLE"])) < 140
