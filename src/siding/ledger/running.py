"""The step that is being made: ``running.json``, written before anything of it happens.

It is on disk before the step's process starts and goes away only after the step's ledger line is
flushed. Whoever finds one without its writer alive is looking at an interrupted step.
"""

from collections.abc import Mapping
from pathlib import Path
from shlex import join
from typing import Any, NamedTuple

from siding.ledger.details import Detail, detail_from
from siding.ledger.fields import text, words
from siding.storage.documents import read_document_or_none, write_document
from siding.storage.files import remove_file

RUNNING_VERSION = 1


class Running(NamedTuple):
    """What is known about a step before it ends."""

    number: int
    kind: str
    started_at: str
    pid: int
    token: str  # in the environment of everything the step starts
    parent: str | None
    record: Mapping[str, Any]  # the ledger line as far as it is known

    @property
    def detail(self) -> Detail:
        """What is known of what only steps of this kind have."""
        return detail_from(self.kind, self.record)

    @property
    def agent(self) -> str:
        """The agent that runs, "" for any other command."""
        return text(self.record.get("agent"))

    @property
    def title(self) -> str:
        """The command that runs, quoted so that it can be typed again; "" for other kinds."""
        return join(words(self.record.get("cmd")))


def write_running(path: Path, running: Running) -> None:
    """Make `running` durable."""
    document = {"version": RUNNING_VERSION, **running._asdict(), "record": dict(running.record)}
    write_document(path, document)


def read_running(path: Path) -> Running | None:
    """Return the step that began and is not known to have ended, or None."""
    document = read_document_or_none(
        path, what="step in progress", version=RUNNING_VERSION, required=("number", "kind")
    )
    if document is None:
        return None
    return Running(
        number=int(document["number"]),
        kind=str(document["kind"]),
        started_at=str(document.get("started_at", "")),
        pid=int(document.get("pid", 0)),
        token=str(document.get("token", "")),
        parent=document.get("parent"),
        record=document.get("record") or {},
    )


def clear_running(path: Path) -> None:
    """Remove the document, durably: its step is in the ledger."""
    remove_file(path)
