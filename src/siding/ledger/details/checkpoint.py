"""The detail of a checkpoint step."""

from collections.abc import Mapping
from typing import Any

from siding.ledger.kinds import StepKind
from siding.namedtuples import NamedTuple
from siding.storage.fields import said, text


class CheckpointDetail(NamedTuple):
    """The workspace was recorded: on request, or because it changed since the last step."""

    message: str = ""
    # asked: `siding checkpoint`; running: changed while runs lived (see `Step.beside`);
    # outside: changed between steps; carry: `task start --carry`; from: `task start --from`
    origin: str = ""
    taken: str = ""  # the snapshot of another task that the workspace was set to

    @property
    def kind(self) -> str:
        return StepKind.CHECKPOINT.value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "CheckpointDetail":
        return cls(
            message=text(record.get("message")),
            origin=text(record.get("origin")),
            taken=text(record.get("taken")),
        )

    def as_record(self) -> dict[str, Any]:
        return {"message": self.message, "origin": self.origin, **said(taken=self.taken)}
