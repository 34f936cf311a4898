"""What another program wrote comes back from an export byte for byte, whatever fields it uses."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.agents.transcripts.branches import rewind_session
from siding.agents.transcripts.compaction import Making, full
from siding.agents.transcripts.interchange import bring_in, give_out
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.store import SessionStore
from siding.ground.errors import UsageError
from siding.ground.storage.codec import parse_object
from siding.ground.storage.writes import encode_line

from .building import SESSION, at, called, result, said, writer_of
from .test_interchange import CHAT, ROLLOUT, data_of

OTHER = "22222222-2222-4222-8222-222222222222"
LAST_PROMPT = {
    "type": "last-prompt",
    "lastPrompt": "words",
    "leafUuid": "a3",
    "sessionId": SESSION,
}


def talk() -> list[Record]:
    return [
        said("u1", None, 1, origin={"kind": "human"}),
        called("a1", "u1", 2, "t1"),
        result("r1", "a1", 3, "t1", "x" * 50),
        said("a2", "r1", 4, "assistant", message={"role": "assistant", "content": "so"}),
        said("u3", "a2", 5, origin="elsewhere"),
        said("a3", "u3", 6, "assistant"),
    ]


def incoming(directory: Path, records: list[Record], name: str = SESSION) -> Path:
    """Write a transcript the way another program does: with spaces, which we do not write."""
    directory.mkdir(exist_ok=True)
    path = directory / f"{name}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def out_of(store: SessionStore, directory: Path, session: str = SESSION) -> bytes:
    (path,) = give_out(store, session, "claude", directory)
    return path.read_bytes()


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


@pytest.mark.parametrize("field", ["origin", "v", "forkedFrom", "snipMetadata", "format", "line"])
@pytest.mark.parametrize("value", [{"kind": "human"}, {"format": "x"}, "text", None, 7, [1]])
def test_a_field_of_claude_code_is_not_taken_for_ours(
    tmp_path: Path, store: SessionStore, field: str, value: Any
) -> None:
    records = talk()
    records[0][field] = value
    path = incoming(tmp_path / "in", [*records, LAST_PROMPT])
    bring_in(store, path)
    assert out_of(store, tmp_path / "out") == path.read_bytes()


@pytest.mark.parametrize("kind", ["tombstone", "foreign-line"])
def test_a_line_type_of_another_program_is_not_taken_for_ours(
    tmp_path: Path, store: SessionStore, kind: str
) -> None:
    strange = {"type": kind, "what": "somebody else's", "sessionId": SESSION}
    path = incoming(tmp_path / "in", [*talk(), strange])
    bring_in(store, path)
    assert out_of(store, tmp_path / "out") == path.read_bytes()


@pytest.mark.parametrize(
    ("form", "lines", "marked"),
    [("codex", ROLLOUT, "codex"), ("gemini", CHAT, "gemini")],
)
def test_what_an_earlier_release_brought_in_goes_out_and_is_gone_on_with(
    tmp_path: Path, store: SessionStore, form: str, lines: list[dict[str, Any]], marked: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(data_of(lines[:-1]))
    bring_in(store, path, form=form)
    ours = store.layout(SESSION).transcript
    assert b'"sidingOrigin":{"format":"%b"' % marked.encode() in ours.read_bytes()
    ours.write_bytes(ours.read_bytes().replace(b'"sidingOrigin":', b'"origin":'))
    path.write_bytes(data_of(lines))
    assert bring_in(store, path, form=form, cwd="/w/task").lines == 1
    (file,) = give_out(store, SESSION, form, tmp_path / "out")
    assert file.read_bytes() == path.read_bytes()
    (other,) = give_out(store, SESSION, "claude", tmp_path / "claude")
    assert b"rigin" not in other.read_bytes()


@pytest.mark.parametrize("renamed", [True, False])
def test_under_another_name_a_session_keeps_all_it_says_about_itself(
    tmp_path: Path, store: SessionStore, renamed: bool
) -> None:
    """Imported under another name, or from a file whose name was changed."""
    about: list[Record] = [
        {"type": "custom-title", "customTitle": "My title", "sessionId": SESSION},
        {"type": "mode", "mode": "plan", "sessionId": SESSION},
        {"type": "goal", "state": {"objective": "mend"}, "sessionId": SESSION},
        {"type": "pr-link", "prNumber": 7, "sessionId": SESSION},
        {"type": "worktree-state", "worktreeSession": {"worktreePath": "/x"}, "sessionId": SESSION},
        {
            "type": "content-replacement",
            "sessionId": SESSION,
            "replacements": [{"toolUseId": "t1", "replacement": "R"}],
        },
    ]
    name = OTHER if renamed else SESSION
    path = incoming(tmp_path / "in", [*talk(), *about], name)
    assert bring_in(store, path, session_id=OTHER).session_id == OTHER
    with store.live(OTHER) as transcript:
        found = store.metadata(OTHER, transcript)
    assert found.title(OTHER) == "My title"
    assert found.value("mode", OTHER) == "plan"
    assert found.value("goal", OTHER) == {"objective": "mend"}
    assert (found.pull_request(OTHER) or {})["prNumber"] == 7
    assert found.worktree(OTHER) == {"worktreePath": "/x"}
    assert [each["replacement"] for each in found.replacements_of(OTHER)] == ["R"]
    if renamed:
        assert out_of(store, tmp_path / "out", OTHER) == path.read_bytes()
        return
    ours = store.layout(OTHER).transcript
    assert {parse_object(raw)["sessionId"] for raw in ours.read_bytes().splitlines()} == {OTHER}
    path.write_text(path.read_text() + json.dumps(said("u4", "a3", 9)) + "\n")
    assert bring_in(store, path, session_id=OTHER).lines == 1
    assert bring_in(store, path).session_id == SESSION


def test_an_import_under_another_name_by_an_earlier_release_can_go_on(
    tmp_path: Path, store: SessionStore
) -> None:
    path = incoming(tmp_path / "in", talk())
    ours = store.layout(OTHER).transcript
    ours.parent.mkdir()
    ours.write_bytes(path.read_bytes())  # its lines kept the name they had
    path.write_text(path.read_text() + json.dumps(said("u4", "a3", 9)) + "\n")
    assert bring_in(store, path, session_id=OTHER).lines == 1
    incoming(tmp_path / "in", [*talk()[:3], said("x", "r1", 4)])
    with pytest.raises(UsageError, match="differs from this transcript"):
        bring_in(store, path, session_id=OTHER)


def last_prompts(data: bytes) -> list[str]:
    records = [parse_object(raw) for raw in data.splitlines()]
    return [each["leafUuid"] for each in records if each["type"] == "last-prompt"]


def change(store: SessionStore, what: str) -> None:
    with writer_of(store) as writer, store.live(SESSION) as transcript:
        if what == "rewind":
            rewind_session(writer, transcript, "a2", now=at(20), uuid="back")
        elif what == "compact":
            chain = list(transcript.records(transcript.chain()))
            writer.append(full(chain, "s", Making(new_id=iter("bc").__next__, now=at(20))))
            writer.repeat_metadata()  # which brings the old place with it
        else:
            writer.append([said("u9", None, 20)])


@pytest.mark.parametrize("what", ["rewind", "compact", "say"])
def test_claude_code_goes_on_where_the_conversation_is_now(
    tmp_path: Path, store: SessionStore, what: str
) -> None:
    """It begins at the leafUuid of its newest note, so an overtaken one must not go out."""
    path = incoming(
        tmp_path / "in", [*talk()[:4], {**LAST_PROMPT, "leafUuid": "a2"}, *talk()[4:], LAST_PROMPT]
    )
    bring_in(store, path)
    change(store, what)
    data = out_of(store, tmp_path / "out")
    assert last_prompts(data) == []
    kept = [raw for raw in path.read_bytes().splitlines() if b"last-prompt" not in raw]
    assert data.splitlines()[: len(kept)] == kept


def test_a_note_claude_code_made_since_stays(tmp_path: Path, store: SessionStore) -> None:
    path = incoming(tmp_path / "in", [*talk(), LAST_PROMPT])
    bring_in(store, path)
    change(store, "rewind")
    path.write_bytes(out_of(store, tmp_path / "in"))
    with store.layout(SESSION).transcript.open("ab") as file:
        file.write(encode_line(said("u10", "back", 30)) + b"\n")
        file.write(encode_line({**LAST_PROMPT, "leafUuid": "u10"}) + b"\n")
    assert last_prompts(out_of(store, tmp_path / "out")) == ["u10"]
