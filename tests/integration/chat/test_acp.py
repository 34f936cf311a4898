"""`siding acp` as a process: what is on its output, and what it says where nothing can begin."""

import json
from typing import Any

from sandbox import Sandbox


def _says(sandbox: Sandbox, agent: str, *messages: dict[str, Any] | str) -> list[dict[str, Any]]:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in messages]
    begin = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    given = "\n".join([json.dumps(begin), *lines, ""]).encode()
    done = sandbox.siding("acp", "--agent", agent, stdin=given, cwd=sandbox.directory)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def _new(cwd: object) -> dict[str, Any]:
    return {"id": 1, "method": "session/new", "params": {"cwd": str(cwd), "mcpServers": []}}


def test_an_agent_that_is_not_installed_begins_nothing(sandbox: Sandbox) -> None:
    sandbox.env["PATH"] = "/usr/bin:/bin"
    _initialized, nonsense, refused = _says(sandbox, "qwen", "{nonsense", _new(sandbox.repo))
    assert nonsense["error"]["code"] == -32700
    assert refused["error"]["code"] == -32602
    assert "qwen is not installed" in refused["error"]["message"]
    assert "install it" in refused["error"]["message"]
    assert sandbox.json("task", "list", "--format", "json") == []


def test_a_directory_that_is_no_repository_is_refused_with_the_reason(sandbox: Sandbox) -> None:
    listed = {"id": 2, "method": "session/list", "params": {"cwd": str(sandbox.directory)}}
    _initialized, refused, empty = _says(sandbox, "claude", _new(sandbox.directory), listed)
    assert "repository" in refused["error"]["message"]
    assert empty["result"] == {"sessions": []}


def test_an_agent_that_nobody_can_hold_is_a_usage_error(sandbox: Sandbox) -> None:
    done = sandbox.siding("acp", "--agent", "nobody", status=2)
    assert b"'nobody' cannot be held" in done.stderr
    assert b"claude" in done.stderr
