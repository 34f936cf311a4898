"""The step that is being made: ``running.json``, written before anything of it happens.

It is on disk before the step's process starts and goes away only after the step's ledger line is
flushed. Whoever finds one without its writer alive is looking at an interrupted step.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from siding.files.durable import remove_file
from siding.storage.documents import read_document_or_none, write_document

if TYPE_CHECKING:  # loaded where there is such a document: most of the time there is none
    from siding.ledger.draft import Draft

RUNNING_VERSION = 1


class Running(NamedTuple):
    """What is known about a step before it ends."""

    number: int
    kind: str
    started_at: str
    pid: int
    token: str  # in the environment of everything the step starts
    parent: str | None
    draft: "Draft"

    @property
    def title(self) -> str:
        """The command that runs, quoted so that it can be typed again; "" for other kinds."""
        return self.draft.title

    def as_record(self) -> dict[str, Any]:
        """Return the document's fields; ``record`` is the ledger line as far as it is known."""
        fields = self._asdict()
        del fields["draft"]
        return {**fields, "record": self.draft.as_record()}


def write_running(path: Path, running: Running) -> None:
    """Make `running` durable."""
    write_document(path, {"version": RUNNING_VERSION, **running.as_record()})


def read_running(path: Path) -> Running | None:
    """Return the step that began and is not known to have ended, or None."""
    document = read_document_or_none(
        path, what="step in progress", version=RUNNING_VERSION, required=("number", "kind")
    )
    if document is None:
        return None
    from siding.ledger.draft import Draft

    return Running(
        number=int(document["number"]),
        kind=str(document["kind"]),
        started_at=str(document.get("started_at", "")),
        pid=int(document.get("pid", 0)),
        token=str(document.get("token", "")),
        parent=document.get("parent"),
        draft=Draft.from_record(str(document["kind"]), document.get("record") or {}),
    )


def clear_running(path: Path) -> None:
    """Remove the document, durably: its step is in the ledger."""
    remove_file(path)
