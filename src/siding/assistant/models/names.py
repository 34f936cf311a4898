"""Names of models: ``provider:name``, or the name alone where its family says whose it is. Pure.

Also how a provider is reached: its key and its address, from the environment.
"""

from collections.abc import Mapping

from siding.agents.own.providers import Provider
from siding.assistant.loop.model import Limits, ModelError, Trouble
from siding.ground.namedtuples import NamedTuple

# family -> provider, by how a name begins
_FAMILIES = (
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("codex-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "google"),
)
_ALIASES = {"gemini": "google", "openai-responses": "openai", "ollama": "local"}
# --------------------------------------------------------------------------------------------------
# What models take and give, in tokens: data, by how a name begins. The longest beginning
# counts
#
# Written down without the providers' pages at hand; they are to be checked against them.


_K = 1_000
_UNKNOWN = Limits(window=128 * _K, output=8 * _K, most_output=16 * _K)
_TABLE = {
    "claude": Limits(200 * _K, 32 * _K, 64 * _K),
    "claude-3": Limits(200 * _K, 4 * _K, 4 * _K),
    "claude-3-5": Limits(200 * _K, 8 * _K, 8 * _K),
    "claude-3-7": Limits(200 * _K, 32 * _K, 64 * _K),
    "claude-opus-4": Limits(200 * _K, 32 * _K, 32 * _K),
    "claude-opus-4-5": Limits(200 * _K, 32 * _K, 64 * _K),
    "claude-opus-4-6": Limits(1_000 * _K, 64 * _K, 128 * _K),
    "claude-opus-4-7": Limits(1_000 * _K, 64 * _K, 128 * _K),
    "claude-opus-4-8": Limits(1_000 * _K, 64 * _K, 128 * _K),
    "claude-opus-5": Limits(1_000 * _K, 64 * _K, 128 * _K),
    "claude-sonnet-4": Limits(200 * _K, 32 * _K, 64 * _K),
    "claude-sonnet-4-6": Limits(1_000 * _K, 32 * _K, 64 * _K),
    "claude-sonnet-5": Limits(1_000 * _K, 64 * _K, 128 * _K),
    "claude-haiku-4": Limits(200 * _K, 32 * _K, 64 * _K),
    "gpt-3.5": Limits(16 * _K, 4 * _K, 4 * _K),
    "gpt-4": Limits(8 * _K, 4 * _K, 4 * _K),
    "gpt-4-turbo": Limits(128 * _K, 4 * _K, 4 * _K),
    "gpt-4o": Limits(128 * _K, 16 * _K, 16 * _K),
    "gpt-4.1": Limits(1_047_576, 32 * _K, 32 * _K),
    "gpt-5": Limits(400 * _K, 32 * _K, 128 * _K),
    "gpt-5-chat": Limits(128 * _K, 16 * _K, 16 * _K),
    "gpt-5.4": Limits(1_050 * _K, 32 * _K, 128 * _K),
    "gpt-5.5": Limits(1_050 * _K, 32 * _K, 128 * _K),
    "gpt-5.6": Limits(1_050 * _K, 32 * _K, 128 * _K),
    "gpt-6": Limits(1_050 * _K, 32 * _K, 128 * _K),
    "o1": Limits(200 * _K, 32 * _K, 100 * _K),
    "o3": Limits(200 * _K, 32 * _K, 100 * _K),
    "o4": Limits(200 * _K, 32 * _K, 100 * _K),
    "gemini": Limits(1_048_576, 32 * _K, 65_536),
    "gemini-1": Limits(1_048_576, 8 * _K, 8 * _K),
    "gemini-2.0": Limits(1_048_576, 8 * _K, 8 * _K),
    # Of open weights, as servers of one's own have them: a small window is the safe guess.
    "qwen": Limits(32 * _K, 8 * _K, 16 * _K),
    "llama": Limits(32 * _K, 4 * _K, 8 * _K),
    "gpt-oss": Limits(128 * _K, 16 * _K, 32 * _K),
    "deepseek": Limits(128 * _K, 8 * _K, 32 * _K),
}


class Named(NamedTuple):
    """A model of a provider."""

    provider: str
    name: str


def named(model: str, providers: frozenset[str]) -> Named:
    """Return whose model a name means. Raises ModelError if nobody's.

    A name may have colons of its own (``local:qwen3:8b``).
    """
    provider, colon, name = model.partition(":")
    provider = _ALIASES.get(provider, provider)
    if colon and provider in providers:
        if name:
            return Named(provider, name)
        raise ModelError(Trouble.SETUP, f"{model!r} names no model", hint=f"write {provider}:NAME")
    for beginning, owner in _FAMILIES:
        if model.startswith(beginning):
            return Named(owner, model)
    raise ModelError(
        Trouble.SETUP,
        f"it is not known whose model {model!r} is",
        hint=f"write PROVIDER:NAME; providers are {', '.join(sorted(providers))}",
    )


def limits_of(name: str) -> Limits:
    """Return the limits of a model, by its name without the provider; a guess for an unknown one.

    What a name has before its family counts for nothing: ``us.anthropic.claude-opus-4-6-v1:0``.
    """
    lower = name.lower()
    at, family = max(
        ((at, key) for key in _TABLE if (at := lower.find(key)) >= 0),
        key=lambda each: (-each[0], len(each[1])),
        default=(-1, ""),
    )
    return _TABLE[family] if at >= 0 else _UNKNOWN


# -- How a provider is reached ---------------------------------------------------------------------


class Access(NamedTuple):
    """How one provider is reached. `key` and `url` are "" where the library knows better."""

    key: str
    url: str
    environment: Mapping[str, str]

    @property
    def is_token(self) -> bool:
        """Whether the key is one of those that Anthropic takes as a bearer's token."""
        return bool(self.key) and self.key == self.environment.get("ANTHROPIC_AUTH_TOKEN")


def access(row: Provider, environment: Mapping[str, str]) -> Access:
    """Return how to reach a provider. Raises ModelError if a key is missing."""
    key = next((environment[name] for name in row.variables if environment.get(name)), "")
    url = environment.get(row.url) or row.default_url
    # An endpoint of one's own may want no key; a provider's own address always does.
    if row.needs_key and not key and not (row.prefix == "openai-chat" and url):
        raise ModelError(
            Trouble.LOGIN,
            f"there is no key for {row.prefix}",
            hint=f"set {' or '.join(row.variables)} to a key of your account",
        )
    if row.prefix == "azure" and not url:
        raise ModelError(
            Trouble.SETUP,
            "there is no address of your Azure resource",
            hint=f"set {row.url}, as in https://NAME.openai.azure.com/openai/v1/",
        )
    return Access(key, url, environment)
