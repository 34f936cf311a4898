"""What comes in goes out as it was; what was said here since goes out too."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.codex import interchange as codex
from siding.agents.gemini import interchange as gemini
from siding.agents.transcripts.foreign import bytes_of
from siding.agents.transcripts.interchange import bring_in, form_of, give_out
from siding.agents.transcripts.messages import text_of, tool_results, tool_uses
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.reading.views import wire
from siding.agents.transcripts.store import SessionStore
from siding.ground.errors import UsageError
from siding.ground.storage.writes import encode_line

from .building import SESSION, at, called, line, result, said, writer_of


def item(second: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": at(second), "type": kind, "payload": payload}


def counted(total: int, last: int) -> dict[str, Any]:
    def use(tokens: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cached_input_tokens": tokens // 2, "output_tokens": 10}

    info = {"total_token_usage": use(total), "last_token_usage": use(last)}
    return {"type": "token_count", "info": info}


def message(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


ROLLOUT = [
    item(
        0,
        "session_meta",
        {"id": SESSION, "cwd": "/w", "cli_version": "0.50.0", "git": {"branch": "main"}},
    ),
    item(1, "turn_context", {"model": "gpt-x", "cwd": "/w"}),
    item(2, "response_item", message("user", "<environment_context>x</environment_context>")),
    item(3, "response_item", message("user", "mend it")),
    item(4, "response_item", {"type": "reasoning", "summary": [{"text": "hm"}]}),
    item(
        5,
        "response_item",
        {
            "type": "function_call",
            "name": "shell",
            "call_id": "c1",
            "arguments": '{"command":["ls"]}',
        },
    ),
    item(6, "event_msg", counted(8100, 100)),
    item(7, "response_item", {"type": "function_call_output", "call_id": "c1", "output": "a.py"}),
    item(8, "response_item", message("assistant", "done")),
    item(9, "event_msg", counted(8400, 300)),
    item(9, "event_msg", counted(8400, 300)),
    item(10, "compacted", {"message": "in short"}),
    item(11, "response_item", message("user", "go on")),
    {"type": "brand-new", "x": 1},
]

CHAT: list[dict[str, Any]] = [
    {"sessionId": SESSION, "projectHash": "ab", "startTime": at(0), "lastUpdated": at(0)},
    {"id": "1", "timestamp": at(1), "type": "user", "content": [{"text": "hel"}, {"text": "lo"}]},
    {
        "id": "2",
        "timestamp": at(2),
        "type": "gemini",
        "content": "",
        "toolCalls": [{"id": "c1", "name": "ls", "args": {"p": "."}, "status": "executing"}],
    },
    {
        "id": "2",
        "timestamp": at(2),
        "type": "gemini",
        "content": "look",
        "model": "gemini-x",
        "thoughts": [{"subject": "S", "description": "D"}],
        "tokens": {"input": 100, "cached": 40, "output": 7, "thoughts": 3},
        "toolCalls": [
            {
                "id": "c1",
                "name": "ls",
                "args": {"p": "."},
                "status": "success",
                "result": [{"functionResponse": {}}],
                "resultDisplay": "a.py",
            }
        ],
    },
    {"$set": {"summary": "s"}},
    {"id": "3", "timestamp": at(3), "type": "info", "content": "note"},
    {"id": "4", "timestamp": at(4), "type": "user", "content": "wrong way"},
    {"$rewindTo": "4"},
    {"id": "5", "timestamp": at(6), "type": "user", "content": "this way"},
]


def data_of(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def brought(tmp_path: Path, data: bytes, name: str = SESSION) -> tuple[SessionStore, Path]:
    store = SessionStore(tmp_path / "sessions")
    source = tmp_path / f"{name}.jsonl"
    source.write_bytes(data)
    return store, source


@pytest.mark.parametrize(
    ("form", "lines"), [("codex", ROLLOUT), ("gemini", CHAT)], ids=["codex", "gemini"]
)
def test_in_and_out_again_is_the_same_file(
    tmp_path: Path, form: str, lines: list[dict[str, Any]]
) -> None:
    data = data_of(lines) + b"{broken\n\xff\xfe\n"
    store, source = brought(tmp_path, data)
    assert form_of(source) is form
    arrival = bring_in(store, source)
    assert arrival.session_id == SESSION
    (path,) = give_out(store, SESSION, form, tmp_path / "out")
    assert path.read_bytes() == data
    before = store.layout(SESSION).transcript.read_bytes()
    assert bring_in(store, source).lines == 0
    source.write_bytes(data_of(lines) + b"{broken\n\xff\xfe\n" + data_of(lines[-1:]))
    assert bring_in(store, source).lines >= 1
    assert store.layout(SESSION).transcript.read_bytes().startswith(before)


def test_a_codex_rollout_is_a_conversation(tmp_path: Path) -> None:
    store, source = brought(tmp_path, data_of(ROLLOUT))
    bring_in(store, source)
    with store.live(SESSION) as transcript:
        live = list(transcript.records(transcript.chain()))
    assert [text_of(each)[-8:] for each in live[1:]] == ["in short", "go on"]
    with Transcript.unsettled(store.layout(SESSION).transcript) as whole:
        all_of_it = list(whole.records(whole.history(live[-1]["uuid"])))
    spoken = [each for each in all_of_it if each["type"] in ("user", "assistant")]
    assert [each["type"][0] for each in spoken] == list("uuaauauu")
    assert spoken[0]["isMeta"] is True
    assert tool_uses(spoken[3])[0]["input"] == {"command": ["ls"]}
    assert tool_results(spoken[4])[0]["content"] == "a.py"
    assert spoken[5]["message"]["model"] == "gpt-x"
    # A fork's running total begins with its parent's; a repeated total is no new call.
    assert spoken[3]["message"]["usage"]["input_tokens"] == 50
    assert spoken[5]["message"]["usage"] == {
        "input_tokens": 150,
        "output_tokens": 0,
        "cache_read_input_tokens": 150,
    }


def test_a_gemini_chat_is_a_conversation(tmp_path: Path) -> None:
    store, source = brought(tmp_path, data_of(CHAT))
    bring_in(store, source)
    with store.live(SESSION) as transcript:
        chain = list(transcript.records(transcript.chain()))
    sent = wire(chain)
    assert [each["role"] for each in sent] == ["user", "assistant", "user"]
    assert sent[0]["content"] == "hello"
    assert [block["type"] for block in sent[1]["content"]] == ["thinking", "text", "tool_use"]
    assert sent[2]["content"][0]["content"] == "a.py"
    assert sent[2]["content"][1]["text"] == "this way"
    answer = next(each for each in chain if each["type"] == "assistant")
    assert answer["message"]["usage"] == {
        "input_tokens": 60,
        "cache_read_input_tokens": 40,
        "output_tokens": 10,
    }


def test_an_old_gemini_document_comes_back_whole(tmp_path: Path) -> None:
    document = {**CHAT[0], "messages": [CHAT[1], CHAT[3], CHAT[-1]]}
    data = json.dumps(document, indent=2).encode() + b"\n"
    store, source = brought(tmp_path, data)
    bring_in(store, source, form="gemini")
    (path,) = give_out(store, SESSION, "gemini", tmp_path / "out")
    assert path.read_bytes() == data
    with writer_of(store) as writer:
        writer.append([{"type": "user", "message": {"role": "user", "content": "more"}}])
    (path,) = give_out(store, SESSION, "gemini", tmp_path / "out")
    texts = [json.loads(each) for each in path.read_text().splitlines()]
    assert [each.get("type") for each in texts] == [None, "user", "gemini", "user", "user"]


def test_what_was_said_here_goes_out_behind_what_came_in(tmp_path: Path) -> None:
    store, source = brought(tmp_path, data_of(ROLLOUT))
    bring_in(store, source)
    with writer_of(store) as writer:
        writer.append([said("x1", None, 900), called("x2", None, 901, "t9")])
        writer.append([result("x3", None, 902, "t9", "out")])
    (path,) = give_out(store, SESSION, "codex", tmp_path / "out")
    lines = path.read_bytes().splitlines()
    assert b"".join(each + b"\n" for each in lines[: len(ROLLOUT)]) == data_of(ROLLOUT)
    kinds = [json.loads(each)["payload"]["type"] for each in lines[len(ROLLOUT) :]]
    assert kinds == ["message", "function_call", "function_call_output"]
    source.write_bytes(data_of([*ROLLOUT, *ROLLOUT[-2:]]))
    with pytest.raises(UsageError, match="differs from this transcript"):
        bring_in(store, source)
    assert bring_in(store, source, session_id="other").session_id == "other"


@pytest.mark.parametrize("form", ["codex", "gemini"])
def test_a_session_of_ours_goes_out_in_every_form(tmp_path: Path, form: str) -> None:
    store = SessionStore(tmp_path / "sessions")
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), called("a1", None, 2, "t1")])
        writer.append([result("r1", None, 3, "t1"), said("a2", None, 4, "assistant")])
    (path,) = give_out(store, SESSION, form, tmp_path / "out")
    assert form_of(path) is form
    module = codex if form == "codex" else gemini
    back = module.imported(path.read_bytes(), session_id="x")
    assert back.session_id == SESSION
    said_back = [text_of(each) for each in back.records if "message" in each]
    assert "words of u1" in said_back
    assert "answer a2" in said_back


def test_claudes_files_come_with_their_subagents_and_go_out_the_same(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    talk = line([said("u1", None, 1), called("a1", None, 2, "t1")])
    odd: list[dict[str, Any]] = [
        {"type": "brand-new", "x": 1},
        {"type": "queue-operation", "operation": "enqueue"},
    ]
    main = b"".join(encode_line(each) + b"\n" for each in [*talk, *odd]) + b"{torn in the middle\n"
    side = encode_line(said("x1", None, 3, isSidechain=True, agentId="ag")) + b"\n"
    (root / SESSION / "subagents" / "deep").mkdir(parents=True)
    (root / SESSION / "tool-results").mkdir()
    (root / f"{SESSION}.jsonl").write_bytes(main)
    (root / SESSION / "subagents" / "agent-ag.jsonl").write_bytes(side)
    (root / SESSION / "subagents" / "agent-ag.meta.json").write_bytes(b'{"agentType":"x"}')
    (root / SESSION / "subagents" / "deep" / "agent-b.jsonl").write_bytes(side)
    (root / SESSION / "tool-results" / "t1.txt").write_bytes(b"long")
    (root / SESSION / "remote-agents").mkdir()
    (root / SESSION / "remote-agents" / "remote-agent-1.meta.json").write_bytes(b"{}")
    store = SessionStore(tmp_path / "sessions")
    arrival = bring_in(store, root / f"{SESSION}.jsonl")
    assert (arrival.form, arrival.lines, arrival.agents) == ("claude", 5, 2)
    give_out(store, SESSION, "claude", tmp_path / "out")

    def tree(top: Path) -> dict[str, bytes]:
        files = (each for each in top.rglob("*") if each.is_file())
        return {str(each.relative_to(top)): each.read_bytes() for each in files}

    assert tree(tmp_path / "out") == tree(root)


def test_an_unfinished_whole_last_line_of_another_program_is_taken(tmp_path: Path) -> None:
    data = encode_line(said("u1", None, 1)) + b"\n" + encode_line(said("a1", "u1", 2, "assistant"))
    store, source = brought(tmp_path, data)
    assert bring_in(store, source).lines == 2


def test_withdrawn_messages_do_not_go_out(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions")
    with writer_of(store) as writer:
        writer.append([said("u1", None, 1), said("a1", None, 2, "assistant")])
        writer.withdraw("a1")
    (path,) = give_out(store, SESSION, "claude", tmp_path / "out")
    assert [json.loads(each).get("uuid") for each in path.read_bytes().splitlines()] == ["u1"]


def test_a_file_that_is_no_transcript_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "x.jsonl"
    source.write_bytes(b'{"hello":1}\n')
    with pytest.raises(UsageError, match="does not look like a transcript"):
        form_of(source)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "payload",
                    "id",
                    "content",
                    "text",
                    "role",
                    "call_id",
                    "output",
                    "timestamp",
                    "messages",
                    "toolCalls",
                    "$set",
                    "$rewindTo",
                    "info",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
LINES = st.lists(
    st.dictionaries(st.sampled_from(["type", "payload", "id", "content", "timestamp"]), JSON)
    | st.sampled_from([*ROLLOUT, *CHAT]),
    max_size=6,
)


@given(LINES)
def test_whatever_the_lines_codex_and_gemini_give_them_back(lines: list[dict[str, Any]]) -> None:
    data = data_of(lines)
    for module, first in ((codex, ROLLOUT[0]), (gemini, CHAT[0])):
        whole = data_of([first]) + data
        records = [
            json.loads(encode_line(each)) for each in module.imported(whole, session_id="s").records
        ]
        assert bytes_of(module.exported(records)) == whole


@given(st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=6))
def test_whatever_the_lines_claudes_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    tmp_path = tmp_path_factory.mktemp("claude")
    whole = [encode_line(said("u1", None, 1)), *(line for line in lines if line.strip())]
    data = b"".join(line + b"\n" for line in whole)
    store, source = brought(tmp_path, data)
    bring_in(store, source, form="claude")
    assert store.layout(SESSION).transcript.read_bytes() == data
    (path,) = give_out(store, SESSION, "claude", tmp_path / "out")
    assert path.read_bytes() == data
