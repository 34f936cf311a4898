"""Bringing many transcripts in, and telling them apart afterwards."""

import json
from pathlib import Path
from typing import Any

from sandbox import Sandbox

from .test_commands import TALK, message

IDS = [f"01a1fb8c-7000-7000-8000-{number:012d}" for number in (1, 2, 30)]


def put(sandbox: Sandbox, session: str, records: list[dict[str, Any]]) -> Path:
    path: Path = sandbox.directory / f"{session}.jsonl"
    named = [{**each, "sessionId": session} for each in records]
    path.write_text("".join(json.dumps(each) + "\n" for each in named), encoding="utf-8")
    return path


def test_one_bad_file_does_not_keep_the_others_out(sandbox: Sandbox) -> None:
    paths = [put(sandbox, each, TALK) for each in IDS]
    sandbox.siding("session", "import", str(paths[1]))
    put(sandbox, IDS[1], [TALK[0], message(2, "assistant", "something else")])
    done = sandbox.siding("session", "import", *map(str, paths), status=2)
    assert done.stdout.decode().split() == [IDS[0], IDS[2]]
    assert b"differs from this transcript" in done.stderr
    assert b"1 of 3 files were not imported" in done.stderr
    missing = sandbox.directory / "nowhere.jsonl"
    done = sandbox.siding("session", "import", str(missing), str(paths[0]), status=1)
    assert done.stdout.decode().split() == [IDS[0]]
    named = ("session", "import", "--as", IDS[0], *map(str, paths))
    assert sandbox.siding(*named, status=2).stdout == b""


def test_ids_that_begin_alike_are_told_apart_and_the_newest_message_comes_first(
    sandbox: Sandbox,
) -> None:
    days = ("03", "01", "02")
    for session, day in zip(IDS, days, strict=True):
        stamp = f"2026-03-{day}T10:00:00.000Z"
        path = put(sandbox, session, [message(1, "user", f"of day {day}", timestamp=stamp)])
        sandbox.siding("session", "import", str(path))
    rows = sandbox.json("session", "list", "--format", "json")
    assert [each["prompt"] for each in rows] == ["of day 03", "of day 02", "of day 01"]
    assert [each["changed_at"] for each in rows] == [1772532000, 1772445600, 1772359200]
    lines = sandbox.siding("session", "list").stdout.decode().splitlines()[1:]
    short = [line.split()[0] for line in lines]
    assert len(set(short)) == 3
    for name, row in zip(short, rows, strict=True):
        shown = sandbox.json("session", "show", name, "--format", "json")
        assert shown["id"] == row["id"]
    found = sandbox.siding("session", "search", '"day 02"').stdout.decode()
    assert found.split()[0] == short[1]


def test_a_gemini_session_belongs_to_the_task_whose_checkout_it_names(sandbox: Sandbox) -> None:
    task = sandbox.json("task", "start", "mend it", "--format", "json")["id"]
    chats = sandbox.directory / "home" / ".gemini" / "tmp" / task / "chats"
    chats.mkdir(parents=True)
    path = chats / "session-2026-01-01T00-00-11111111.jsonl"
    when = "2026-01-01T00:00:01.000Z"
    tokens = {"input": 10, "output": 5}
    lines: list[dict[str, Any]] = [
        {"sessionId": IDS[0], "projectHash": "ab", "startTime": when},
        {"id": "1", "timestamp": when, "type": "user", "content": [{"text": "hello"}]},
        {"id": "2", "timestamp": when, "type": "gemini", "content": "yes", "tokens": tokens},
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    sandbox.siding("session", "import", str(path))
    (row,) = sandbox.json("session", "usage", "--by", "task", "--format", "json")
    assert (row["task"], row["input"], row["output"]) == (task, 10, 5)
