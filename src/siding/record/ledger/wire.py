"""What passed the proxy of a run, as a step has it."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, said, text, whole
from siding.record.ledger.usage import UsedTokens, usage_from, usage_record


class RefusedHost(NamedTuple):
    """A host that a run asked for and that was not allowed, and how often."""

    host: str
    port: int
    times: int
    why: str = ""


class WireReport(NamedTuple):
    """Sums of the lines in ``artifacts/NNNN.wire``. Times are in milliseconds."""

    metered: bool = False  # requests to models were to be measured
    requests: int = 0
    failed: int = 0  # answered by an error, or not at all
    cut: int = 0  # answers that the server did not bring to their end
    left: int = 0  # answers whose end the client did not wait for
    retries: int = 0
    uncounted: int = 0  # answers in which tokens could not be read
    statuses: Mapping[str, int] = {}
    errors: Mapping[str, int] = {}  # by the API's own word
    usage: Mapping[str, UsedTokens] = {}  # by model
    first_ms: int = 0  # until the first byte of an answer: the median
    slowest_ms: int = 0  # of a whole answer
    tunnels: int = 0  # connections to allowed hosts
    refused: tuple[RefusedHost, ...] = ()
    ended_at: str = ""  # the proxy ended then, before the run did; "": it did not
    through: int = 0  # of a turn: the bytes of the file until its end
    sha256: str = ""  # of the file; "" in a turn

    @classmethod
    def from_record(cls, value: object) -> "WireReport | None":
        if not isinstance(value, dict):
            return None
        counts = ("requests", "failed", "cut", "left", "retries", "uncounted", "tunnels")
        times = ("first_ms", "slowest_ms", "through")
        return cls(
            metered=value.get("metered") is True,
            statuses=_counts(value.get("statuses")),
            errors=_counts(value.get("errors")),
            usage=usage_from(value.get("usage")),
            refused=tuple(map(_refused, mappings(value.get("refused")))),
            ended_at=text(value.get("ended_at")),
            sha256=text(value.get("sha256")),
            **{name: whole(value.get(name)) for name in (*counts, *times)},
        )

    def as_record(self) -> dict[str, Any]:
        record = {
            **self._asdict(),
            "statuses": dict(self.statuses),
            "errors": dict(self.errors),
            "usage": usage_record(self.usage),
            "refused": [each._asdict() for each in self.refused],
        }
        return {name: value for name, value in said(**record).items() if value}


def _counts(value: object) -> dict[str, int]:
    return {str(name): whole(count) for name, count in mapping(value).items()}


def _refused(record: Mapping[str, Any]) -> RefusedHost:
    return RefusedHost(
        host=text(record.get("host")),
        port=whole(record.get("port")),
        times=whole(record.get("times")),
        why=text(record.get("why")),
    )
