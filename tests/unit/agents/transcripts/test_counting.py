"""Every call is counted once, and the numbers mean the same for all clients."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from siding.agents.transcripts.counting import (
    Tokens,
    alone,
    counted_files,
    counting_of,
    read_file,
)
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.spending import Spent, spent_in

from .building import at, said, written

CODEX = "01a1ff89-92f3-7423-bc64-2bf12cae83c7"


def answer(uuid: str, message: str, tokens: int, **more: object) -> Record:
    body = {
        "id": message,
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": uuid}],
        "usage": {"input_tokens": tokens, "output_tokens": 1},
    }
    return said(uuid, None, 1, "assistant", message=body, requestId="r", **more)


def state(tokens: int, model: str = "claude-x") -> Record:
    use = {"inputTokens": tokens, "outputTokens": 0}
    return {"type": "cost-state", "timestamp": at(9), "modelUsage": {model: use}}


def counted(tmp_path: Path, client: str, **files: list[Record]) -> list[Spent]:
    places = []
    tmp_path.mkdir(exist_ok=True)
    for order, (name, records) in enumerate(files.items()):
        path = written(tmp_path / f"{name}.jsonl", records)
        os.utime(path, (order, order))
        places.append(alone(client, path))
    return spent_in(counted_files(tmp_path / "cache", places))


def spent(tmp_path: Path, **sessions: list[Record]) -> list[Spent]:
    return counted(tmp_path, "claude", **sessions)


def tokens_of(found: list[Spent]) -> Tokens:
    total = Tokens()
    for each in found:
        total = total.plus(each.call.tokens)
    return total


def test_the_lines_of_one_answer_count_once_and_the_larger_usage_wins(tmp_path: Path) -> None:
    (found,) = spent(tmp_path, s=[answer("a", "M", 5), answer("b", "M", 70), answer("c", "M", 9)])
    assert found.call.tokens == Tokens(input=70, output=1, calls=1)
    assert (found.call.model, found.hidden, found.session) == ("claude-x", False, "s")
    assert found.call.cwd == ""
    (held,) = spent(tmp_path / "held", s=[answer("a", "M", 5, cwd="/w")])
    assert held.call.cwd == "/w"


def test_the_lines_of_each_answer_count_once_wherever_it_stands(tmp_path: Path) -> None:
    lines = [("M", 5), ("N", 7), ("N", 70), ("N", 8), ("O", 3), ("O", 2)]
    found = spent(tmp_path, s=[answer(f"u{n}", *line) for n, line in enumerate(lines)])
    assert [each.call.tokens.input for each in found] == [5, 70, 3]
    (read,) = read_file(alone("claude", tmp_path / "s.jsonl")).conversations
    assert [call.tokens.input for call in read.calls] == [5, 70, 3]  # what is kept of it


def test_copies_in_a_fork_count_for_the_conversation_they_were_made_in(tmp_path: Path) -> None:
    forked = answer("a", "M", 100, forkedFrom={"sessionId": "parent", "messageUuid": "a"})
    found = spent(tmp_path, fork=[forked, answer("b", "N", 7)], parent=[answer("a", "M", 100)])
    assert {each.session: each.call.tokens.input for each in found} == {"parent": 100, "fork": 7}
    alone = spent(tmp_path / "alone", fork=[forked, answer("b", "N", 7)])  # the parent is gone
    assert tokens_of(alone).input == 107


def test_calls_in_no_line_are_the_difference_to_the_running_total(tmp_path: Path) -> None:
    found = spent(
        tmp_path,
        parent=[answer("a", "M", 700), state(1000), state(1600, "claude-x[1m]")],
        fork=[answer("a", "M", 700), answer("b", "N", 50), state(1690, "claude-x[1m]")],
    )
    hidden = {each.session: each.call.tokens.input for each in found if each.hidden}
    assert hidden == {"parent": 900, "fork": 40}
    assert tokens_of(found).input == 1690


def test_a_total_below_what_the_lines_say_hides_nothing(tmp_path: Path) -> None:
    found = spent(tmp_path, s=[answer("a", "M", 700), state(3)])
    assert [each.hidden for each in found] == [False]


def test_odd_and_synthetic_lines_are_not_counted(tmp_path: Path) -> None:
    odd = answer("a", "M", 5)
    odd["message"]["usage"]["input_tokens"] = "5"
    made_up = answer("b", "N", 5)
    made_up["message"]["model"] = "<synthetic>"
    user = said("u", None, 1, message={"role": "user", "content": '"usage"'})
    assert spent(tmp_path, s=[odd, made_up, user]) == []


def test_what_a_cache_keeps_for_an_hour_is_told_apart(tmp_path: Path) -> None:
    record = answer("a", "M", 1)
    record["message"]["usage"] |= {
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_1h_input_tokens": 10, "ephemeral_5m_input_tokens": 20},
    }
    found = tokens_of(spent(tmp_path, s=[record]))
    assert (found.cache_read, found.cache_write_5m, found.cache_write_1h) == (4, 20, 10)
    assert (found.sent, found.total) == (35, 36)


def test_the_prompts_of_a_person_number_the_turns(tmp_path: Path) -> None:
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}
    lines = [
        said("u1", None, 1),
        answer("a", "A", 1),
        said("r", None, 1, message=result),
        answer("b", "B", 1),
        said("u2", None, 1),
        answer("c", "C", 1),
    ]
    assert [each.call.turn for each in spent(tmp_path, s=lines)] == [1, 1, 2]


def usage(sent: int, cached: int = 0, output: int = 0, reasoning: int = 0) -> dict[str, int]:
    return {
        "input_tokens": sent,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
    }


def rollout(session: str, *counts: tuple[Any, Any], parent: str | None = None) -> list[Record]:
    def line(kind: str, payload: object, second: int = 1) -> Record:
        return {"timestamp": at(second), "type": kind, "payload": payload}

    meta = {"id": session, "cwd": "/w", "model_provider": "openai", "forked_from_id": parent}
    lines = [line("session_meta", meta), line("turn_context", {"model": "gpt-x", "cwd": "/w"})]
    for number, (total, last) in enumerate(counts):
        info = {"total_token_usage": total, "last_token_usage": last}
        second = 1 if parent and number == 0 else 10 + number
        lines.append(line("event_msg", {"type": "token_count", "info": info}, second))
    return lines


def test_codex_counts_a_running_total_that_it_may_say_again(tmp_path: Path) -> None:
    first, second = usage(100, 40, 20, 5), usage(300, 140, 50, 5)
    lines = rollout(CODEX, (first, first), (first, first), (second, usage(200, 100, 30)))
    found = counted(tmp_path, "codex", x=lines)
    assert tokens_of(found) == Tokens(input=160, cache_read=140, output=50, reasoning=5, calls=2)
    assert {(each.session, each.call.model, each.call.cwd) for each in found} == {
        (CODEX, "gpt-x", "/w")
    }


def test_a_fork_of_codex_begins_with_the_total_of_its_parent(tmp_path: Path) -> None:
    fork = rollout("fork", (usage(8700), usage(1700)), (usage(9000), usage(300)), parent=CODEX)
    found = counted(tmp_path, "codex", a=rollout(CODEX, (usage(7000), usage(7000))), b=fork)
    assert {each.session: each.call.tokens.input for each in found[:2]} == {
        CODEX: 7000,
        "fork": 1700,
    }
    assert tokens_of(found).input == 9000


def test_what_a_fork_of_codex_copied_counts_for_its_parent(tmp_path: Path) -> None:
    copied = (usage(7000), usage(7000))
    fork = rollout("fork", copied, (usage(8700), usage(1700)), parent=CODEX)
    found = counted(tmp_path, "codex", a=rollout(CODEX, copied), b=fork)
    assert tokens_of(found).input == 8700


def test_conversations_of_codex_that_used_the_same_are_two(tmp_path: Path) -> None:
    same = (usage(7000), usage(7000))
    found = counted(tmp_path, "codex", a=rollout(CODEX, same), b=rollout("other", same))
    assert tokens_of(found).input == 14000


@pytest.mark.parametrize(
    ("client", "env", "path"),
    [
        ("opencode", {}, "/h/.local/share/opencode/opencode.db"),
        ("opencode", {"XDG_DATA_HOME": "/d"}, "/d/opencode/opencode.db"),
        ("aider", {"AIDER_ANALYTICS_LOG": "/l"}, "/l"),
        ("aider", {}, ""),
        ("claude", {}, ""),
    ],
)
def test_what_is_counted_beside_the_homes(client: str, env: dict[str, str], path: str) -> None:
    others = counting_of(client).others(env, Path("/h"))
    assert [str(each) for each in others] == [path] * bool(path)


def test_only_the_place_of_a_chat_of_gemini_names_its_checkout() -> None:
    path = Path("/h/.gemini/tmp/work-1/chats/session-1.jsonl")
    named = {client: counting_of(client).checkout(path) for client in ("claude", "gemini")}
    assert named == {"claude": "", "gemini": "work-1"}


def gemini(**tokens: int) -> Record:
    return {"id": "1", "timestamp": at(1), "type": "gemini", "model": "g", "tokens": tokens}


def test_gemini_has_thoughts_beside_its_output_and_its_cache_in_its_input(tmp_path: Path) -> None:
    first = {"sessionId": "S", "projectHash": "ab"}
    message = gemini(input=10, output=5, cached=4, thoughts=3, tool=0, total=18)
    (found,) = counted(tmp_path, "gemini", s=[first, message, message])
    assert found.call.tokens == Tokens(input=6, cache_read=4, output=8, reasoning=3, calls=1)
    assert found.session == "S"


def test_gemini_may_count_its_cache_beside_its_input(tmp_path: Path) -> None:
    (found,) = counted(tmp_path, "gemini", s=[gemini(input=10, output=5, cached=4, total=19)])
    assert found.call.tokens.input == 10


def test_an_older_document_of_gemini_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps({"sessionId": "S", "messages": [gemini(input=10, output=5)]}))
    (found,) = spent_in(counted_files(tmp_path / "cache", [alone("gemini", path)]))
    assert (found.session, found.call.tokens.input) == ("S", 10)


def opencode(path: Path, **tokens: object) -> None:
    message = {
        "role": "assistant",
        "modelID": "claude-x",
        "providerID": "anthropic",
        "time": {"created": 1_795_288_567_507},
        "path": {"cwd": "/w"},
        "cost": 0.25,
        "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 4}}
        | tokens,
    }
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        rows = [("m1", "ses", {"role": "user"}), ("m2", "ses", message), ("m3", "ses", "odd")]
        connection.executemany(
            "INSERT INTO message VALUES (?, ?, ?)",
            [(*ids, json.dumps(each)) for *ids, each in rows],
        )
    connection.close()


def test_the_database_of_opencode_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    opencode(path)
    before = path.read_bytes()
    (found,) = spent_in(counted_files(tmp_path / "cache", [alone("opencode", path)]))
    assert found.call.tokens == Tokens(
        input=10, cache_read=3, cache_write_5m=4, output=7, reasoning=2, calls=1
    )
    assert (found.session, found.call.cwd, found.call.cost) == ("ses", "/w", 0.25)
    assert path.read_bytes() == before


def test_thoughts_of_opencode_that_are_in_its_output_count_once(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    opencode(path, total=22)
    (found,) = spent_in(counted_files(tmp_path / "cache", [alone("opencode", path)]))
    assert found.call.tokens.output == 5


def test_the_log_of_aider_is_counted(tmp_path: Path) -> None:
    said_of_it = {
        "main_model": "anthropic/claude-x",
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cost": 0.1,
    }
    lines: list[Record] = [
        {"event": "message_send_starting", "time": 1, "properties": {}},
        {"event": "message_send", "time": 1_795_288_567, "properties": said_of_it},
    ]
    (found,) = counted(tmp_path, "aider", log=lines)
    assert found.call.tokens == Tokens(input=10, output=5, calls=1)
    assert (found.call.provider, found.call.model, found.call.turn) == ("anthropic", "claude-x", 1)


def test_of_a_file_that_grew_only_the_new_part_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [answer("a", "M", 5)])
    first = read_file(alone("claude", path))
    with path.open("ab") as file:
        file.write(json.dumps(answer("b", "N", 6), separators=(",", ":")).encode() + b"\n")
    # What was read before is not looked at again: a made-up start shows it.
    first.conversations[0].calls[0].model = "as it was read before"
    grown = read_file(alone("claude", path), first)
    assert [each.model for each in grown.conversations[0].calls] == [
        "as it was read before",
        "claude-x",
    ]


def test_a_file_with_another_end_is_read_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [answer("a", "M", 5), answer("b", "N", 6)])
    before = read_file(alone("claude", path))
    written(path, [answer("c", "O", 7), answer("d", "P", 8), answer("e", "Q", 9)])
    found = read_file(alone("claude", path), before).conversations[0].calls
    assert [each.tokens.input for each in found] == [7, 8, 9]


def test_an_unchanged_file_comes_from_the_cache_and_a_damaged_cache_costs_nothing(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "s.jsonl", [answer("a", "M", 5)])
    place, cache = alone("claude", path), tmp_path / "cache"
    (before,) = counted_files(cache, [place])
    path.unlink()
    (after,) = counted_files(cache, [place])
    assert after.read == before.read
    cache.write_bytes(b"no database, but as long as one has to be" * 100)
    (gone,) = counted_files(cache, [place])
    assert gone.problem
