"""Servers of MCP that live in the program at the other end of the streams of JSON."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.servers import Message, ServerError
from siding.faces.cli.assistant.client import Client, Unanswered


class ClientLink:
    """Implements `Link`: a message is a request to the client."""

    def __init__(self, client: Client, server: str) -> None:
        self._client = client
        self._server = server

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        """See `Link.exchange`."""
        fields = {"server_name": self._server, "message": message}
        try:
            answer = await self._client.request("mcp_message", fields)
        except Unanswered as error:
            raise ServerError(error.message) from None
        found = answer.fields.get("mcp_response")
        if answer.error or not isinstance(found, dict):
            raise ServerError(answer.error or "the client has not answered with a message")
        return found

    async def tell(self, message: Message) -> None:
        """See `Link.tell`. The client says that it has heard it."""
        await self.exchange(message)

    async def close(self) -> None:
        """See `Link.close`. The server is the client's."""
