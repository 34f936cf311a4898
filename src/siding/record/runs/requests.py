"""What a run asked its broker, as a file: one JSON object on each line, and one for each answer.

While the run lives the file is named by the act, afterwards it is an artifact of the step. The
broker writes it (`broker/record.py`). Its texts are untrusted.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from siding.ground.files.durable import flush
from siding.ground.files.regular import open_regular
from siding.ground.hashing import sha256_of_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text
from siding.ground.storage.layout import TaskLayout

KIND = "requests"


class Counted(NamedTuple):
    """How many requests a file has, and its hash."""

    number: int
    sha256: str


class Asked(NamedTuple):
    """A request of a run, or the answer to one."""

    at: str
    what: str
    is_answer: bool
    said: str  # the command, the note, the error, the session: what there is to say in a line


def counted(layout: TaskLayout, stem: str) -> Counted | None:
    """Flush the requests of a run that has ended and count them; None if it asked nothing."""
    try:
        fd = open_regular(layout.artifact(stem, KIND))
    except OSError:
        return None
    try:
        flush(fd)
        number = sum(1 for each in _lines(fd) if not each.is_answer)
        return Counted(number, sha256_of_file(fd))
    finally:
        os.close(fd)


def read_requests(path: Path) -> list[Asked]:
    """Return the requests and answers in a file, in order; lines that cannot be read are left out.

    Raises OSError.
    """
    fd = open_regular(path)
    try:
        return list(_lines(fd))
    finally:
        os.close(fd)


def name_requests(layout: TaskLayout, stem: str, number: int) -> str:
    """Give the requests of a run the number of its step; return their name, "" without any."""
    own, named = layout.artifact(stem, KIND), layout.artifact(number, KIND)
    if not _exists(own):
        return named.name if _exists(named) else ""
    own.replace(named)
    return named.name


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _lines(fd: int) -> Iterator[Asked]:
    with open(os.dup(fd), "rb") as file:
        file.seek(0)
        for line in file:
            try:
                record = mapping(json.loads(line))
            except ValueError:
                continue  # cut off by a kill
            answered = text(record.get("answered"))
            yield Asked(
                at=text(record.get("at")),
                what=answered or text(record.get("do")),
                is_answer=bool(answered),
                said=_said(record),
            )


def _said(record: "object") -> str:
    found = mapping(record)
    for name in ("message", "text", "command", "argv", "summary", "action", "session", "step"):
        value = found.get(name)
        if value:
            return " ".join(map(str, value)) if isinstance(value, list) else text(value)
    question = mapping(found.get("question"))
    return text(question.get("task"))
