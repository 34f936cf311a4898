"""Models on Amazon's cloud: Claude by the Messages API, others by Converse."""

import httpx2
from anthropic import AsyncAnthropicBedrock
from botocore.config import Config
from botocore.session import Session
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.bedrock import BedrockConverseModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.bedrock import BedrockProvider

from siding.assistant.models.names import Access


def bedrock(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model of a region; the credentials are those of the machine."""
    if "claude" not in name:
        return BedrockConverseModel(name, provider=_converse(access, http))
    client = AsyncAnthropicBedrock(base_url=access.url or None, http_client=http, max_retries=0)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _converse(access: Access, http: httpx2.AsyncClient) -> BedrockProvider:
    """Return a client of Amazon's own library, as patient as the others and without retries."""
    timeout = http.timeout
    config = Config(
        connect_timeout=timeout.connect,
        read_timeout=timeout.read,
        retries={"total_max_attempts": 1},
    )
    client = Session().create_client(
        "bedrock-runtime", endpoint_url=access.url or None, config=config
    )
    return BedrockProvider(bedrock_client=client)
