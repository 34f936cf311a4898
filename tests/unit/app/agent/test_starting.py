"""The model of an agent that is given none."""

import pytest
from genai_prices import Usage, calc_price

from siding.app.agent.starting import MODEL_VARIABLE, usual_model


@pytest.mark.parametrize(
    "variable",
    [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENAI_API_KEY",
    ],
)
def test_a_key_is_enough_and_its_model_exists(variable: str) -> None:
    provider, _, name = usual_model({variable: "k"}).partition(":")
    # The library knows the models of the providers; it raises LookupError for any other.
    price = calc_price(Usage(input_tokens=1), model_ref=name, provider_id=provider)
    assert price.model.deprecated is not True


def test_what_is_named_goes_before() -> None:
    assert usual_model({MODEL_VARIABLE: "local:x", "OPENAI_API_KEY": "k"}) == "local:x"
    assert usual_model({"OPENAI_API_KEY": ""}) == ""
