"""Prices are of the day and the size of a call, and are never made up."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from genai_prices import Usage, calc_price
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.errors import UsageError
from siding.usage.prices import Prices, Rates, own_prices

DAY = datetime(2026, 11, 24, tzinfo=UTC)
AT = int(DAY.timestamp() * 1000)
COUNTS = st.integers(0, 400_000)


@given(
    model=st.sampled_from(["claude-sonnet-4-5", "claude-opus-4-8", "gpt-5.5", "gemini-2.5-pro"]),
    counts=st.tuples(COUNTS, COUNTS, COUNTS, COUNTS),
)
def test_a_call_costs_what_the_library_says(model: str, counts: tuple[int, int, int, int]) -> None:
    plain, read, written, output = counts
    sent = plain + read + written
    rates = Prices({}).rates("", model, AT, sent)
    assert rates is not None
    ours = (
        plain * rates.input
        + read * rates.cache_read
        + written * rates.cache_write_5m
        + output * rates.output
    )
    said = Usage(
        input_tokens=sent, cache_read_tokens=read, cache_write_tokens=written, output_tokens=output
    )
    theirs = calc_price(said, model, genai_request_timestamp=DAY).total_price
    assert ours == pytest.approx(float(theirs))


def test_a_cache_of_an_hour_costs_more_than_one_of_minutes() -> None:
    rates = Prices({}).rates("anthropic", "claude-opus-4-8", AT, 10)
    assert rates is not None
    assert rates.cache_read < rates.input < rates.cache_write_5m < rates.cache_write_1h


def test_a_large_context_has_its_own_price() -> None:
    small, large = (
        Prices({}).rates("anthropic", "claude-sonnet-4-5", AT, sent) for sent in (200_000, 200_001)
    )
    assert small is not None
    assert large is not None
    assert large.input == 2 * small.input


def test_a_provider_that_nobody_knows_has_the_prices_of_its_models() -> None:
    known, gateway = (
        Prices({}).rates(provider, "claude-opus-4-8", AT, 1)
        for provider in ("anthropic", "our-gateway")
    )
    assert known is not None
    assert known == gateway


def test_nobody_knows_the_price_of_a_model_that_is_not_listed() -> None:
    assert Prices({}).rates("", "our-model", AT, 1) is None


def test_own_prices_come_first(tmp_path: Path) -> None:
    text = "our-model: {input: 1, output: 2}\ngpt-5.5: {input: 3, output: 4, cache_read: 0.5}\n"
    (tmp_path / "prices.yaml").write_text(text, encoding="utf-8")
    prices = Prices(own_prices(tmp_path))
    assert prices.rates("", "our-model", AT, 1) == Rates(1e-6, 1e-6, 1e-6, 1e-6, 2e-6)
    assert prices.rates("openai", "gpt-5.5", AT, 1) == Rates(3e-6, 5e-7, 3e-6, 3e-6, 4e-6)


@pytest.mark.parametrize(
    "text",
    ["- a", "a: 3", "a: {input: 1}", "a: {input: x, output: 1}", "a: {input: -1, output: 1}", "{"],
)
def test_a_mistake_in_own_prices_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"prices\.yaml"):
        own_prices(tmp_path)
