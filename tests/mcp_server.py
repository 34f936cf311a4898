"""A server of MCP by HTTP, of the published library."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PUBLISHED = """
import socket, sys
import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("docs")

@server.tool()
def search(query: str) -> str:
    "Looks something up"
    return f"found {query}"

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
app = server.streamable_http_app(json_response=sys.argv[1] == "json", host="127.0.0.1")
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
"""


@contextmanager
def published(form: str = "events") -> Iterator[str]:
    """Yield the address of a server with the tool `search`.

    It answers with JSON (`form` "json"), or with a stream of events.
    """
    pytest.importorskip("mcp", reason="pip: mcp")
    argv = [sys.executable, "-c", PUBLISHED, form]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
