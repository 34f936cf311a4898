"""The detail of a step of an unknown kind."""

from typing import Any

from siding.ground.namedtuples import NamedTuple


class ForeignDetail(NamedTuple):
    """A step of a kind that this version does not know; a newer version wrote it."""

    kind: str

    def as_record(self) -> dict[str, Any]:
        return {}
