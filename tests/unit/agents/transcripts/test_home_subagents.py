"""The subagents of a conversation are found, and those of no other one."""

import json
import os
from pathlib import Path

import pytest

from siding.agents.transcripts.homes import subagents_of

DAY = "sessions/2026/11/25"
SINCE_MS = 1_795_600_000_000  # within that day


def rollout(home: Path, day: str, name: str, **meta: object) -> Path:
    path = home / day / f"rollout-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n{}\n")
    os.utime(path, ns=(0, (SINCE_MS + 1000) * 1_000_000))
    return path


def subagent(home: Path, day: str, name: str, session: str = "s") -> Path:
    return rollout(home, day, name, session_id=session, id=name, thread_source="subagent")


def test_of_codex_those_that_name_the_conversation(tmp_path: Path) -> None:
    own = rollout(tmp_path, DAY, "s", session_id="s", id="s", thread_source="user")
    wanted = {
        subagent(tmp_path, DAY, "one"),
        subagent(tmp_path, "sessions/2026/11/26", "a-day-later"),
    }
    subagent(tmp_path, DAY, "of-another", session="t")
    subagent(tmp_path, "sessions/2026/11/23", "of-days-before")
    rollout(tmp_path, DAY, "a-fork", session_id="s", id="f", thread_source="user")
    idle = subagent(tmp_path, DAY, "idle-since")
    os.utime(idle, ns=(0, (SINCE_MS - 1000) * 1_000_000))
    for name, odd in (("no-json", b"\xff\n"), ("a-list", b"[]\n"), ("empty", b"")):
        rollout(tmp_path, DAY, name).write_bytes(odd)
    planted = tmp_path / DAY
    os.mkfifo(planted / "rollout-pipe.jsonl")
    (planted / "rollout-link.jsonl").symlink_to(next(iter(wanted)))
    (planted / "rollout-directory.jsonl").mkdir()
    assert set(subagents_of("codex", own, "s", SINCE_MS)) == wanted


def test_of_codex_none_is_older_than_its_conversation(tmp_path: Path) -> None:
    own = rollout(tmp_path, DAY, "s", session_id="s", id="s", thread_source="user")
    subagent(tmp_path, "sessions/2026/11/24", "the-day-before")
    assert not list(subagents_of("codex", own, "s", 0))


def test_of_gemini_those_in_its_directory(tmp_path: Path) -> None:
    own = tmp_path / "chats" / "session-2026-11-25T01-53-abc.jsonl"
    (tmp_path / "chats" / "abc-def").mkdir(parents=True)
    own.touch()
    wanted = tmp_path / "chats" / "abc-def" / "one.jsonl"
    wanted.touch()
    assert list(subagents_of("gemini", own, "abc-def", 0)) == [wanted]


@pytest.mark.parametrize("session", ["", "..", "../chats", "/etc", "a/b"])
def test_a_session_is_a_name_and_no_path(tmp_path: Path, session: str) -> None:
    own = tmp_path / "chats" / "session-a.jsonl"
    own.parent.mkdir()
    own.touch()
    (tmp_path / "one.jsonl").touch()
    assert not list(subagents_of("gemini", own, session, 0))
