"""Servers of MCP: what they offer and answer, whatever they make of it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from siding.assistant.tools.port import Call
from siding.assistant.tools.servers import Message, Server, ServerError, called, offered, result_in

IMAGE = {"type": "image", "mimeType": "image/png", "data": "aGk="}


class Scripted:
    """A link whose server answers by the method."""

    def __init__(self, answers: Mapping[str, list[Any]]) -> None:
        self.said: list[Message] = []
        self._answers = answers

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        self.said.append(message)
        answer = self._answers[message["method"]].pop(0)
        if isinstance(answer, ServerError):
            raise answer
        return {"jsonrpc": "2.0", "id": message["id"], **answer}

    async def tell(self, message: Message) -> None:
        self.said.append(message)

    async def close(self) -> None:
        pass


def result(**fields: Any) -> dict[str, Any]:
    return {"result": fields}


def test_a_list_of_several_pages_is_read_whole() -> None:
    link = Scripted(
        {
            "initialize": [result(protocolVersion="2025-06-18")],
            "tools/list": [
                result(tools=[{"name": "one", "description": "first"}], nextCursor="2"),
                result(tools=[{"name": "two.b"}, {"description": "nameless"}, 7]),
            ],
            "tools/call": [result(content=[{"type": "text", "text": "hi"}]), ServerError("gone")],
        }
    )

    async def hold() -> list[Any]:
        tools = await Server("a server", link).tools()
        assert list(tools) == ["mcp__a_server__one", "mcp__a_server__two_b"]
        tool = tools["mcp__a_server__two_b"]
        call = Call("c", tool.spec.name, {"text": "x" * 200})
        assert not tool.is_safe(call.given)
        assert tool.use(call.given).text.startswith('a server: two.b {"text": "xxx')
        return [await tool.run(call), await tool.run(call)]

    first, second = asyncio.run(hold())
    assert (first.content, first.is_error) == ("hi", False)
    assert "The server 'a server' failed: gone" in second.content
    assert second.is_error
    methods = [each["method"] for each in link.said]
    assert methods[:3] == ["initialize", "notifications/initialized", "tools/list"]
    assert link.said[3]["params"] == {"cursor": "2"}
    assert link.said[4]["params"]["name"] == "two.b"
    assert len({each["id"] for each in link.said if "id" in each}) == len(link.said) - 1


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": []}, ""),
        ({}, ""),
        ({"content": [], "structuredContent": {"n": 3}}, '{"n": 3}'),
        ({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "t"}}]}, "[x:y]\nt"),
        ({"content": [{"type": "audio", "data": "aGk="}]}, '{"type": "audio", "data": "aGk="}'),
        ({"content": "no list"}, ""),
    ],
)
def test_texts(answer: dict[str, Any], content: str) -> None:
    assert called(answer).content == content
    assert called({**answer, "isError": True}).is_error


def test_an_image_is_one_for_the_model() -> None:
    found = called({"content": [{"type": "text", "text": "see"}, IMAGE]})
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert found.content == ({"type": "text", "text": "see"}, {"type": "image", "source": source})


def test_what_is_no_answer_is_a_mistake_of_the_server() -> None:
    with pytest.raises(ServerError, match="not allowed"):
        result_in({"error": {"code": 1, "message": "not allowed"}})
    with pytest.raises(ServerError, match="neither"):
        result_in({"id": 1})
    assert offered("a", {"tools": "none"}) == []
    (tool,) = offered("a", {"tools": [{"name": "b", "inputSchema": "no schema"}]})
    assert tool.spec.schema == {"type": "object"}
