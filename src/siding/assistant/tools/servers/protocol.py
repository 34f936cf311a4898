"""What is said to a server of MCP, and what its answers mean. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from siding.assistant.tools.port import Block, Result, ToolSpec
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

Message = dict[str, Any]

_VERSION = "2025-06-18"
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")  # what providers of models take in no name of a tool
_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


class ServerError(SidingError):
    """A server is not there, has not understood, or says what nobody understands."""

    code = "server_error"


class OfferedTool(NamedTuple):
    """A tool of a server: as the server calls it, and as a model does."""

    name: str
    spec: ToolSpec


def request(number: int, method: str, params: Mapping[str, Any]) -> Message:
    """Return a request, whose answer has the same number."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def notification(method: str) -> Message:
    """Return a message without an answer."""
    return {"jsonrpc": "2.0", "method": method}


def hello(version: str) -> Mapping[str, Any]:
    """Return what `initialize` says of us."""
    us = {"name": "siding", "version": version}
    return {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": us}


def result_in(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the result of an answer. Raises ServerError."""
    error = answer.get("error")
    if error is not None:
        raise ServerError(text(mapping(error).get("message")) or json.dumps(error))
    found = answer.get("result")
    if not isinstance(found, dict):
        raise ServerError("the answer has neither a result nor an error")
    return found


def offered(server: str, listing: Mapping[str, Any]) -> Sequence[OfferedTool]:
    """Return the tools of an answer to `tools/list`; what is no tool is left out."""
    found = []
    tools = listing.get("tools")
    for each in map(mapping, tools if isinstance(tools, list) else ()):
        name, schema = text(each.get("name")), each.get("inputSchema")
        if name:
            known = schema if isinstance(schema, dict) else _ANY_OBJECT
            spec = ToolSpec(full_name(server, name), text(each.get("description")), known)
            found.append(OfferedTool(name, spec))
    return found


def full_name(server: str, tool: str) -> str:
    """Return the name by which a model and the permissions know a tool of a server."""
    return f"mcp__{_NO_NAME.sub('_', server)}__{_NO_NAME.sub('_', tool)}"


def called(result: Mapping[str, Any]) -> Result:
    """Return the result of `tools/call` as that of a tool."""
    content = result.get("content")
    blocks = [_block(mapping(each)) for each in (content if isinstance(content, list) else ())]
    if not blocks and result.get("structuredContent") is not None:
        blocks = [_text(json.dumps(result["structuredContent"], ensure_ascii=False))]
    is_error = result.get("isError") is True
    if all(each["type"] == "text" for each in blocks):
        return Result("\n".join(each["text"] for each in blocks), is_error=is_error)
    return Result(tuple(blocks), is_error=is_error)


def _block(content: Mapping[str, Any]) -> Block:
    match content.get("type"):
        case "text":
            return _text(text(content.get("text")))
        case "image":
            kind, data = text(content.get("mimeType")), text(content.get("data"))
            source = {"type": "base64", "media_type": kind, "data": data}
            return {"type": "image", "source": source}
        case "resource" if "text" in mapping(content.get("resource")):
            resource = mapping(content.get("resource"))
            return _text(f"[{text(resource.get('uri'))}]\n{text(resource.get('text'))}")
        case _:
            return _text(json.dumps(content, ensure_ascii=False))


def _text(said: str) -> Block:
    return {"type": "text", "text": said}
