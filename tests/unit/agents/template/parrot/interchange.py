"""Take over and give out transcripts of Parrot."""

import json
from pathlib import Path

from siding.agents.transcripts.foreign import (
    Gathering,
    Imported,
    given_back,
    lines_of,
    record_of,
)
from siding.agents.transcripts.interchange import Converted, Interchange
from siding.agents.transcripts.kinds import ASSISTANT, USER, Record
from siding.agents.transcripts.messages import text_of

_FORM = "parrot"
_KINDS = {"person": USER, "parrot": ASSISTANT}


def _is_one(record: Record) -> bool:
    return "parrot" in record


def _made(path: Path, data: bytes, cwd: str) -> tuple[Imported, str]:
    gathering = Gathering(_FORM, path.stem)
    for number, line in enumerate(lines_of(data)):
        record = record_of(line.encode("utf-8", "surrogateescape"))
        kind = _KINDS.get(str(record.get("parrot")))
        if kind is None:
            gathering.add_foreign_line(line)
            continue
        gathering.stamps = {"cwd": record.get("in") or cwd}
        message = {"role": kind, "content": [{"type": "text", "text": str(record.get("said"))}]}
        gathering.add(kind, gathering.id_of(number), record.get("at"), line, message=message)
    return gathering.done(), ""


def _lines(record: Record) -> list[str]:
    who = "person" if record.get("type") == USER else "parrot"
    said = {"parrot": who, "at": record.get("timestamp"), "said": text_of(record)}
    return [json.dumps(said, ensure_ascii=False)]


def _exported(records: list[Record]) -> list[str]:
    return given_back(records, _FORM, _lines)


def _named(_began: str, session_id: str) -> str:
    return f"{session_id}.jsonl"


INTERCHANGE: Interchange = Converted(_FORM, _is_one, _made, _exported, _named)
