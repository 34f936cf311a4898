"""Gemini models, by Google's API for developers."""

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from siding.assistant.models.names import Access


def gemini(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model by a key of AI Studio."""
    provider = GoogleProvider(api_key=access.key, base_url=access.url or None, http_client=http)
    return GoogleModel(name, provider=provider)
