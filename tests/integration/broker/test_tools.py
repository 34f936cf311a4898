"""`siding mcp`: what a client of the Model Context Protocol gets in a run."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import SIDING, Sandbox

from .inside import until

# A client in a run: it reads lines for the server from one pipe, and writes what the server says
# into another. The server has no more of the environment than Codex gives it.
CLIENT = """
import os, subprocess, sys, threading
env = {name: os.environ[name] for name in ("PATH", "HOME", "SIDING_SOCKET")}
server = subprocess.Popen(
    [*sys.argv[1:]], env=env, stdin=subprocess.PIPE, stdout=open("said", "wb", buffering=0)
)
with open("typed", "rb") as typed:
    for line in typed:
        server.stdin.write(line)
        server.stdin.flush()
server.stdin.close()
server.wait()
"""


class Client:
    """A client that speaks lines of JSON-RPC with the server."""

    def __init__(self, workspace: Path) -> None:
        self._typed = (workspace / "typed").open("wb", buffering=0)
        self._said = workspace / "said"
        self._number = 0

    def sends(self, method: str, **fields: object) -> int:
        """Send a request; return its number."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": fields}
        self._typed.write(json.dumps(message).encode() + b"\n")
        return self._number

    def begins(self) -> dict[str, Any]:
        """Do the handshake of the older era."""
        about = {"name": "a test", "version": "1"}
        number = self.sends(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about
        )
        found = self.answer(number)
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._typed.write(json.dumps(ready).encode() + b"\n")
        return found

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request."""
        until(lambda: number in self._answers())
        found = self._answers()[number]
        assert isinstance(found, dict)
        return found

    def calls(self, tool: str, **fields: object) -> dict[str, Any]:
        """Call a tool; return the result."""
        found = self.answer(self.sends("tools/call", name=tool, arguments=fields))["result"]
        assert isinstance(found, dict)
        return found

    def _answers(self) -> dict[Any, Any]:
        if not self._said.exists():
            return {}
        lines = self._said.read_bytes().split(b"\n")[:-1]
        return {message.get("id"): message for message in map(json.loads, lines)}

    def close(self) -> None:
        self._typed.close()


def words(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    sandbox.siding("task", "start", "tools")
    workspace = sandbox.workspace()
    os.mkfifo(workspace / "typed")
    server = [*SIDING, "-q", "mcp", "--patience", "1s"]
    sandbox.siding("run", "--detach", "--", sys.executable, "-c", CLIENT, *server)
    found = Client(workspace)
    yield found
    found.close()
    sandbox.siding("stop", "--all", status=None)


def test_it_names_its_tools_and_says_what_they_are_for(client: Client) -> None:
    assert "ask_person" in client.begins()["result"]["instructions"]
    listed = client.answer(client.sends("tools/list"))["result"]["tools"]
    assert {each["name"] for each in listed} == {
        "ask_person",
        "checkpoint",
        "phase",
        "task",
        "note",
    }
    assert not any("\n  " in each["description"] for each in listed)


def test_a_question_outlives_the_patience_of_a_client(client: Client, sandbox: Sandbox) -> None:
    client.begins()
    asked = {"question": "Which colour?", "options": ["red", "blue"], "context": "The *door*."}
    later = words(client.calls("ask_person", **asked))
    assert "No answer yet" in later
    session = later.split("session=")[1].split()[0]
    shown = sandbox.siding("decide", "show", session).stdout.decode()
    assert "Which colour?" in shown
    number = client.sends("tools/call", name="ask_person", arguments={**asked, "session": session})
    sandbox.siding("decide", "answer", session, "-c", "1=blue", "-n", "1=as the house")
    said = words(client.answer(number)["result"])
    if "No answer yet" in said:  # the person was slower than a second
        said = words(client.calls("ask_person", **asked, session=session))
    assert said == "blue\n\nThe person adds: as the house"


def test_the_others_do_what_the_verbs_do(client: Client, sandbox: Sandbox) -> None:
    client.begins()
    (sandbox.workspace() / "a.txt").write_text("a\n")
    assert "recorded as step 0001" in words(client.calls("checkpoint", message="half"))
    assert words(client.calls("note", text="tried it")) == "noted"
    assert client.calls("task")["structuredContent"]["task"]["name"] == "tools"
    assert sandbox.steps()[0]["message"] == "half"


def test_what_is_refused_is_told_to_the_model(client: Client) -> None:
    client.begins()
    refused = client.calls("ask_person", question="One?", options=["only"])
    assert refused["isError"] is True
    assert "at least 2" in words(refused)
    wrong = client.calls("phase", move="sideways", summary="x")
    assert wrong["isError"] is True
    assert "one of start" in words(wrong)


def test_outside_a_run_it_says_so(sandbox: Sandbox) -> None:
    done = sandbox.siding("mcp", status=2)
    assert b"this is no part of a run" in done.stderr
