"""A damaged line is told with its place, and hides nothing but itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from client_homes import bytes_below, put, session_id
from sandbox import Sandbox

from .test_commands import SESSION, message

COUNT = 12
HURT = 8


def talk() -> list[dict[str, Any]]:
    return [message(n, "user" if n % 2 else "assistant", f"words {n}") for n in range(1, COUNT + 1)]


def damaged(line: str, how: str) -> str:
    return {"flip": line.replace("words", "wor\0s"), "cut": line[: len(line) // 3], "lost": ""}[how]


def brought_in(sandbox: Sandbox, lines: list[str]) -> None:
    source = sandbox.directory / f"{SESSION}.jsonl"
    source.write_text("".join(f"{line}\n" for line in lines if line), encoding="utf-8")
    sandbox.siding("session", "import", str(source))


@pytest.mark.parametrize("how", ["flip", "cut", "lost"])
def test_everything_before_it_is_shown_and_gone_on_with(sandbox: Sandbox, how: str) -> None:
    lines = [json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in talk()]
    lines = [damaged(line, how) if n == HURT else line for n, line in enumerate(lines, 1)]
    brought_in(sandbox, lines)
    whole = [f"u{n}" for n in range(1, COUNT + 1) if n != HURT]
    place = HURT if how == "lost" else HURT + 1
    gap = {"number": place, "message": "u9", "missing": "u8", "bridged_to": "u7"}

    shown = sandbox.json("session", "show", "--format", "json")
    assert [each["uuid"] for each in shown["records"]] == whole
    assert [each["number"] for each in shown["damage"]] == ([] if how == "lost" else [HURT])
    (found,) = shown["gaps"]
    assert found | gap == found

    resumed = sandbox.json("session", "resume", "--format", "json")
    assert resumed["messages"] == COUNT - 1
    assert (len(resumed["damage"]), len(resumed["gaps"])) == (0 if how == "lost" else 1, 1)
    text = sandbox.siding("session", "resume")
    assert b"1 message" in text.stdout
    assert f"line {place}".encode() in text.stderr
    if how != "lost":
        assert f"line {HURT} cannot be read".encode() in text.stderr

    told = sandbox.json("session", "doctor", "--format", "json", status=1)
    assert [(each["number"], each["bridged_to"]) for each in told][-1] == (place, "u7")
    copy = sandbox.json("session", "branch", "--format", "json")["id"]
    copied = sandbox.json("session", "show", copy, "--format", "json")
    assert [each["uuid"] for each in copied["records"]] == whole
    assert copied["gaps"] == []


def test_a_subagents_conversation_too(sandbox: Sandbox) -> None:
    lines = [json.dumps(each) for each in talk()]
    agents = sandbox.directory / SESSION / "subagents"
    agents.mkdir(parents=True)
    own = [json.dumps({**each, "isSidechain": True, "agentId": "ag"}) for each in talk()]
    (agents / "agent-ag.jsonl").write_text("\n".join(own[:7] + own[8:]) + "\n", encoding="utf-8")
    brought_in(sandbox, lines)
    shown = sandbox.json("session", "show", "--agent", "ag", "--format", "json")
    assert len(shown["records"]) == COUNT - 1
    (found,) = sandbox.json("session", "doctor", "--format", "json", status=1)
    assert Path(found["path"]).name == "agent-ag.jsonl"


def test_messages_without_times_are_read_by_every_command(sandbox: Sandbox) -> None:
    plain = talk()
    for each in plain:
        del each["timestamp"]
    brought_in(sandbox, [json.dumps(each) for each in plain])
    ids = [f"u{n}" for n in range(1, COUNT + 1)]
    (row,) = sandbox.json("session", "list", "--format", "json")
    assert row["prompt"] == "words 1"
    shown = sandbox.json("session", "show", "--format", "json")
    assert [each["uuid"] for each in shown["records"]] == ids
    sent = sandbox.json("session", "resume", "--format", "wire")
    assert len(sent) == COUNT
    (hit,) = sandbox.json("session", "search", '"words 12"', "--format", "json")
    assert hit["uuid"] == "u12"
    (spent,) = sandbox.json("session", "usage", "--format", "json")
    assert spent["calls"] == COUNT / 2
    assert sandbox.siding("session", "doctor").stdout == b""
    copy = sandbox.json("session", "branch", "--format", "json")["id"]
    assert len(sandbox.json("session", "show", copy, "--format", "json")["records"]) == COUNT
    sandbox.siding("session", "compact", SESSION, "--summary", "-", "--from", "10", stdin=b"short")
    live = sandbox.json("session", "show", SESSION, "--format", "json")["records"]
    assert [each["uuid"] for each in live][2:] == ["u10", "u11", "u12"]


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_found_ones_are_looked_at_before_there_is_a_project(client: str, sandbox: Sandbox) -> None:
    path = put(sandbox.directory / "home", client, 1, cwd=str(sandbox.repo))
    lines = path.read_bytes().splitlines(keepends=True)
    assert b"1 transcript read; nothing wrong" in sandbox.siding("session", "doctor").stderr
    path.write_bytes(b"".join([*lines[:4], lines[4][:40] + b"\n", *lines[5:]]))
    before = bytes_below(sandbox.directory / "home")
    told = sandbox.json("session", "doctor", "--format", "json", status=1)
    assert (told[0]["session_id"], told[0]["path"], told[0]["number"]) == (
        session_id(1),
        str(path),
        5,
    )
    assert b":5: " in sandbox.siding("session", "doctor", status=1).stdout
    assert bytes_below(sandbox.directory / "home") == before
    assert not list(Path(sandbox.env["SIDING_HOME"]).glob("projects/*"))
    elsewhere = sandbox.siding("session", "doctor", cwd=sandbox.directory, status=1)
    assert b"1 transcript read" in elsewhere.stderr
