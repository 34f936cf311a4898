"""What an agent used of its models, as a step has it: tokens, by model. No money: prices change."""

from collections.abc import Iterable, Mapping

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, whole


class UsedTokens(NamedTuple):
    """Counts of one model; their meaning is that of `siding usage`."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    calls: int = 0

    @property
    def sent(self) -> int:
        """The whole context of the calls, cached or not."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def total(self) -> int:
        """The number of tokens of all kinds."""
        return self.sent + self.output


Usage = Mapping[str, UsedTokens]  # by model


def usage_from(value: object) -> Usage:
    """Return the usage in a record; what is of an unexpected type counts as missing."""
    return {
        str(model): UsedTokens(*(max(0, whole(mapping(said).get(key))) for key in _KEYS))
        for model, said in mapping(value).items()
    }


def usage_record(usage: Usage) -> dict[str, dict[str, int]]:
    """Return the usage as it is written; counts of zero are left out."""
    return {
        model: {key: count for key, count in used._asdict().items() if count}
        for model, used in usage.items()
    }


def added(usages: Iterable[Usage]) -> Usage:
    """Return the sums by model."""
    sums: dict[str, UsedTokens] = {}
    for usage in usages:
        for model, used in usage.items():
            before = sums.get(model, UsedTokens())
            sums[model] = UsedTokens(*(one + two for one, two in zip(before, used, strict=True)))
    return sums


def grown(now: Usage, before: Usage) -> Usage:
    """Return what came to a usage, by model; models that nothing came to are left out."""
    found = {}
    for model, used in now.items():
        then = before.get(model, UsedTokens())
        more = UsedTokens(*(max(0, one - two) for one, two in zip(used, then, strict=True)))
        if any(more):
            found[model] = more
    return found


def summed(usage: Usage) -> UsedTokens:
    """Return the sum of all models."""
    return UsedTokens(*map(sum, zip(*usage.values(), strict=True))) if usage else UsedTokens()


_KEYS = UsedTokens._fields
