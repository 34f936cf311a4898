"""`siding agent --mcp-config`: servers of MCP that are named by an address."""

import json
from typing import Any

from mcp_server import published
from sandbox import Sandbox

from .scripts import denied, whole

SCRIPT = r"""
answers:
  - match: look up (\w+)
    steps:
      - tools: [{mcp__docs__search: {query: "{1}"}}]
      - results: '^(?P<said>[^\n]*)'
        text: "I heard {said}"
"""


def config(**servers: Any) -> tuple[str, str]:
    return "--mcp-config", json.dumps({"mcpServers": servers})


def test_a_server_by_http_has_tools_like_any_other(agent: Sandbox) -> None:
    (agent.directory / "script.yaml").write_text(SCRIPT)
    with published() as url:
        agent.env["DOCS_URL"] = url
        named = config(docs={"type": "http", "url": "${DOCS_URL}", "headers": {"X": "${Y:-z}"}})
        found = whole(agent, "look up things", *named, "--allowed-tools", "mcp__docs")
        assert found["result"] == "I heard found things"
        assert denied(whole(agent, "look up things", *named)) == ["mcp__docs__search"]


def test_one_that_is_not_there_costs_its_own_tools_alone(agent: Sandbox) -> None:
    model = f"scripted:{agent.directory / 'script.yaml'}"
    named = config(
        gone={"url": "http://127.0.0.1:1/mcp"},
        unset={"type": "http", "url": "http://127.0.0.1/${NOWHERE}"},
        odd={"type": "http", "url": "file:///etc/passwd"},
        old={"type": "sse", "url": "http://127.0.0.1:1/sse"},
    )
    done = agent.siding("agent", "-p", "search", "--model", model, *named)
    assert b"calc.py" in done.stdout
    for said in (
        b"'gone' is not there: http://127.0.0.1:1/mcp: [Errno 111] Connection refused",
        b"'unset' is not there: there is no variable 'NOWHERE'",
        b"'odd' is not there: 'file:///etc/passwd' is no address of a server",
        b"'old' is not there: siding agent does not speak to servers of type 'sse'",
    ):
        assert said in done.stderr, done.stderr
    named = config(docs={"type": "http"})
    wrong = agent.siding("agent", "-p", "x", "--model", model, *named, status=2)
    assert b"needs a `url`" in wrong.stderr
