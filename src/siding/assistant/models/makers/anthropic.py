"""Models at Anthropic."""

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from siding.assistant.models.names import Access


def direct(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model that Anthropic serves, or an endpoint that speaks as it does."""
    client = AsyncAnthropic(
        api_key=None if access.is_token else access.key,
        auth_token=access.key if access.is_token else None,
        base_url=access.url or None,
        http_client=http,
        max_retries=0,
    )
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
