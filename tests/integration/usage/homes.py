"""Homes of clients with a few calls in them, as the clients write them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

CODEX = "01a1ff89-92f3-7423-bc64-2bf12cae83c7"
CLAUDE = "f0da2612-e2d6-4522-b89d-8136cac40894"
FORK = "a0da2612-e2d6-4522-b89d-8136cac40894"


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write lines without spaces, as the clients do; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path


def claude(home: Path, session: str, lines: list[dict[str, Any]]) -> Path:
    """Write a transcript of Claude Code."""
    named = [{**line, "sessionId": session} for line in lines]
    return written(home / ".claude" / "projects" / "-w" / f"{session}.jsonl", named)


def asked(at: str, cwd: str = "/w") -> dict[str, Any]:
    """Return a prompt."""
    message = {"role": "user", "content": "do it"}
    return {"type": "user", "uuid": f"u{at}", "timestamp": at, "cwd": cwd, "message": message}


def answered(
    at: str,
    message: str,
    tokens: int,
    *,
    model: str = "claude-opus-4-8",
    cwd: str = "/w",
) -> dict[str, Any]:
    """Return a line of an answer of Claude."""
    usage = {"input_tokens": tokens, "output_tokens": 10}
    body = {"id": message, "role": "assistant", "model": model, "usage": usage, "content": []}
    return {
        "type": "assistant",
        "uuid": f"{message}{at}",
        "requestId": f"r-{message}",
        "timestamp": at,
        "cwd": cwd,
        "version": "2.1.329",
        "message": body,
    }


def running_total(at: str, tokens: int, output: int) -> dict[str, Any]:
    """Return the line of Claude Code's running total."""
    use = {
        "inputTokens": tokens,
        "outputTokens": output,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
    }
    return {"type": "cost-state", "timestamp": at, "modelUsage": {"claude-opus-4-8": use}}


def codex(home: Path, session: str, *counts: tuple[str, int, int], cached: int = 0) -> Path:
    """Write a rollout of Codex; of each count its time, the total of the thread and the last."""

    def usage(sent: int) -> dict[str, int]:
        return {
            "input_tokens": sent,
            "cached_input_tokens": cached,
            "output_tokens": 10,
            "reasoning_output_tokens": 5,
            "total_tokens": sent + 10,
        }

    first = counts[0][0]
    meta = {"id": session, "cwd": "/w", "model_provider": "openai", "cli_version": "0.169.0"}
    lines: list[dict[str, Any]] = [
        {"timestamp": first, "type": "session_meta", "payload": meta},
        {"timestamp": first, "type": "turn_context", "payload": {"model": "gpt-5.5", "cwd": "/w"}},
    ]
    for number, (at, total, last) in enumerate(counts, 1):
        said = usage(total)
        said["output_tokens"] = 10 * number
        said["reasoning_output_tokens"] = 5 * number
        said["cached_input_tokens"] = cached * number
        info = {"total_token_usage": said, "last_token_usage": usage(last)}
        payload = {"type": "token_count", "info": info}
        lines.append({"timestamp": at, "type": "event_msg", "payload": payload})
    day = home / ".codex" / "sessions" / first[:4] / first[5:7] / first[8:10]
    return written(day / f"rollout-{first[:19].replace(':', '-')}-{session}.jsonl", lines)


def gemini(home: Path, session: str, at: str, cwd: str = "/w") -> Path:
    """Write a conversation of Gemini CLI with one call, with thoughts and a cache."""
    tokens = {"input": 100, "output": 20, "cached": 40, "thoughts": 7, "tool": 0, "total": 127}
    place = home / ".gemini" / "tmp" / "w"
    place.mkdir(parents=True, exist_ok=True)
    (place / ".project_root").write_text(cwd, encoding="utf-8")
    lines: list[dict[str, Any]] = [
        {"sessionId": session, "projectHash": "ab", "startTime": at},
        {"id": "1", "timestamp": at, "type": "user", "content": [{"text": "do it"}]},
        {
            "id": "2",
            "timestamp": at,
            "type": "gemini",
            "content": "done",
            "model": "gemini-2.5-pro",
            "tokens": tokens,
        },
    ]
    return written(place / "chats" / f"session-{session}.jsonl", lines)


def opencode(home: Path, at_ms: int) -> Path:
    """Write the database of opencode with one call."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    message = {
        "role": "assistant",
        "modelID": "claude-opus-4-8",
        "providerID": "anthropic",
        "time": {"created": at_ms},
        "path": {"cwd": "/w"},
        "cost": 0,
        "tokens": {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 3, "write": 4}},
    }
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)")
        row = ("msg_1", "ses_1", json.dumps(message))
        connection.execute("INSERT INTO message VALUES (?, ?, ?)", row)
    return path
