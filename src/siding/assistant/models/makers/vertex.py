"""Models on Google's cloud: Claude and Gemini."""

import httpx2
from anthropic import AsyncAnthropicVertex
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google_cloud import GoogleCloudProvider

from siding.assistant.loop.model import ModelError, Trouble
from siding.assistant.models.names import Access

_PROJECT = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")
_REGION = ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION")


def vertex(name: str, access: Access, http: httpx2.AsyncClient) -> Model:
    """Return a model of a project; the credentials are those of the machine."""
    project, region = _first(access, _PROJECT), _first(access, _REGION) or "global"
    if not project:
        raise ModelError(
            Trouble.SETUP, "there is no project of Google's cloud", hint=f"set {_PROJECT[1]}"
        )
    if "claude" not in name:
        cloud = GoogleCloudProvider(project=project, location=region, http_client=http)
        return GoogleModel(name, provider=cloud)
    client = AsyncAnthropicVertex(
        project_id=project,
        region=region,
        base_url=access.url or None,
        # A gateway that signs on its own is given a token that means nothing to Google.
        access_token=access.environment.get("ANTHROPIC_VERTEX_ACCESS_TOKEN"),
        http_client=http,
        max_retries=0,
    )
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _first(access: Access, names: tuple[str, ...]) -> str:
    return next((access.environment[name] for name in names if access.environment.get(name)), "")
