"""Import and export rollout files of the Codex CLI (seen in 0.169.0).

A line is ``{"timestamp", "type", "payload"}``. `response_item` payloads are the messages, calls and
results of the model's API. An `event_msg` of type `token_count` carries the running total of the
whole thread; the difference to the total before it becomes the usage of the last answer. A fork's
total starts with its parent's, so its first answer takes `last_token_usage` instead.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from siding.agents.codex import forks
from siding.agents.transcripts.compaction import INTRODUCTION
from siding.agents.transcripts.foreign import (
    ORIGIN,
    Gathering,
    Imported,
    given_back,
    is_context,
    lines_of,
)
from siding.agents.transcripts.interchange import Converted, Interchange
from siding.agents.transcripts.kinds import ASSISTANT, COMPACT_BOUNDARY, SYSTEM, USER, Record
from siding.agents.transcripts.messages import blocks_of, content_of
from siding.ground.storage.codec import NotJson, parse_object

FORM = "codex"
_TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens")


def imported(data: bytes, *, session_id: str, missing: str = "") -> Imported:
    """Return the conversation in a rollout file. `session_id` is used if the file names none.

    `missing` is the conversation that has its beginning, if that is not there: it is said first.
    """
    lines = lines_of(data)
    parsed = [_parsed(line) for line in lines]
    metas = (each["payload"] for each in parsed if each.get("type") == "session_meta")
    meta: Record = next(metas, {})
    reader = _Reader(Gathering(FORM, str(meta.get("id") or session_id)))
    reader.take_meta(meta)
    if missing:
        reader.say_missing(missing, meta.get("timestamp"))
    for number, (line, record) in enumerate(zip(lines, parsed, strict=True)):
        reader.take(number, line, record)
    return reader.gathering.done()


def exported(records: list[Record]) -> list[str]:
    """Return the lines of a rollout file that says what the records say."""
    lines = given_back(records, FORM, _response_items)
    # Codex reads the session's id and directory from `session_meta`: a file needs one.
    if not any('"session_meta"' in line for line in lines[:5]):
        first = next((each for each in records if each.get("uuid")), {})
        payload = {
            "id": first.get("sessionId"),
            "timestamp": first.get("timestamp"),
            "cwd": first.get("cwd", ""),
            "originator": "siding",
            "cli_version": first.get("version", ""),
        }
        lines.insert(0, _line("session_meta", first.get("timestamp"), payload))
    return list(_in_order(lines))


def _in_order(lines: list[str]) -> Iterator[str]:
    """Yield the lines, with numbers if Codex numbers them (`history_mode` "paginated").

    It does not go on with such a file if its last line has no number. A line that has one which is
    larger than the one before it stays as it is.
    """
    last = -1
    is_numbered = "ordinal" in _parsed(lines[0]) if lines else False
    for line in lines:
        record = _parsed(line) if is_numbered else {}
        number = record.get("ordinal")
        if not record or (isinstance(number, int) and number > last):
            last = number if isinstance(number, int) else last
            yield line
            continue
        last += 1
        yield _encoded({**record, "ordinal": last})


def renamed_meta(line: str, session_id: str) -> str:
    """Return the line about a session for a copy of it with another id; "" for any other line.

    A thread of Codex keeps the provider of its model, which this line names, for good.
    """
    record = _parsed(line)
    if record.get("type") != "session_meta":
        return ""
    payload = {**record["payload"], "id": session_id}
    if "session_id" in payload:
        payload["session_id"] = session_id
    return _encoded({**record, "payload": payload})


class _Reader:
    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.model: str | None = None
        self._answer: Record | None = None  # the last answer; its `token_count` comes after it
        self._total: dict[str, int] | None = None

    def take_meta(self, meta: Record) -> None:
        git = meta.get("git")
        self.gathering.stamps = {
            "userType": "external",
            "entrypoint": FORM,
            "cwd": str(meta.get("cwd") or ""),
            "version": str(meta.get("cli_version") or "0.0.0"),
            "gitBranch": str(git.get("branch") or "") if isinstance(git, dict) else "",
        }

    def say_missing(self, conversation: str, timestamp: object) -> None:
        """Say that the beginning of a fork is not there."""
        text = (
            f"The beginning is missing: this was forked from conversation {conversation}, whose "
            "file is not there. Bring that back to see all of it."
        )
        uuid = self.gathering.id_of("beginning")
        self.gathering.add(SYSTEM, uuid, timestamp, None, subtype="informational", content=text)

    def take(self, number: int, line: str, record: Record) -> None:
        """Add one line of the rollout to the gathering."""
        payload = record.get("payload", {})
        kind = record.get("type")
        if kind == "response_item" and self._item(number, line, record, payload):
            return
        if kind == "compacted":
            self._compacted(number, line, record, payload)
            return
        if kind == "turn_context" and isinstance(payload.get("model"), str):
            self.model = payload["model"]
        if kind == "event_msg" and payload.get("type") == "token_count":
            self._count(payload.get("info"))
        self.gathering.add_foreign_line(line)

    def _item(self, number: int, line: str, record: Record, payload: Record) -> bool:
        """Add a response item; return False when it is not a message of the conversation."""
        kind = payload.get("type")
        if kind == "message" and payload.get("role") in (USER, ASSISTANT):
            blocks = _blocks(payload.get("content"))
            if payload["role"] == USER:
                hidden = any(_is_hidden(block) for block in blocks)
                self._user(number, line, record, blocks, **({"isMeta": True} if hidden else {}))
            else:
                self._assistant(number, line, record, blocks)
        elif kind == "reasoning":
            self._assistant(number, line, record, [_thought(payload)])
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._assistant(number, line, record, [_call(payload)])
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._user(number, line, record, [_result(payload)])
        else:
            return False
        return True

    def _user(
        self, number: int, line: str, record: Record, blocks: list[Record], **more: object
    ) -> None:
        message = {"role": USER, "content": blocks}
        uuid = self.gathering.id_of(number)
        self.gathering.add(USER, uuid, record.get("timestamp"), line, message=message, **more)

    def _assistant(self, number: int, line: str, record: Record, blocks: list[Record]) -> None:
        message: Record = {"role": ASSISTANT, "content": blocks}
        uuid = self.gathering.id_of(number)
        message = {"id": uuid, **message}
        if self.model:
            message["model"] = self.model
        self._answer = self.gathering.add(
            ASSISTANT, uuid, record.get("timestamp"), line, message=message
        )

    def _compacted(self, number: int, line: str, record: Record, payload: Record) -> None:
        gathering = self.gathering
        before, gathering.cursor = gathering.cursor, None
        gathering.add(
            SYSTEM,
            gathering.id_of(number),
            record.get("timestamp"),
            line,
            subtype=COMPACT_BOUNDARY,
            logicalParentUuid=before,
            content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 0},
        )
        summary = gathering.add(
            USER,
            gathering.id_of(f"{number}.summary"),
            record.get("timestamp"),
            None,
            message={"role": USER, "content": INTRODUCTION + str(payload.get("message") or "")},
            isCompactSummary=True,
        )
        summary[ORIGIN] = {"format": FORM, "line": None}  # its boundary gives the line back

    def _count(self, info: object) -> None:
        if not isinstance(info, dict) or self._answer is None:
            return
        total, last = _tokens(info.get("total_token_usage")), _tokens(info.get("last_token_usage"))
        if total is None:
            return
        if self._total is None:
            step = last or total
        else:
            step = {key: max(0, total[key] - self._total[key]) for key in _TOKENS}
        self._total = total
        message = self._answer["message"]
        usage = message.setdefault(
            "usage", {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0}
        )
        usage["input_tokens"] += max(0, step["input_tokens"] - step["cached_input_tokens"])
        usage["cache_read_input_tokens"] += step["cached_input_tokens"]
        usage["output_tokens"] += step["output_tokens"]


def _parsed(line: str) -> Record:
    try:
        record = parse_object(line.encode("utf-8", "surrogateescape"))
    except NotJson:
        return {}
    return record if isinstance(record.get("payload"), dict) else {}


def _blocks(content: object) -> list[Record]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks: list[Record] = []
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("text"), str):
            blocks.append({"type": "text", "text": part["text"]})
        elif part.get("type") == "input_image":
            source = {"type": "url", "url": part.get("image_url")}
            blocks.append({"type": "image", "source": source})
    return blocks


def _is_hidden(block: Record) -> bool:
    return is_context(str(block.get("text", "")))


def _thought(payload: Record) -> Record:
    summary = payload.get("summary")
    parts = summary if isinstance(summary, list) else []
    texts = [str(part.get("text", "")) for part in parts if isinstance(part, dict)]
    return {"type": "thinking", "thinking": "\n".join(texts), "signature": ""}


def _call(payload: Record) -> Record:
    arguments: Any = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(arguments, str):
        try:
            arguments = parse_object(arguments.encode("utf-8", "surrogateescape"))
        except NotJson:
            arguments = {"input": arguments}
    return {
        "type": "tool_use",
        "id": str(payload.get("call_id") or payload.get("id") or ""),
        "name": str(payload.get("name") or payload.get("type")),
        "input": arguments if isinstance(arguments, dict) else {},
    }


def _result(payload: Record) -> Record:
    output = payload.get("output")
    if isinstance(output, list):
        content: object = _blocks(output)
    else:
        content = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {
        "type": "tool_result",
        "tool_use_id": str(payload.get("call_id") or ""),
        "content": content,
    }


def _tokens(usage: object) -> dict[str, int] | None:
    """Return the counts in a usage object, 0 for each that is missing; None if it is no object."""
    if not isinstance(usage, dict):
        return None
    return {key: usage[key] if isinstance(usage.get(key), int) else 0 for key in _TOKENS}


def _response_items(record: Record) -> list[str]:
    """Return the rollout lines that say what a message written here says, one for each block."""
    role = str(record["type"])
    content = content_of(record)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else blocks_of(record)
    kind = "input_text" if role == USER else "output_text"
    items: list[Record] = []
    for block in blocks:
        if block.get("type") == "text":
            said = {"type": kind, "text": block.get("text")}
            items.append({"type": "message", "role": role, "content": [said]})
        elif block.get("type") == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            items.append(
                {
                    "type": "function_call",
                    "name": block.get("name"),
                    "arguments": arguments,
                    "call_id": block.get("id"),
                }
            )
        elif block.get("type") == "tool_result":
            output = block.get("content")
            shown = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": block.get("tool_use_id"),
                    "output": shown,
                }
            )
    return [_line("response_item", record.get("timestamp"), item) for item in items]


def _line(kind: str, timestamp: object, payload: Record) -> str:
    return _encoded({"timestamp": timestamp, "type": kind, "payload": payload})


def _encoded(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _first_lines(lines: Iterator[bytes], copy: str) -> tuple[Record, ...]:
    """Return the line about the session, for the copy, if there is one."""
    for raw in lines:
        if b"session_meta" not in raw:
            continue
        try:
            record = parse_object(raw)
        except NotJson:
            continue
        line = renamed_meta(str(record.get("line", "")), copy)
        if record.get("type") == "foreign-line" and line:
            return ({**record, "line": line, "sessionId": copy},)
    return ()


def _is_one(record: Record) -> bool:
    return isinstance(record.get("payload"), dict)


def _made(path: Path, data: bytes, _cwd: str) -> tuple[Imported, str]:
    data, missing = forks.whole(path, data)
    return imported(data, session_id=path.stem, missing=missing), missing


def _named(began: str, session_id: str) -> str:
    return f"rollout-{began}-{session_id}.jsonl"


# 1: a fork has its beginning.
INTERCHANGE: Interchange = Converted(
    FORM, _is_one, _made, exported, _named, _first_lines, edition=1
)
