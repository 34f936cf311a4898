"""`siding session …`, from a transcript of another program to its export."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

SESSION = "11111111-1111-4111-8111-111111111111"


def message(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    body = {"role": kind, "content": content}
    if kind == "assistant":
        body |= {"id": f"m{number}", "model": "claude-x"}
        body["usage"] = {"input_tokens": 10, "output_tokens": 5}
    return {
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "isSidechain": False,
        "type": kind,
        "message": body,
        "uuid": f"u{number}",
        "timestamp": f"2026-01-01T00:00:{number:02d}.000Z",
        "sessionId": SESSION,
        "version": "2.1.0",
    } | more


TALK = [
    message(1, "user", "mend the tests please"),
    message(
        2, "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"c": "ls"}}]
    ),
    message(3, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py b.py"}]),
    message(4, "assistant", [{"type": "text", "text": "two files \u001b[2J here"}]),
    message(5, "user", "and now the zebra"),
]


@pytest.fixture
def imported(sandbox: Sandbox) -> Sandbox:
    source = sandbox.directory / f"{SESSION}.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in TALK))
    done = sandbox.siding("session", "import", str(source))
    assert done.stdout.decode().strip() == SESSION
    return sandbox


def transcript(sandbox: Sandbox, session: str = SESSION) -> Path:
    path: Path = sandbox.project / "sessions" / f"{session}.jsonl"
    return path


def test_a_session_is_listed_shown_and_found(imported: Sandbox) -> None:
    (row,) = imported.json("session", "list", "--format", "json")
    assert (row["id"], row["prompt"]) == (SESSION, "mend the tests please")
    shown = imported.siding("session", "show", "1111").stdout
    assert b"#5 person" in shown
    assert b"\x1b" not in shown
    whole = imported.json("session", "show", "--format", "json")
    assert [each["uuid"] for each in whole["records"]] == [f"u{n}" for n in range(1, 6)]
    page = imported.siding("session", "show", "--format", "html").stdout
    assert b"<details" in page
    assert b"\x1b" not in page
    lines = imported.siding("session", "show", "--format", "lines").stdout
    assert lines == transcript(imported).read_bytes()
    (hit,) = imported.json("session", "search", "zebra", "--format", "json")
    assert hit["uuid"] == "u5"
    assert imported.siding("session", "search", "giraffe", status=1).stdout == b""


def test_a_prompt_that_waits_is_told_and_sent(imported: Sandbox) -> None:
    found = imported.json("session", "resume", "--format", "json")
    assert (found["ending"], found["prompt"]["uuid"]) == ("interrupted_prompt", "u5")
    sent = imported.json("session", "resume", "--format", "wire")
    assert [each["role"] for each in sent] == ["user", "assistant", "user", "assistant", "user"]
    forked = imported.json("session", "resume", "--fork", "--format", "json")
    assert forked["id"] != SESSION
    assert transcript(imported, forked["id"]).exists()


def test_rewound_branched_and_compacted_nothing_is_lost(imported: Sandbox) -> None:
    before = transcript(imported).read_bytes()
    imported.siding("session", "rewind", SESSION, "4")
    copy = imported.json("session", "branch", SESSION, "--format", "json")
    assert copy["title"] == "mend the tests please (Branch)"
    copied = imported.json("session", "show", copy["id"], "--format", "json")["records"]
    assert [each["uuid"] for each in copied][:4] == ["u1", "u2", "u3", "u4"]
    imported.siding(
        "session",
        "compact",
        SESSION,
        "--summary",
        "-",
        "--from",
        "4",
        stdin=b"they talked about files",
    )
    live = imported.json("session", "show", SESSION, "--format", "json")["records"]
    assert [each["type"] for each in live[:3]] == ["system", "user", "assistant"]
    assert "they talked about files" in live[1]["message"]["content"]
    everything = imported.json("session", "show", SESSION, "--all", "--format", "json")["records"]
    assert [each["uuid"] for each in everything][:4] == ["u1", "u2", "u3", "u4"]
    imported.siding("session", "compact", "--clear-results", "0", copy["id"])
    sent = imported.json("session", "resume", copy["id"], "--format", "wire")
    assert "cleared" in json.dumps(sent)
    imported.siding("session", "compact", copy["id"], "--snip", "2", "2")
    assert "Bash" not in json.dumps(
        imported.json("session", "resume", copy["id"], "--format", "wire")
    )
    assert transcript(imported).read_bytes().startswith(before)


def test_tokens_are_counted_once_whatever_copies_there_are(imported: Sandbox) -> None:
    imported.siding("session", "branch")
    (row,) = imported.json("session", "usage", "--by", "model", "--format", "json")
    assert row == {
        "model": "claude-x",
        "input": 20,
        "output": 10,
        "reasoning": 0,
        "cache_read": 0,
        "cache_write": 0,
        "cache_write_5m": 0,
        "cache_write_1h": 0,
        "total": 30,
        "calls": 2,
    }
    table = imported.siding("session", "usage", "--by", "session").stdout.decode()
    assert SESSION in table


def test_damage_is_found_named_and_left(imported: Sandbox) -> None:
    assert imported.siding("session", "doctor").stdout == b""
    path = transcript(imported)
    path.write_bytes(path.read_bytes().replace(b"two files", b"two \xff\xff\xff", 1) + b'{"torn')
    damaged = path.read_bytes()
    found = imported.json("session", "doctor", "--mend", "--format", "json", status=1)
    assert [each["number"] for each in found if each["number"]][-1] == 6
    assert path.read_bytes() == damaged
    shown = imported.siding("session", "show")
    assert b"zebra" in shown.stdout
    assert b"warning" in shown.stderr


def test_an_export_is_what_came_in(imported: Sandbox) -> None:
    out = imported.directory / "out"
    imported.siding("session", "export", "-o", str(out))
    assert (out / f"{SESSION}.jsonl").read_bytes() == transcript(imported).read_bytes()
    imported.siding("session", "export", "--to", "codex", "-o", str(out / "codex"))
    (path,) = (out / "codex").iterdir()
    assert path.name.startswith("rollout-")
    assert path.name.endswith(f"-{SESSION}.jsonl")
    first = path.read_text().splitlines()[0]
    assert json.loads(first)["type"] == "session_meta"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "zzz"], b"no session 'zzz'"),
        (["rewind", SESSION, "99"], b"no message '99'"),
        (["compact", "--snip", "4", "2"], b"not a range"),
        (["compact", "--clear-results", "9"], b"no more tool results"),
        (["import", "nowhere.jsonl"], b"No such file"),
    ],
)
def test_what_cannot_be_done_is_said_plainly(
    imported: Sandbox, words: list[str], message: bytes
) -> None:
    done = imported.siding("session", *words, status=None)
    assert done.returncode != 0
    assert message in done.stderr
    assert b"Traceback" not in done.stderr


def test_reading_verbs_do_not_load_what_they_do_not_need(imported: Sandbox) -> None:
    done = imported.siding("status", env={"PYTHONPROFILEIMPORTTIME": "1"}, status=None)
    assert b"siding.record.recording.status" in done.stderr
    assert b"msgspec" not in done.stderr
    assert b"siding.agents.transcripts" not in done.stderr
