"""How a provider is reached: its key and its address, from the environment."""

from collections.abc import Mapping

from siding.agents.own.providers import Provider
from siding.assistant.loop.model import ModelError, Trouble
from siding.ground.namedtuples import NamedTuple


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
