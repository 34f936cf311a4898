"""Small conversations for tests."""

from itertools import count
from pathlib import Path
from typing import Any

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp, Writer
from siding.ground.storage.writes import encode_line

SESSION = "11111111-1111-4111-8111-111111111111"
STAMP = Stamp(cwd="/w", version="0.1.0", git_branch="main")


def at(second: float) -> str:
    """Return a time that many seconds into the first day of 2026."""
    minutes, rest = divmod(second, 60)
    return f"2026-01-01T{int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{rest:06.3f}Z"


def said(uuid: str, parent: str | None, second: float, kind: str = "user", **more: Any) -> Record:
    """Return a message of the person (`kind` user) or the model (assistant), or a system line."""
    record: Record = {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "uuid": uuid,
        "timestamp": at(second),
        "sessionId": SESSION,
    }
    if kind == "user":
        record["message"] = {"role": "user", "content": f"words of {uuid}"}
    elif kind == "assistant":
        content = [{"type": "text", "text": f"answer {uuid}"}]
        record["message"] = {"id": f"m-{uuid}", "role": "assistant", "content": content}
    return record | more


def called(uuid: str, parent: str | None, second: float, *calls: str, answer: str = "") -> Record:
    """Return an answer of the model that calls tools."""
    blocks = [{"type": "tool_use", "id": call, "name": "Bash", "input": {}} for call in calls]
    message = {"id": answer or f"m-{uuid}", "role": "assistant", "content": blocks}
    return said(uuid, parent, second, "assistant", message=message)


def result(uuid: str, parent: str | None, second: float, call: str, text: str = "ok") -> Record:
    """Return a tool's result."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    return said(uuid, parent, second, message={"role": "user", "content": [block]})


def line(records: list[Record]) -> list[Record]:
    """Return the records, each behind the one before."""
    parents = [None, *(record["uuid"] for record in records)]
    return [
        {**record, "parentUuid": parent} for record, parent in zip(records, parents, strict=False)
    ]


def written(path: Path, records: list[Record]) -> Path:
    """Write the records as a transcript."""
    path.write_bytes(b"".join(encode_line(record) + b"\n" for record in records))
    return path


def writer_of(store: SessionStore, session: str = SESSION, **more: Any) -> Writer:
    """Return a writer whose ids and times count up."""
    numbers = count(1)
    clock = count(1000)
    return store.writer(
        session,
        stamp=STAMP,
        now=lambda: at(next(clock)),
        new_id=lambda: f"id-{next(numbers)}",
        **more,
    )
