"""Import and export chat files of the Gemini CLI (seen in 0.61.0).

New files are JSON lines: first a line about the session, then one line for each message, which is
written again, whole, when the message changes. ``{"$set": …}`` changes the session and can hold the
messages it starts with. ``{"$rewindTo": id}`` withdraws that message and all after it. A tool's
result is there twice: with its call, and as a user message. Old files are one JSON document with a
list of messages.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from siding.agents.transcripts.branches import rewind_line
from siding.agents.transcripts.foreign import (
    ORIGIN,
    Gathering,
    Imported,
    given_back,
    is_context,
    lines_of,
    origin_of,
    without_origin,
)
from siding.agents.transcripts.interchange import Converted, Interchange
from siding.agents.transcripts.kinds import ASSISTANT, SYSTEM, USER, Record
from siding.agents.transcripts.messages import text_of, tool_results, tool_uses
from siding.ground.hashing import sha256_hex
from siding.ground.storage.codec import NotJson, parse_object

FORM = "gemini"
DOCUMENT = "gemini-document"  # an old file as a whole
_NO_LINE: Final = {"format": FORM, "line": None}


def imported(data: bytes, *, session_id: str, cwd: str = "") -> Imported:
    """Return the conversation in a chat file. `session_id` is used if the file names none.

    `cwd` is the directory the program worked in; the file does not say it.
    """
    document = _parsed(data)
    if isinstance(document.get("messages"), list):
        gathering = _gathering(document, session_id, cwd)
        gathering.form = DOCUMENT
        gathering.add_foreign_line(data.decode("utf-8", "surrogateescape"))
        gathering.form = FORM
        for message in _dicts(document["messages"]):
            _take_message(gathering, message, None)
        for record in gathering.records:
            record.setdefault(ORIGIN, {"format": DOCUMENT, "line": None})
        return gathering.done()
    lines = lines_of(data)
    parsed = [_parsed(line.encode("utf-8", "surrogateescape")) for line in lines]
    meta = next((each for each in parsed if "sessionId" in each and "id" not in each), {})
    gathering = _gathering(meta, session_id, cwd)
    for number, (line, record) in enumerate(zip(lines, parsed, strict=True)):
        if isinstance(record.get("id"), str):
            _take_message(gathering, record, line)
        elif isinstance(record.get("$rewindTo"), str):
            _take_rewind(gathering, record["$rewindTo"], number, line)
        else:
            gathering.add_foreign_line(line)
            _take_set(gathering, record.get("$set"))
    return gathering.done()


def exported(records: list[Record]) -> list[str]:
    """Return the lines of a chat file.

    An imported old file to which nothing was added is its one document again.
    """
    whole = next((each for each in records if each.get("format") == DOCUMENT), None)
    if whole is not None:
        added = [
            each
            for each in records
            if each.get("type") in (USER, ASSISTANT) and origin_of(each) is None
        ]
        if not added:
            return [str(whole["line"]).removesuffix("\n")]
        records = [_without_line(each, DOCUMENT) for each in records]
    if not any(_holds_messages(each) for each in records):
        # A copy of a conversation has no lines but those of its messages: what a `$set` held is
        # written anew. (Results of tools are in the line of their calls.)
        records = [_without_line(each, FORM) for each in records]
    results = {
        str(each.get("tool_use_id")): each for record in records for each in tool_results(record)
    }
    lines = given_back(records, FORM, partial(_message_lines, results=results))
    if not any('"sessionId"' in line for line in lines[:1]):
        first = next((each for each in records if each.get("uuid")), {})
        meta = {
            "sessionId": first.get("sessionId"),
            "projectHash": sha256_hex(str(first.get("cwd", "")).encode()),
            "startTime": first.get("timestamp"),
            "lastUpdated": records[-1].get("timestamp") or first.get("timestamp"),
            "kind": "main",  # Gemini CLI 0.61.0 takes a file without it for damaged and removes it
        }
        lines.insert(0, json.dumps(meta, ensure_ascii=False))
    return lines


def _without_line(record: Record, form: str) -> Record:
    """Return the record as one written here, if another line of `form` was to give it back."""
    origin = origin_of(record) or {}
    is_held = origin.get("format") == form and not isinstance(origin.get("line"), str)
    return without_origin(record) if is_held else record


def _holds_messages(record: Record) -> bool:
    """Tell whether a line that is no message has messages in it."""
    if record.get("type") != "foreign-line":
        return False
    changed = _parsed(str(record.get("line", "")).encode("utf-8", "surrogateescape")).get("$set")
    return isinstance(changed, dict) and bool(_dicts(changed.get("messages")))


def _gathering(meta: Record, session_id: str, cwd: str) -> Gathering:
    gathering = Gathering(FORM, str(meta.get("sessionId") or session_id))
    gathering.stamps = {"userType": "external", "entrypoint": FORM, "version": "0.0.0"}
    if cwd:
        gathering.stamps["cwd"] = cwd
    return gathering


def _take_message(gathering: Gathering, message: Record, line: str | None) -> None:
    kind = message.get("type")
    uuid = gathering.id_of(message.get("id"))
    when = message.get("timestamp")
    if kind == USER:
        _take_prompt(gathering, message, uuid, line)
    elif kind == "gemini":
        gathering.add(ASSISTANT, uuid, when, line, message=_answer(message, uuid))
        results = _results(message)
        if results:
            answers = gathering.add(
                USER,
                gathering.id_of(f"{message.get('id')}.results"),
                when,
                None,
                message={"role": USER, "content": results},
            )
            answers[ORIGIN] = _NO_LINE  # the record of the calls carries the original line
            gathering.answered |= {str(each["tool_use_id"]) for each in results}
    else:
        shown = _text(message.get("content"))
        gathering.add(SYSTEM, uuid, when, line, subtype=str(kind or "info"), content=shown)


def _take_prompt(gathering: Gathering, message: Record, uuid: str, line: str | None) -> None:
    """Add a user message: a prompt, or the tool results that did not come with their calls."""
    content: str | list[Record] = _text(message.get("content"))
    more: Record = {"isMeta": True} if is_context(str(content)) else {}
    responses = _responses(message.get("content"))
    if responses and not content:
        content = [
            {
                "type": "tool_result",
                "tool_use_id": str(each.get("id")),
                "content": _response_text(each),
            }
            for each in responses
            if str(each.get("id")) not in gathering.answered
        ]
        if not content:
            if line is not None:
                gathering.add_foreign_line(line)
            return
    when = message.get("timestamp")
    gathering.add(USER, uuid, when, line, message={"role": USER, "content": content}, **more)


def _take_set(gathering: Gathering, changed: object) -> None:
    """Add the messages in a ``$set`` line. The line itself is kept as a `foreign-line`."""
    count = len(gathering.records)
    for message in _dicts(changed.get("messages") if isinstance(changed, dict) else None):
        if not gathering.knows(gathering.id_of(message.get("id"))):
            _take_message(gathering, message, None)
    for record in gathering.records[count:]:
        record[ORIGIN] = _NO_LINE


def _take_rewind(gathering: Gathering, message: str, number: int, line: str) -> None:
    """Add a rewind to the parent of `message`. Such a line has no time: it gets the newest one."""
    uuid = gathering.id_of(message)
    target = gathering.parent_of(uuid) if gathering.knows(uuid) else None
    newest = max((str(each.get("timestamp", "")) for each in gathering.records), default="")
    mark = rewind_line(target, uuid=gathering.id_of(f"{number}.rewind"), now=newest)
    gathering.cursor = target
    gathering.add(
        SYSTEM,
        mark["uuid"],
        mark["timestamp"],
        line,
        subtype=mark["subtype"],
        content=mark["content"],
        isMeta=True,
    )


def _answer(message: Record, uuid: str) -> Record:
    blocks: list[Record] = []
    for thought in _dicts(message.get("thoughts")):
        text = f"{thought.get('subject', '')}\n{thought.get('description', '')}".strip()
        blocks.append({"type": "thinking", "thinking": text, "signature": ""})
    text = _text(message.get("content"))
    if text:
        blocks.append({"type": "text", "text": text})
    blocks += [
        {
            "type": "tool_use",
            "id": str(call.get("id")),
            "name": str(call.get("name")),
            "input": call.get("args") if isinstance(call.get("args"), dict) else {},
        }
        for call in _dicts(message.get("toolCalls"))
    ]
    answer: Record = {"id": uuid, "role": ASSISTANT, "content": blocks}
    if isinstance(message.get("model"), str):
        answer["model"] = message["model"]
    tokens = message.get("tokens")
    if isinstance(tokens, dict):
        answer["usage"] = _usage(tokens)
    return answer


def _usage(tokens: Record) -> Record:
    def count(key: str) -> int:
        return tokens[key] if isinstance(tokens.get(key), int) else 0

    return {
        "input_tokens": max(0, count("input") - count("cached")),
        "cache_read_input_tokens": count("cached"),
        "output_tokens": count("output") + count("thoughts"),
    }


def _results(message: Record) -> list[Record]:
    return [
        {
            "type": "tool_result",
            "tool_use_id": str(call.get("id")),
            "content": _result_text(call),
            **({"is_error": True} if call.get("status") in ("error", "cancelled") else {}),
        }
        for call in _dicts(message.get("toolCalls"))
        if call.get("result") is not None or call.get("status") in ("error", "cancelled")
    ]


def _result_text(call: Record) -> str:
    shown = call.get("resultDisplay")
    if isinstance(shown, str):
        return shown
    responses = _responses(call.get("result"))
    if responses:
        return "\n".join(map(_response_text, responses))
    return json.dumps(call.get("result"), ensure_ascii=False)


def _responses(parts: object) -> list[Record]:
    """Return the results of tools among the parts."""
    found = (part.get("functionResponse") for part in _dicts(parts))
    return [each for each in found if isinstance(each, dict)]


def _response_text(response: Record) -> str:
    """Return the text of a tool's answer, as the model got it."""
    body = response.get("response")
    for key in ("output", "error"):
        if isinstance(body, dict) and isinstance(body.get(key), str):
            return str(body[key])
    return json.dumps(body, ensure_ascii=False)


