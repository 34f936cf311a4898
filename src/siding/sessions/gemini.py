"""Chat files of the Gemini CLI.

New files are JSON lines: a first line about the session, a line a message (again, whole, when it
changes), ``{"$set": …}`` for changes of the session, ``{"$rewindTo": id}`` which takes that message
and all after it back. Old files are one JSON document with a list of messages.
"""

import json

from siding.sessions.branching import rewind_line
from siding.sessions.foreign import Gathering, Imported, given_back, lines_of
from siding.sessions.kinds import ASSISTANT, SYSTEM, USER, Record
from siding.sessions.messages import blocks_of, text_of
from siding.storage.codec import NotJson, parse_object

FORM = "gemini"
DOCUMENT = "gemini-document"  # an old file as a whole


def imported(data: bytes, *, session_id: str) -> Imported:
    """Return the conversation in a chat file. `session_id` counts when the file names none."""
    document = _parsed(data)
    if isinstance(document.get("messages"), list):
        gathering = _gathering(document, session_id)
        gathering.form = DOCUMENT
        gathering.keep(data.decode("utf-8", "surrogateescape"))
        gathering.form = FORM
        for message in document["messages"]:
            if isinstance(message, dict):
                _take_message(gathering, message, None)
        for record in gathering.records:
            record.setdefault("origin", {"format": DOCUMENT, "line": None})
        return gathering.done()
    lines = lines_of(data)
    parsed = [_parsed(line.encode("utf-8", "surrogateescape")) for line in lines]
    meta = next((each for each in parsed if "sessionId" in each and "id" not in each), {})
    gathering = _gathering(meta, session_id)
    for number, (line, record) in enumerate(zip(lines, parsed, strict=True)):
        if isinstance(record.get("id"), str):
            _take_message(gathering, record, line)
        elif isinstance(record.get("$rewindTo"), str):
            _take_rewind(gathering, record["$rewindTo"], number, line)
        else:
            gathering.keep(line)
    return gathering.done()


def exported(records: list[Record]) -> list[str]:
    """Return the lines of a chat file; of an old file its one document, if nothing was added."""
    whole = next((each for each in records if each.get("format") == DOCUMENT), None)
    if whole is not None:
        added = [each for each in records if each.get("type") in (USER, ASSISTANT)
                 and "origin" not in each]  # fmt: skip
        if not added:
            return [str(whole["line"]).removesuffix("\n")]
        for each in records:
            if each.get("origin") == {"format": DOCUMENT, "line": None}:
                del each["origin"]
    lines = given_back(records, FORM, _written)
    if not any('"sessionId"' in line for line in lines[:1]):
        first = next((each for each in records if each.get("uuid")), {})
        meta = {
            "sessionId": first.get("sessionId"),
            "projectHash": "",
            "startTime": first.get("timestamp"),
            "lastUpdated": first.get("timestamp"),
        }
        lines.insert(0, json.dumps(meta, ensure_ascii=False))
    return lines


def _gathering(meta: Record, session_id: str) -> Gathering:
    gathering = Gathering(FORM, str(meta.get("sessionId") or session_id))
    gathering.stamps = {"userType": "external", "entrypoint": FORM, "version": "0.0.0"}
    return gathering


def _take_message(gathering: Gathering, message: Record, line: str | None) -> None:
    kind = message.get("type")
    uuid = gathering.id_of(message.get("id"))
    when = message.get("timestamp")
    if kind == USER:
        content = _text(message.get("content"))
        gathering.add(USER, uuid, when, line, message={"role": USER, "content": content})
    elif kind == "gemini":
        gathering.add(ASSISTANT, uuid, when, line, message=_answer(message, uuid))
        results = _results(message)
        if results:
            told = gathering.add(
                USER,
                gathering.id_of(f"{message.get('id')}.results"),
                when,
                None,
                message={"role": USER, "content": results},
            )
            told["origin"] = {"format": FORM, "line": None}  # its answer gives the line back
    else:
        shown = _text(message.get("content"))
        gathering.add(SYSTEM, uuid, when, line, subtype=str(kind or "info"), content=shown)


def _take_rewind(gathering: Gathering, message: str, number: int, line: str) -> None:
    uuid = gathering.id_of(message)
    target = gathering.parent_of(uuid) if gathering.knows(uuid) else None
    newest = max((str(each.get("timestamp", "")) for each in gathering.records), default="")
    mark = rewind_line(target, uuid=gathering.id_of(f"{number}.rewind"), now=newest)
    gathering.cursor = target
    gathering.add(
        SYSTEM, mark["uuid"], mark["timestamp"], line, subtype=mark["subtype"],
        content=mark["content"], isMeta=True,
    )  # fmt: skip


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
    return json.dumps(call.get("result"), ensure_ascii=False)


def _text(content: object) -> str:
    """Return the text of a part, a list of parts, or a text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else part.get("text", "") for part in parts
             if isinstance(part, str | dict)]  # fmt: skip
    return "".join(text for text in texts if isinstance(text, str))


def _dicts(value: object) -> list[Record]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _parsed(data: bytes) -> Record:
    try:
        return parse_object(data)
    except NotJson:
        return {}


def _written(record: Record) -> list[str]:
    """Return the message record that says what a message of ours says."""
    calls = [
        {"id": block.get("id"), "name": block.get("name"), "args": block.get("input")}
        for block in blocks_of(record)
        if block.get("type") == "tool_use"
    ]
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
