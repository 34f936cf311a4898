"""The model of an agent that is given none."""

from pathlib import Path

import pytest
from genai_prices import Usage, calc_price

from siding.assistant.loop.settings import (
    SaidSettings,
    SettingsLayer,
    SettingsLevel,
    combined_layers,
)
from siding.assistant.starting import MODEL_VARIABLE, model_in_force
from siding.record.place.wiring import open_app


def model_of(env: dict[str, str], *layers: SettingsLayer) -> str:
    app = open_app(env={"HOME": "/h", **env}, cwd=Path("/"))
    return model_in_force(app, combined_layers(layers)).name


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
    provider, _, name = model_of({variable: "k"}).partition(":")
    # The library knows the models of the providers; it raises LookupError for any other.
    price = calc_price(Usage(input_tokens=1), model_ref=name, provider_id=provider)
    assert price.model.deprecated is not True


@pytest.mark.parametrize(
    ("level", "variable", "found"),
    [
        (SettingsLevel.MANAGED, "local:v", "local:s"),
        (SettingsLevel.FLAGS, "local:v", "local:s"),
        (SettingsLevel.LOCAL, "local:v", "local:v"),
        (SettingsLevel.USER, "local:v", "local:v"),
        (SettingsLevel.USER, "", "local:s"),
        (None, "", "openai:gpt-5.6"),
    ],
)
def test_what_names_the_model(level: SettingsLevel | None, variable: str, found: str) -> None:
    said = SaidSettings(model="local:s")
    layers = [] if level is None else [SettingsLayer(level, "a file", said)]
    env = {"OPENAI_API_KEY": "k", MODEL_VARIABLE: variable}
    assert model_of(env, *layers) == found
