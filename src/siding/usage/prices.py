"""What calls to models cost in dollars: the person's own prices, else those of `genai-prices`.

The library (an extra of the package) has the prices of providers with the days from which they
hold, on this machine: nothing is fetched. It is imported when the first price is asked for. A price
may be higher for a large context, so calls are priced one by one; of each price and size class the
library is asked once.
"""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

OWN_PRICES = "prices.yaml"  # in the home
_MILLION = 1_000_000
_KEYS = ("input", "cache_read", "cache_write", "cache_write_1h", "output")


class Rates(NamedTuple):
    """Dollars for a token of each kind."""

    input: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    output: float


class Prices:
    """The prices that are known here."""

    def __init__(self, own: Mapping[str, Rates]) -> None:
        self._own = own
        self.has_library = find_spec("genai_prices") is not None

    @property
    def is_empty(self) -> bool:
        """Whether no price is known at all."""
        return not self.has_library and not self._own

    def rates(self, provider: str, model: str, at_ms: int, sent: int) -> Rates | None:
        """Return what a token of a call cost then; None if nobody knows.

        `sent`: the tokens of the whole context, cached or not.
        """
        own = self._own.get(model)
        if own is not None:
            return own
        known = _model(provider, model) if self.has_library else None
        if known is None:
            return None
        price = known.get_prices(datetime.fromtimestamp(at_ms / 1000, UTC))
        return _rates(_Price(price), bisect_left(_steps(_Price(price)), sent))


def own_prices(home: Path) -> dict[str, Rates]:
    """Return the person's own prices: ``prices.yaml`` in the home, dollars for a million tokens.

    Raises UsageError if it is not such a file.
    """
    path = home / OWN_PRICES
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return {}
    import yaml

    try:
        document = yaml.safe_load(raw)
    except yaml.YAMLError as error:
        raise UsageError(f"{str(path)!r} is not valid YAML: {error}") from None
    if not isinstance(document, dict):
        raise UsageError(f"{str(path)!r} should name models, each with prices")
    return {str(model): _own(path, model, said) for model, said in document.items()}


def _own(path: Path, model: object, said: object) -> Rates:
    prices = mapping(said)
    is_right = {"input", "output"} <= prices.keys() <= set(_KEYS)
    if not is_right or not all(_is_price(each) for each in prices.values()):
        raise UsageError(
            f"the prices of {model} in {str(path)!r} should be dollars for a million tokens",
            hint=f"{model}: {{input: 3, output: 15}}; also {', '.join(_KEYS[1:4])}",
        )
    sent = prices["input"]
    written = prices.get("cache_write", sent)
    values = (
        sent,
        prices.get("cache_read", sent),
        written,
        prices.get("cache_write_1h", written),
        prices["output"],
    )
    return Rates(*(float(each) / _MILLION for each in values))


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


class _Price:
    """A price of the library, by identity: it cannot be hashed, and lives as long as the list."""

    def __init__(self, price: "ModelPrice") -> None:
        self.price = price

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Price) and other.price is self.price

    def __hash__(self) -> int:
        return id(self.price)


@cache
def _model(provider: str, model: str) -> "ModelInfo | None":
    """Return what the library has of a model; of a provider that it does not know, by its name."""
    from genai_prices import Usage, calc_price

    for named in dict.fromkeys((provider or None, None)):
        try:
            return calc_price(Usage(input_tokens=1), model, provider_id=named).model
        except LookupError:
            continue
    return None


@cache
def _steps(price: _Price) -> tuple[int, ...]:
    """Return the sizes of a context above which a token has another price."""
    tiers = (getattr(value, "tiers", ()) for value in vars(price.price).values())
    return tuple(sorted({tier.start for each in tiers for tier in each}))


@cache
def _rates(price: _Price, size_class: int) -> Rates:
    """Ask the library for the price of as many tokens of each kind as are of this size class."""
    from genai_prices import Usage

    count = 1 if size_class == 0 else _steps(price)[size_class - 1] + 1

    def rate(**kind: int) -> float:
        usage = Usage(input_tokens=count, **kind)
        return float(price.price.calc_price(usage)["total_price"] / count)

    sent = rate()
    both = Usage(input_tokens=count, output_tokens=count)
    return Rates(
        input=sent,
        cache_read=rate(cache_read_tokens=count),
        cache_write_5m=rate(cache_write_tokens=count),
        cache_write_1h=rate(cache_write_tokens=count, cache_write_1h_tokens=count),
        output=float(price.price.calc_price(both)["output_price"] / count),
    )
