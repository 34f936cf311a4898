"""Transcripts are found in the homes of three clients, and the subagents of a conversation."""

import json
import os
from pathlib import Path

import pytest

from client_homes import bytes_below, fill, place, put, session_id
from siding.agents.transcripts.homes import FoundTranscript, found, subagents_of


def paths_of(home: Path, **environ: str) -> dict[Path, FoundTranscript]:
    all_found = list(found(environ, home))
    named = {each.path: each for each in all_found}
    assert len(named) == len(all_found)
    return named


def test_every_transcript_of_three_clients_is_found_and_none_is_touched(tmp_path: Path) -> None:
    written = fill(tmp_path, 500)
    before = bytes_below(tmp_path)
    seen = paths_of(tmp_path)
    assert set(seen) == set(written)
    for each in seen.values():
        status = each.path.stat()
        assert (each.size, each.mtime_ns) == (status.st_size, status.st_mtime_ns)
        assert not each.is_subagent
    assert {each.client for each in seen.values()} == {"claude", "codex", "gemini"}
    assert bytes_below(tmp_path) == before


def test_subagents_are_told_from_the_conversations_they_are_part_of(tmp_path: Path) -> None:
    main = put(tmp_path, "claude", 1)
    beside = main.with_suffix("") / "subagents" / "workflows" / "one" / "agent-a1.jsonl"
    chat = put(tmp_path, "gemini", 2)
    below = chat.parent / session_id(2) / "sub.jsonl"
    for path in (beside, below):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}\n")
    seen = paths_of(tmp_path)
    assert {path for path, each in seen.items() if each.is_subagent} == {beside, below}
    assert set(seen) == {main, chat, beside, below}


def test_homes_that_variables_name_are_read_instead(tmp_path: Path) -> None:
    put(tmp_path, "claude", 1)
    there = tmp_path / "there"
    moved = fill(there, 3)
    seen = paths_of(
        tmp_path,
        CLAUDE_CONFIG_DIR=str(there / ".claude"),
        CODEX_HOME=str(there / ".codex"),
        GEMINI_CLI_HOME=str(there),
    )
    assert set(seen) == set(moved)


def test_archived_sessions_and_old_documents_are_found(tmp_path: Path) -> None:
    archived = tmp_path / ".codex" / "archived_sessions" / f"rollout-x-{session_id(1)}.jsonl"
    document = place(tmp_path, "gemini", session_id(2)).with_suffix(".json")
    for path in (archived, document):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}")
    assert set(paths_of(tmp_path)) == {archived, document}


def test_links_pipes_and_unreadable_directories_stop_nothing(tmp_path: Path) -> None:
    written = fill(tmp_path, 6)
    put(tmp_path, "claude", 99, cwd="/other/project")
    closed = place(tmp_path, "claude", session_id(99), cwd="/other/project").parent
    projects = tmp_path / ".claude" / "projects"
    (projects / "loop").symlink_to(projects)
    (projects / "in" / "x" / "subagents").mkdir(parents=True)
    (projects / "in" / "x" / "subagents" / "loop").symlink_to(projects / "in")
    (tmp_path / ".codex" / "sessions" / "2026" / "loop").symlink_to(tmp_path / ".codex")
    os.mkfifo(projects / "in" / "pipe.jsonl")
    (projects / "in" / "gone.jsonl").symlink_to("/nowhere")
    (projects / "in" / "會話.jsonl").write_bytes(b"")
    reported: list[OSError] = []
    closed.chmod(0)
    try:
        seen = {each.path for each in found({}, tmp_path, report=reported.append)}
        readable = os.access(closed, os.R_OK)  # root reads everything
    finally:
        closed.chmod(0o700)
    others = {closed / f"{session_id(99)}.jsonl"} if readable else set()
    assert seen == {*written, projects / "in" / "會話.jsonl"} | others
    assert [each.filename for each in reported] == ([] if readable else [str(closed)])


def test_homes_that_are_not_there_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / ".codex").write_text("a file", encoding="utf-8")
    assert not paths_of(tmp_path)


# -- The subagents of a conversation, and those of no other one ------------------------------------

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