def _text(content: object) -> str:
    """Return the text of a part, a list of parts, or a text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [
        part if isinstance(part, str) else part.get("text", "")
        for part in parts
        if isinstance(part, str | dict)
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _dicts(value: object) -> list[Record]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _parsed(data: bytes) -> Record:
    try:
        return parse_object(data)
    except NotJson:
        return {}


def _message_lines(record: Record, results: Mapping[str, Record]) -> list[str]:
    """Return the line that says what a message written here says, each call with its result.

    [] when the message has neither text nor calls. `results`: the tool results by call id.
    """
    calls = [_call(each, results.get(str(each.get("id")))) for each in tool_uses(record)]
    text = text_of(record)
    if not text and not calls:
        return []
    message: Record = {
        "id": record.get("uuid"),
        "timestamp": record.get("timestamp"),
        "type": USER if record["type"] == USER else "gemini",
        "content": [{"text": text}] if record["type"] == USER else text,
    }
    if calls:
        message["toolCalls"] = calls
    return [json.dumps(message, ensure_ascii=False)]


def _call(call: Record, result: Record | None) -> Record:
    written: Record = {"id": call.get("id"), "name": call.get("name"), "args": call.get("input")}
    if result is not None:
        said = result.get("content")
        text = said if isinstance(said, str) else _text(said)
        failed = result.get("is_error") is True
        response = {"error" if failed else "output": text}
        function = {"id": written["id"], "name": written["name"], "response": response}
        written["result"] = [{"functionResponse": function}]
        written["status"] = "error" if failed else "success"
    return written


def _is_one(record: Record) -> bool:
    return "projectHash" in record or "$set" in record or isinstance(record.get("messages"), list)


def _made(path: Path, data: bytes, cwd: str) -> tuple[Imported, str]:
    return imported(data, session_id=path.stem, cwd=cwd), ""


def _named(began: str, session_id: str) -> str:
    return f"session-{began[:16]}-{session_id[:8]}.jsonl"


INTERCHANGE: Interchange = Converted(FORM, _is_one, _made, exported, _named)
