"""An act that this version does not know."""

from typing import Any, NamedTuple


class ForeignDetail(NamedTuple):
    """An act of a kind that this version does not know."""

    kind: str

    def as_record(self) -> dict[str, Any]:
        return {}
