"""Names, limits, prices, and what is said of what is missing. No library is imported for these."""

import subprocess
import sys

import pytest

from siding.agents.own.providers import PROVIDERS
from siding.assistant.loop.model import ModelError, Trouble, Usage
from siding.assistant.models.any_model import AnyModel
from siding.assistant.models.names import named
from siding.ground.installation import adding
from siding.usage.prices import Prices, Rates
from unit.assistant.models.asking import failure, request


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("claude-opus-4-6", "anthropic", "claude-opus-4-6"),
        ("gpt-5.1", "openai", "gpt-5.1"),
        ("o3-mini", "openai", "o3-mini"),
        ("gemini-3-pro", "google", "gemini-3-pro"),
        ("gemini:gemini-3-pro", "google", "gemini-3-pro"),
        ("local:qwen3:8b", "local", "qwen3:8b"),
        (
            "bedrock:us.anthropic.claude-opus-4-6-v1:0",
            "bedrock",
            "us.anthropic.claude-opus-4-6-v1:0",
        ),
    ],
)
def test_names(model: str, provider: str, name: str) -> None:
    assert named(model, frozenset(PROVIDERS)) == (provider, name)


@pytest.mark.parametrize("model", ["mistral-large", "anthropic:", "nobody:claude", ""])
def test_a_name_of_nobodys(model: str) -> None:
    error, _ = failure(AnyModel({}), request(model))
    assert error.trouble is Trouble.SETUP
    assert error.hint


@pytest.mark.parametrize(
    ("model", "trouble", "variable"),
    [
        ("claude-opus-4-6", Trouble.LOGIN, "ANTHROPIC_API_KEY"),
        ("gpt-5.1", Trouble.LOGIN, "OPENAI_API_KEY"),
        ("gemini-3-pro", Trouble.LOGIN, "GEMINI_API_KEY"),
        ("azure:mine", Trouble.LOGIN, "AZURE_OPENAI_API_KEY"),
    ],
)
def test_a_missing_key_says_which(model: str, trouble: Trouble, variable: str) -> None:
    error, _ = failure(AnyModel({}), request(model))
    assert error.trouble is trouble
    assert variable in str(error.hint)


def test_limits_by_family() -> None:
    model = AnyModel({})
    assert model.limits("claude-opus-4-6").window == 1_000_000
    assert model.limits("claude-haiku-4-5").window == 200_000
    assert model.limits("bedrock:us.anthropic.claude-opus-4-6-v1:0").window == 1_000_000
    assert model.limits("local:unheard-of").window < 200_000


def test_dollars() -> None:
    rates = Rates(input=1, cache_read=2, cache_write_5m=3, cache_write_1h=4, output=5)
    model = AnyModel({}, prices=Prices({"claude-opus-4-6": rates}))
    assert model.dollars("claude-opus-4-6", Usage(1, 10, 100, 1000)) == 1 + 50 + 200 + 3000
    assert model.dollars("local:unheard-of", Usage(1, 1)) == 0
    assert model.dollars("openai:unheard-of", Usage(1, 1)) is None
    known = model.dollars("claude-sonnet-4-6", Usage(1_000_000, 0))
    assert known is not None
    assert 1 < known < 20


def test_nothing_of_a_library_is_imported_before_a_request() -> None:
    code = (
        "import sys, siding.assistant.models, siding.assistant.models.any_model as a\n"
        "a.AnyModel({}).limits('gpt-5')\n"
        "heavy = {'pydantic', 'pydantic_ai', 'httpx2', 'anthropic', 'openai', 'google', 'yaml'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_a_library_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "siding.assistant.models.requests", None)
    with pytest.raises(ModelError) as raised:
        AnyModel({})._library()
    assert raised.value.trouble is Trouble.SETUP
    assert raised.value.hint == adding("agent")


def test_warming_imports_in_the_background() -> None:
    thread = AnyModel({}).warm("gpt-5.1")
    assert thread is not None
    thread.join(60)
    assert "siding.assistant.models.makers.openai" in sys.modules
    assert AnyModel({}).warm("scripted:x") is None
