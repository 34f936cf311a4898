"""Models at OpenAI and Azure, and all that speak as OpenAI does."""

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.azure import AzureProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from siding.assistant.models.names import Access

_OPENAI = "https://api.openai.com"
# A stream that ends without saying why was cut: a proxy may end it as if it were whole.
_WHOLE = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
# Servers of open models know the older name of the limit of output, and not all the newer one.
_OLDER = OpenAIModelProfile(
    openai_chat_streaming_requires_finish_reason=True,
    openai_chat_supports_max_completion_tokens=False,
)


def responses(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model that is asked by the Responses API."""
    provider = OpenAIProvider(base_url=access.url or None, api_key=access.key, http_client=http)
    return OpenAIResponsesModel(name, provider=provider)


def chat(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model that is asked by chat completions, of OpenAI or of another server."""
    if access.url and not access.url.startswith(_OPENAI):
        return _compatible("openai-compatible", name, access, http)
    provider = OpenAIProvider(base_url=access.url or None, api_key=access.key, http_client=http)
    return OpenAIChatModel(name, provider=provider, profile=_WHOLE)


def local(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model that a server of one's own has."""
    return _compatible("local", name, access, http)


def azure(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model by the name that it was deployed under."""
    provider = AzureProvider(
        azure_endpoint=access.url,
        api_key=access.key,
        api_version=access.environment.get("OPENAI_API_VERSION"),
        http_client=http,
    )
    return OpenAIResponsesModel(name, provider=provider)


def _compatible(service: str, name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    provider = OpenAICompatibleProvider(
        service, base_url=access.url, api_key=access.key or None, http_client=http
    )
    return OpenAIChatModel(name, provider=provider, profile=_OLDER)
